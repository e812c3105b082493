"""ProviderConfigs: intervals and budgets that make no sense are refused with a word on what does."""

from __future__ import annotations

import pytest

from freehold.kube.client import Kube
from freehold.kube.errors import Invalid
from tests.integration.kube.test_authentication_types import KEY_PAIR, create

SENSIBLE = [
    {"resyncInterval": "10s", "deepResyncInterval": "1m"},
    {"resyncInterval": "24h", "deepResyncInterval": "168h"},
    {"resyncInterval": "1440m", "deepResyncInterval": "604800s"},
    {"budget": {"perController": {"rate": 1, "burst": 1}, "perAccount": {"rate": 10_000, "burst": 10_000}}},
]

SENSELESS = [
    ({"resyncInterval": "9s"}, "resyncInterval must be from 10s to 24h"),
    ({"resyncInterval": "25h"}, "resyncInterval must be from 10s to 24h"),
    ({"deepResyncInterval": "59s"}, "deepResyncInterval must be from 1m to 168h"),
    ({"deepResyncInterval": "999999h"}, "deepResyncInterval must be from 1m to 168h"),
    ({"resyncInterval": "5 minutes"}, "spec.resyncInterval"),
    ({"budget": {"perAccount": {"rate": 0, "burst": 1}}}, "spec.budget.perAccount.rate"),
    ({"budget": {"perAccount": {"rate": 5}}}, "spec.budget.perAccount.burst"),
]


@pytest.mark.parametrize("spec", SENSIBLE, ids=str)
async def test_what_makes_sense_is_admitted(kube: Kube, namespace: str, spec: dict[str, object]) -> None:
    await create(kube, namespace, KEY_PAIR | spec)


@pytest.mark.parametrize(("spec", "message"), SENSELESS, ids=str)
async def test_what_makes_none_is_refused_with_what_does(
    kube: Kube, namespace: str, spec: dict[str, object], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        await create(kube, namespace, KEY_PAIR | spec)
