"""Replicas that share a Secret of certificates, over an API server in memory."""

from __future__ import annotations

import asyncio
import base64
from datetime import timedelta
from pathlib import Path

import pytest

from freehold.kube.errors import Conflict, NotFound, Unavailable
from freehold.kube.objects import SECRETS, VALIDATING_WEBHOOK_CONFIGURATIONS
from freehold_webhook.authority import AUTHORITY_KEY, BUNDLE, LEAF, LEAF_KEY, LEAF_LIFETIME
from freehold_webhook.certificates import Certificates
from freehold_webhook.readiness import why_not_trusted
from freehold_webhook.self_managed import SelfManaged
from tests.harness.memory import MemoryKube

SECRET = ("freehold", "freehold-webhook-authority")
CONFIGURATION = "freehold"


@pytest.fixture
def kube() -> MemoryKube:
    kube = MemoryKube()
    put_secret(kube)
    client = {"service": {"name": "freehold-webhook", "namespace": "freehold", "path": "/validate"}}
    webhooks = [{"name": f"{name}.freehold.dev", "clientConfig": client} for name in ("one", "two")]
    kube.put(VALIDATING_WEBHOOK_CONFIGURATIONS, CONFIGURATION, webhooks=webhooks)
    return kube


def put_secret(kube: MemoryKube) -> None:
    """As the chart makes it."""
    kube.put(SECRETS, SECRET[1], SECRET[0])


@pytest.fixture
def replica(kube: MemoryKube, tmp_path: Path) -> SelfManaged:
    return SelfManaged(kube, CONFIGURATION, SECRET, tmp_path)


async def stored(kube: MemoryKube) -> dict[str, bytes]:
    secret = await kube.get(SECRETS, SECRET[1], SECRET[0])
    return {key: base64.b64decode(value) for key, value in (secret.raw.get("data") or {}).items()}


async def change(kube: MemoryKube, **parts: bytes | None) -> None:
    """Replace parts of the Secret, or remove them."""
    data = {**await stored(kube), **parts}
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items() if value is not None}
    secret = await kube.get(SECRETS, SECRET[1], SECRET[0])
    await kube.replace(SECRETS, {**secret.raw, "data": encoded})


async def trusted(kube: MemoryKube, folder: Path) -> None:
    configuration = await kube.get(VALIDATING_WEBHOOK_CONFIGURATIONS, CONFIGURATION)
    assert why_not_trusted(configuration, Certificates(folder)) is None


async def test_a_pair_is_made_and_trusted_by_every_webhook_of_the_configuration(
    kube: MemoryKube, replica: SelfManaged, tmp_path: Path
) -> None:
    await replica.maintain()
    await trusted(kube, tmp_path)
    assert [verb for verb, *_ in kube.writes] == ["replace", "replace"]
    assert (tmp_path / LEAF_KEY).stat().st_mode & 0o777 == 0o600


async def test_a_second_round_writes_nothing(kube: MemoryKube, replica: SelfManaged) -> None:
    await replica.maintain()
    kube.writes.clear()
    await replica.maintain()
    assert not kube.writes


async def test_a_second_replica_takes_what_the_first_has_made(
    kube: MemoryKube, replica: SelfManaged, tmp_path: Path
) -> None:
    await replica.maintain()
    kube.writes.clear()
    folder = tmp_path / "second"
    folder.mkdir()
    await SelfManaged(kube, CONFIGURATION, SECRET, folder).maintain()
    assert not kube.writes
    assert (folder / LEAF).read_bytes() == (tmp_path / LEAF).read_bytes()


