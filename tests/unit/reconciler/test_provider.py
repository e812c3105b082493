"""Log-ins: from a ProviderConfig as it was verified, never from another one."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from freehold.claims import Account
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.objects import Key, Object
from freehold.lifecycle.reasons import Reason
from freehold.login_policy import LoginPolicy
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.provider import Intervals, Login, Providers
from freehold_controllers.reconciler.secret import Secret, Secrets
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import Fuse, World

ASKER = Key("Warehouse", "n", "x")


class Told(Secrets):
    """One Secret, as a test says."""

    def __init__(self) -> None:
        self.secret = Secret("1", {"password": b"one"})

    async def read(self, *_: Any) -> Secret:
        return self.secret


def config(uid: str = "u", *, account: str = "R.A", role: str | None = "R", **metadata: Any) -> Object:
    ready = {"type": "Ready", "status": "True", "reason": "Available", "message": "", "observedGeneration": 1}
    return Object(
        {
            "kind": PROVIDER_CONFIG.kind,
            "metadata": {"namespace": "n", "name": "default", "uid": uid, "generation": 1, **metadata},
            "spec": {
                "account": "O-A",
                "authenticationType": "UsernamePassword",
                "user": "U",
                "credentials": {"secretRef": {"name": "default", "key": "password"}},
                **({"role": role} if role else {}),
            },
            "status": {
                "conditions": [{**ready, "lastTransitionTime": "2026-11-30T12:00:00Z"}],
                "account": {"key": account, "name": "O.A", "region": "R", "locator": "A"},
                "role": "R",
                "secretResourceVersion": "1",
            },
        }
    )


class Site:
    """Providers over one ProviderConfig and its Secret."""

    def __init__(self) -> None:
        self.configs = {("n", "default"): config()}
        self.secrets = Told()
        self.providers = Providers(self.configs, self.secrets, Following(), LoginPolicy((".snowflakecomputing.com",)))

    def put(self, config: Object) -> None:
        self.configs["n", "default"] = config

    async def login(self) -> Login:
        return await self.providers.login(ASKER, "n", "default")


@pytest.fixture
def site() -> Site:
    return Site()


async def test_a_provider_that_is_being_deleted_is_used_without_its_secret(site: Site) -> None:
    login = await site.login()
    site.put(config(deletionTimestamp="2026-11-30T13:00:00Z"))
    site.secrets.secret = Secret(None, None)
    assert await site.login() == login


async def test_another_provider_of_the_same_name_never_gets_the_log_in_of_the_former_one(site: Site) -> None:
    await site.login()
    site.put(config("v", account="R.B", deletionTimestamp="2026-11-30T13:00:00Z"))
    assert (await site.login()).account.key == "R.B"
    assert set(site.providers._used) == {"v"}


@pytest.mark.parametrize(
    ("given", "intervals"),
    [
        ({}, Intervals()),
        ({"resyncInterval": "90s"}, Intervals(resync=timedelta(seconds=90))),
        ({"deepResyncInterval": "12h"}, Intervals(deep=timedelta(hours=12))),
        ({"resyncInterval": "1m", "deepResyncInterval": "1h"}, Intervals(timedelta(minutes=1), timedelta(hours=1))),
    ],
)
def test_a_provider_says_how_often_its_objects_are_looked_at(
    site: Site, given: dict[str, str], intervals: Intervals
) -> None:
    assert site.providers.intervals("n", "gone") == Intervals()
    site.put(Object({"spec": given}))
    assert site.providers.intervals("n", "default") == intervals


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({"account": {"key": "R.B", "name": "O.B"}}, Reason.ACCOUNT_CHANGED),
        ({}, Reason.DEPENDENCY_NOT_READY),
    ],
)
async def test_nothing_is_sent_when_the_claim_would_be_for_another_account(
    status: dict[str, Any], reason: Reason
) -> None:
    world = World(Fuse(0, done=False))
    spec = {"account": "O-A", "authenticationType": "KeyPair", "role": "R"}
    world.kube.put(PROVIDER_CONFIG.path, "default", "n", spec=spec, status=status)
    with pytest.raises(Unfinished, match="ProviderConfig n/default"):
        await world.process()(world.key)
    assert world.reason == reason
    assert not world.snowflake.sent
    assert not world.claims


@pytest.mark.parametrize(("going", "reason"), [(False, "IdentityChanged"), (True, "AccountChanged")])
async def test_a_provider_that_leads_to_another_account_leaves_both_alone_until_it_leads_back(
    going: bool, reason: str
) -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    if going:
        world.delete()
    stored = world.kube.objects["providerconfigs", "n", "default"]
    before, sent = stored["status"], list(world.snowflake.sent)
    stored["status"] = {"account": {"key": "R.B", "name": "O.B"}}
    world.account = Account(key="R.B", name="O.B")
    process = world.process()
    world.learn()
    with suppress(Unfinished):
        await process(world.key)
    assert (world.reason, world.snowflake.sent) == (reason, sent)
    stored["status"], world.account = before, Account(key="R.A", name="O.A")
    await world.settle()
    assert world.answers("DROP") == (["ok"] if going else [])
    assert going or world.reason == "Available"


async def test_only_what_nobody_is_at_yet_earns_a_warning(site: Site) -> None:
    ready = site.configs["n", "default"].status["conditions"][0]
    for told, brief in (
        ([], True),
        ([{**ready, "observedGeneration": 0}], True),
        ([{**ready, "status": "False"}], False),
    ):
        site.configs["n", "default"].raw["status"]["conditions"] = told
        with pytest.raises(Stopped) as stopped:
            await site.login()
        assert stopped.value.stop.brief is brief


async def test_a_secret_that_was_only_touched_is_used_on(site: Site) -> None:
    login = await site.login()
    site.secrets.secret = Secret("2", {"password": b"one", "another key": b"x"})
    assert await site.login() == login


async def test_a_secret_with_another_value_is_used_only_when_verified_and_leaves_objects_as_ready_as_they_were(
    site: Site,
) -> None:
    await site.login()
    site.secrets.secret = Secret("2", {"password": b"two"})
    for _ in range(2):
        with pytest.raises(Stopped, match="isn't verified yet with its present Secret") as stopped:
            await site.login()
        assert stopped.value.stop.passing
        assert stopped.value.stop.brief


async def test_a_secret_that_this_process_never_used_is_used_only_when_verified(site: Site) -> None:
    site.secrets.secret = Secret("2", {"password": b"one"})
    with pytest.raises(Stopped, match="isn't verified yet with its present Secret"):
        await site.login()


async def test_a_default_role_is_activated_by_name(site: Site) -> None:
    site.put(config(role=None))
    login = await site.login()
    assert login.role == "R"
    assert login.settings.role == "R"
