"""What a resource may not do is refused by the reconciler, too: admission may be off."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from tests.unit.reconciler.world import Fuse, World


@pytest.mark.parametrize(
    ("allowed_roles", "spec", "reason"),
    [
        (["*"], {"useRole": "ACCOUNTADMIN"}, "PrivilegedRoleNotAllowed"),
        ([], {"useRole": "SYSADMIN"}, "RoleNotAllowed"),
    ],
)
async def test_what_is_not_allowed_is_neither_claimed_nor_sent(
    allowed_roles: list[str], spec: dict[str, Any], reason: str
) -> None:
    world = World(Fuse(0, done=False), spec=spec)
    config = world.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]
    config["spec"]["allowedRoles"] = allowed_roles
    await world.settle()
    assert world.reason == reason
    assert world.snowflake.sent == []
    assert not [place for place in world.kube.objects if place[0] == "claims"]