async def test_who_comes_second_in_a_race_serves_nothing_of_its_own(
    kube: MemoryKube, replica: SelfManaged, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    first.mkdir()
    await SelfManaged(kube, CONFIGURATION, SECRET, first).maintain()
    winner = await stored(kube)
    put_secret(kube)

    def overtake(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("replace", SECRETS.plural):
            kube.before = lambda *_: None
            encoded = {key: base64.b64encode(value).decode() for key, value in winner.items()}
            kube.put(SECRETS, SECRET[1], SECRET[0], data=encoded)

    kube.before = overtake
    with pytest.raises(Conflict):
        await replica.maintain()
    assert not (tmp_path / LEAF).exists()
    await replica.maintain()
    assert (tmp_path / LEAF).read_bytes() == winner[LEAF]


async def test_a_new_leaf_is_served_only_once_it_is_trusted(
    kube: MemoryKube, replica: SelfManaged, tmp_path: Path
) -> None:
    await replica.maintain()
    old = (tmp_path / LEAF).read_bytes()
    await change(kube, **{BUNDLE: None, AUTHORITY_KEY: None})

    def refuse(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("replace", VALIDATING_WEBHOOK_CONFIGURATIONS.plural):
            raise Unavailable(0, "", "no answer")

    kube.before = refuse
    with pytest.raises(Unavailable):
        await replica.maintain()
    assert (tmp_path / LEAF).read_bytes() == old
    kube.before = lambda *_: None
    await replica.maintain()
    assert (tmp_path / LEAF).read_bytes() != old
    await trusted(kube, tmp_path)


async def test_a_bundle_that_was_taken_out_is_put_back(kube: MemoryKube, replica: SelfManaged, tmp_path: Path) -> None:
    await replica.maintain()
    configuration = await kube.get(VALIDATING_WEBHOOK_CONFIGURATIONS, CONFIGURATION)
    webhooks = [dict(each) for each in configuration.raw["webhooks"]]
    webhooks[1]["clientConfig"] = {**webhooks[1]["clientConfig"], "caBundle": ""}
    kube.put(VALIDATING_WEBHOOK_CONFIGURATIONS, CONFIGURATION, webhooks=webhooks)
    await replica.maintain()
    await trusted(kube, tmp_path)


async def test_a_secret_that_was_made_again_gets_back_what_is_served(kube: MemoryKube, replica: SelfManaged) -> None:
    await replica.maintain()
    before = await stored(kube)
    put_secret(kube)
    await replica.maintain()
    assert await stored(kube) == before


async def test_a_secret_that_was_emptied_gets_nothing_back(kube: MemoryKube, replica: SelfManaged) -> None:
    await replica.maintain()
    before = await stored(kube)
    await change(kube, **dict.fromkeys(before))
    await replica.maintain()
    assert not before.items() & (await stored(kube)).items()


async def test_a_leaf_that_is_due_is_renewed(kube: MemoryKube, replica: SelfManaged, tmp_path: Path) -> None:
    await replica.maintain()
    old = (tmp_path / LEAF).read_bytes()
    kube.advance(LEAF_LIFETIME - timedelta(days=29))
    await replica.maintain()
    assert (tmp_path / LEAF).read_bytes() == (await stored(kube))[LEAF] != old


async def test_without_the_charts_secret_it_says_so_once_and_goes_on(
    kube: MemoryKube, replica: SelfManaged, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freehold_webhook.self_managed.INTERVAL", (0.001, 0.001))
    kube.remove(SECRETS, SECRET[1], SECRET[0])
    looks = 0

    def count(verb: str, plural: str, _name: str) -> None:
        nonlocal looks
        looks += (verb, plural) == ("get", SECRETS.plural)
        if looks == 3:
            put_secret(kube)

    kube.before = count
    established = asyncio.Event()
    running = asyncio.create_task(replica.run(established))
    async with asyncio.timeout(5):
        await established.wait()
    running.cancel()
    complaints = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert len(complaints) == 1
    assert "it comes with the chart" in complaints[0]
    assert looks >= 3


async def test_a_configuration_that_is_missing_is_said(kube: MemoryKube, replica: SelfManaged) -> None:
    kube.remove(VALIDATING_WEBHOOK_CONFIGURATIONS, CONFIGURATION)
    with pytest.raises(NotFound):
        await replica.maintain()
