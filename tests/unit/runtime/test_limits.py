"""Limits of accounts follow the ProviderConfigs that were verified for them, and whoever waits goes on by them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from freehold.kinds.account.providerconfig import PER_ACCOUNT, PER_CONTROLLER, PROVIDER_CONFIG, Bucket
from freehold.kube.objects import Object
from freehold.snowflake.budget import Budgets, Limits
from freehold.snowflake.shares import WHOLE
from freehold_controllers.limits import AccountLimits
from tests.unit.snowflake.test_pool import SETTINGS

OURS = "AWS_EU_CENTRAL_1.XY12345"
THEIRS = "AWS_EU_CENTRAL_1.XY99999"
USUAL = Limits(PER_CONTROLLER, PER_ACCOUNT)


def config(name: str, account: str | None, rate: int | None = None) -> Object:
    budget = {"perController": {"rate": rate, "burst": rate}} if rate is not None else None
    return Object(
        {
            "apiVersion": PROVIDER_CONFIG.path.api_version,
            "kind": PROVIDER_CONFIG.kind,
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"budget": budget} if budget else {},
            "status": {"account": {"key": account}} if account else {},
        }
    )


def own(rate: int) -> Limits:
    return Limits(Bucket(rate=rate, burst=rate), PER_ACCOUNT)


@pytest.mark.parametrize(
    ("changes", "limits"),
    [
        ([(None, config("a", None, 5))], {}),
        ([(None, config("a", OURS, 5))], {OURS: own(5)}),
        ([(None, config("a", OURS, 5)), (None, config("b", OURS, 3))], {OURS: own(3)}),
        ([(None, config("a", OURS, 5)), (config("a", OURS, 5), config("a", OURS, 7))], {OURS: own(7)}),
        ([(None, config("a", OURS, 5)), (config("a", OURS, 5), config("a", THEIRS, 5))], {THEIRS: own(5)}),
        ([(None, config("a", OURS, 5)), (config("a", OURS, 5), None)], {}),
        ([(None, config("a", OURS, 5)), (None, config("b", OURS, 3)), (config("b", OURS, 3), None)], {OURS: own(5)}),
        ([(None, config("a", OURS, 0))], {}),
    ],
    ids=["not verified", "one", "the smallest of two", "changed", "moved", "gone", "one of two gone", "unreadable"],
)
def test_the_limits_of_an_account_are_those_of_its_provider_configs(
    changes: list[tuple[Object | None, Object | None]], limits: Mapping[str, Limits]
) -> None:
    budgets = Budgets()
    noted = AccountLimits(budgets)
    for before, after in changes:
        noted.note(before, after)
    assert {account: budgets.limits(account) for account in (OURS, THEIRS)} == {OURS: USUAL, THEIRS: USUAL, **limits}


async def test_a_change_of_an_accounts_only_provider_config_lets_go_on_who_waits_for_the_budget() -> None:
    share = 0
    budgets = Budgets(lambda _: share)
    noted = AccountLimits(budgets)
    noted.note(None, config("a", OURS, 5))
    waiting = asyncio.create_task(budgets.take(replace(SETTINGS, account_key=OURS)))
    await asyncio.sleep(0)
    noted.note(config("a", OURS, 5), config("a", OURS, 7))
    share = WHOLE
    budgets.resize()
    await asyncio.wait_for(waiting, 10)
