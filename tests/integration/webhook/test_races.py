"""Many requests for one thing at once, over three webhook processes and a real API server: one is accepted, always."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from freehold.claim_liveness import sweep
from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.kube.errors import AlreadyExists, ApiError
from freehold.kube.objects import Object
from tests.integration.webhook.harness import DATABASE, REPLICAS, Account, as_json, eventually

pytestmark = pytest.mark.xdist_group("webhook")

CROWD = 200


def generated(body: dict[str, Any]) -> dict[str, Any]:
    """The manifest with a name that the API server makes up."""
    metadata = {key: value for key, value in body["metadata"].items() if key != "name"}
    return {**body, "metadata": {**metadata, "generateName": "generated-"}}


async def contest(account: Account, bodies: Sequence[dict[str, Any]]) -> tuple[list[Object], list[ApiError]]:
    """Create all at once: (who is accepted, what the others are told)."""
    answers = await asyncio.gather(*(account.create(body) for body in bodies))
    return (
        [answer for answer in answers if isinstance(answer, Object)],
        [answer for answer in answers if isinstance(answer, ApiError)],
    )


@pytest.mark.parametrize(("crowd", "rounds"), [(CROWD, 2), (12, 20)])
async def test_of_all_that_apply_one_database_at_once_exactly_one_is_accepted(
    account: Account, crowd: int, rounds: int
) -> None:
    for each in range(rounds):
        await one_is_accepted(account, f"race-{crowd}-{each}", crowd)


async def one_is_accepted(account: Account, race: str, crowd: int) -> None:
    database, places = race.upper(), account.site.namespaces
    bodies = [account.database(places[i % 2], f"{race}-{i}", database, replica=i % REPLICAS) for i in range(crowd)]
    (winner,), losers = await contest(account, bodies)
    assert len(losers) == crowd - 1
    assert {error.status for error in losers} == {403}
    claim = await account.claim(database)
    assert claim is not None
    holder = claim.spec.holder
    assert (holder.namespace, holder.name, holder.uid) == (winner.namespace, winner.name, winner.uid)
    taken = f'Database "{database}" in account ACME.PROD is owned by '
    told = {error.message.partition(taken)[2].partition(":")[0] for error in losers}
    assert told == {f"Database {winner.namespace}/{winner.name}", "a Database in another namespace"}


async def test_names_that_the_api_server_makes_up_win_once_and_not_again_when_retried(account: Account) -> None:
    here = account.site.namespaces[0]
    bodies = [generated(account.database(here, "", "GENERATED", replica=i % REPLICAS)) for i in range(CROWD // 4)]
    (winner,), _ = await contest(account, bodies)
    claim = await account.claim("GENERATED")
    assert claim is not None
    assert claim.spec.holder.name == winner.name
    # A client that got no answer asks again, and is given another name.
    none, refused = await contest(account, bodies)
    assert none == []
    assert all(f"is owned by Database {here}/{winner.name}" in error.message for error in refused)


async def test_of_two_manifests_of_one_name_the_loser_keeps_nothing(account: Account) -> None:
    here = account.site.namespaces[0]
    for attempt in range(5):
        databases = [f"TWIN_{attempt}_{i}" for i in range(REPLICAS)]
        bodies = [account.database(here, f"twin-{attempt}", each, replica=i) for i, each in enumerate(databases)]
        (winner,), losers = await contest(account, bodies)
        assert all(isinstance(error, AlreadyExists) for error in losers)
        async with account.site.as_component("account") as kube:
            later = ClaimStore(kube, now=lambda: kube.server_time + GRACE)
            for each in databases:
                if claim := await account.claim(each):
                    await sweep(later, claim.name)
        assert [each for each in databases if await account.claim(each)] == [winner.spec["name"]]


@pytest.fixture
async def no_databases(account: Account) -> AsyncIterator[str]:
    """The second namespace, whose quota has no Database left."""
    namespace, resource = account.site.namespaces[1], f"count/{DATABASE.plural}.{DATABASE.group}"
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": namespace},
        "spec": {"hard": {resource: "0"}},
    }
    account.site.apply(quota)
    # The quota controller learns of custom resources only now and then, and nothing is refused before it has counted.
    status = {"status": {"hard": {resource: "0"}, "used": {resource: "0"}}}
    patch = ("patch", "resourcequota", "none", f"--namespace={namespace}", "--subresource=status", "--type=merge")
    account.site.instance.kubectl(*patch, f"--patch={as_json(status)}")
    probe = account.database(namespace, "probe", "PROBE")

    async def counted() -> bool:
        try:
            await account.kube.create(DATABASE, probe, namespace, dry_run=True)
        except ApiError:
            return True
        return False

    await eventually(counted, "the quota to hold")
    yield namespace
    account.site.instance.kubectl("delete", "resourcequota", "none", f"--namespace={namespace}")


async def test_what_a_quota_refuses_after_admission_is_another_ones_once_it_is_swept(
    account: Account, no_databases: str
) -> None:
    refused = await account.create(account.database(no_databases, "over", "QUOTA"))
    assert isinstance(refused, ApiError)
    assert "exceeded quota" in refused.message
    left = await account.claim("QUOTA")
    assert left is not None
    assert left.spec.holder.owner == f"{no_databases}/over"
    mine = account.database(account.site.namespaces[0], "mine", "QUOTA")
    assert isinstance(await account.create(mine), ApiError)
    async with account.site.as_component("account") as kube:
        assert not await sweep(ClaimStore(kube), left.name)
        assert await sweep(ClaimStore(kube, now=lambda: kube.server_time + GRACE), left.name)
    assert isinstance(await account.create(mine), Object)
    claim = await account.claim("QUOTA")
    assert claim is not None
    assert claim.spec.holder.owner == f"{account.site.namespaces[0]}/mine"
