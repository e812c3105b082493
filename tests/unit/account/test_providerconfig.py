"""ProviderConfigs: what a log-in that fails does to what was verified, and what is written where nothing may be."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from freehold.kinds.account.providerconfig import CONFIRMED_UNTIL, PROVIDER_CONFIG
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import ROLE_BINDINGS, SECRETS, Key, Object
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import (
    AccountChanged,
    CredentialsRefused,
    NotTried,
    OutcomeUnknown,
    RoleNotGranted,
    SnowflakeError,
    TlsFailed,
    Unreachable,
)
from freehold.snowflake.session import AccountFacts
from freehold.snowflake.settings import ConnectionSettings
from freehold_controllers.account.providerconfig import ProviderConfigs
from freehold_controllers.reconciler import finalizer
from freehold_controllers.reconciler.secret import Secret
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import ACCOUNT, SETTINGS, Access, Api, Fuse, services

KEY = Key(PROVIDER_CONFIG.kind, "n", "default")
FACTS = AccountFacts("R", "A", "O", "A", "U", "R", "", "9")


class Site(Snowflake):
    """A ProviderConfig, its Secret and RoleBinding, and an account that answers as a test says.

    Attributes:
        failure: what a log-in ends in; None for success.
        events: what was told.
    """

    def __init__(self, *, read_only: bool = False) -> None:
        super().__init__("test")
        self.failure: SnowflakeError | None = None
        self.events: list[tuple[str, str]] = []
        self.kube = Api(Fuse(0, done=False))
        spec = {"account": "O-A", "credentials": {"secretRef": {"name": "s", "key": "password"}}}
        self.kube.put(PROVIDER_CONFIG.path, "default", "n", spec=spec, status={}, metadata={"generation": 1})
        self.kube.put(SECRETS, "s", "n")
        self.kube.put(ROLE_BINDINGS, "freehold-secrets", "n")
        site = self

        class Reading(Access):
            async def settings(self, *_: Any) -> tuple[Secret, ConnectionSettings]:
                head = Object(site.kube.objects["secrets", "n", "s"])
                return Secret(head.resource_version, {}, head), SETTINGS

        outside = services(self.kube, self, lambda: 0.0, self.events, read_only=read_only)
        object.__setattr__(outside, "providers", Reading(ACCOUNT))
        self.configs = ProviderConfigs(outside)

    async def verify(self, _settings: ConnectionSettings) -> AccountFacts:
        if self.failure:
            raise self.failure
        return FACTS

    async def look(self, failure: SnowflakeError | None = None) -> dict[str, tuple[str, str]]:
        """Have the ProviderConfig verified; answers with status and reason of its conditions."""
        self.failure = failure
        with suppress(Unfinished):
            await self.configs(KEY, 0.0)
        return {each.type: (each.status, each.reason) for each in conditions_of(self.config)}

    @property
    def config(self) -> Object:
        return Object(self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"])

    def change(self) -> None:
        """Change the spec."""
        self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]["metadata"]["generation"] += 1

    def touch(self) -> None:
        """Change the Secret."""
        self.kube.objects["secrets", "n", "s"]["metadata"]["resourceVersion"] = "changed"


READY, WELL = {"Ready": ("True", "Available")}, {"Ready": ("True", "Available"), "Synced": ("True", "Available")}


@pytest.fixture
async def site() -> Site:
    site = Site()
    assert await site.look() == WELL
    return site


@pytest.mark.parametrize(
    "failure",
    [
        Unreachable("503", error_class=ErrorClass.TRANSIENT),
        TlsFailed("cut", error_class=ErrorClass.TRANSIENT),
        NotTried("others are at it", error_class=ErrorClass.TRANSIENT),
        OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT),
        SnowflakeError("too many", number=390701),
    ],
)
async def test_a_service_that_fails_takes_back_nothing_that_was_verified(site: Site, failure: SnowflakeError) -> None:
    since = site.config.status["account"]
    assert await site.look(failure) == {**READY, "Synced": ("False", "PingFailed")}
    told = len(site.events)
    assert site.events[-1][0] == "PingFailed"
    await site.look(failure)
    assert len(site.events) == told
    assert await site.look() == WELL
    assert site.config.status["account"] == since
    assert len(site.events) == told


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (CredentialsRefused("no", number=390100), "CredentialsError"),
        (RoleNotGranted("no", number=3013), "InvalidConfig"),
        (AccountChanged("elsewhere"), "AccountChanged"),
    ],
)
async def test_a_definite_refusal_does(site: Site, failure: SnowflakeError, reason: str) -> None:
    told = await site.look(failure)
    assert (told["Ready"], told["Synced"]) == (("False", reason), ("False", reason))


@pytest.mark.parametrize("change", [Site.change, Site.touch])
async def test_what_was_changed_since_is_not_ready_before_it_is_verified(site: Site, change: Any) -> None:
    change(site)
    told = await site.look(Unreachable("503", error_class=ErrorClass.TRANSIENT))
    assert told == {"Ready": ("False", "PingFailed"), "Synced": ("False", "PingFailed")}


async def test_several_conditions_that_say_the_same_are_one_event() -> None:
    site = Site()
    await site.look(CredentialsRefused("no", number=390100))
    assert [reason for reason, _ in site.events] == ["CredentialsError"]


@pytest.mark.parametrize("read_only", [True, False])
async def test_in_mode_read_only_nothing_is_let_go(read_only: bool) -> None:
    site = Site(read_only=read_only)
    metadata = site.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]["metadata"]
    metadata |= {"deletionTimestamp": "2026-11-30T12:00:00Z", "finalizers": [finalizer.FINALIZER]}
    if not read_only:
        await site.configs(KEY, 0.0)
        assert (PROVIDER_CONFIG.path.plural, "n", "default") not in site.kube.objects
        return
    assert await site.look() == {"InUse": ("True", "InUse")}
    assert site.config.finalizers == (finalizer.FINALIZER,)
    assert "finalizers" not in site.kube.objects["secrets", "n", "s"]["metadata"]


async def test_a_confirmation_that_cannot_be_read_is_told_once_and_anew_when_it_changes(site: Site) -> None:
    def told() -> list[str]:
        return [note for reason, note in site.events if reason == "ValidationFailed"]

    metadata = site.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]["metadata"]
    for value, count in (("tomorrow", 1), ("tomorrow", 1), ("2026-12-01T08:00:00Z", 1), ("2026-12-01T08:00:00", 2)):
        metadata["annotations"] = {CONFIRMED_UNTIL: value}
        await site.look()
        assert len(told()) == count
    assert told()[0].startswith(f"annotation {CONFIRMED_UNTIL} is 'tomorrow', which is no time")
    assert told()[0].endswith("write it as 2006-01-02T15:04:05Z")
