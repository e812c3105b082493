"""Admission of every class of identity, whether or not a release has such kinds."""

from __future__ import annotations

import pytest

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from tests.harness.declarations import ALL_KINDS


@pytest.fixture
def all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have admission know the kinds of `tests.harness.declarations`."""
    for module in ("freehold.resolve", "freehold.claim_liveness", "freehold_webhook.admission"):
        monkeypatch.setattr(f"{module}.KINDS", ALL_KINDS)
    paths = (PROVIDER_CONFIG.path, *(kind.resource.path for kind in ALL_KINDS.values()))
    resources = frozenset((path.group, path.kind) for path in paths)
    monkeypatch.setattr("freehold_webhook.admission._RESOURCES", resources)
