"""Names of objects: what Snowflake can store is legal, whatever people think of it, and nothing else is."""

from __future__ import annotations

import pytest

from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.errors import Invalid

ROLES = KINDS["AccountRole"].resource.path


def manifest(name: str) -> dict[str, object]:
    metadata = {"name": "x"}
    return {"apiVersion": ROLES.api_version, "kind": ROLES.kind, "metadata": metadata, "spec": {"name": name}}


@pytest.mark.parametrize("name", ["[APP] Test Role", "a@example.com", 'a.b"c-d', "é" * 255], ids=lambda name: name[:20])
async def test_whatever_snowflake_can_store_is_a_name(kube: Kube, namespace: str, name: str) -> None:
    await kube.create(ROLES, manifest(name), namespace, dry_run=True)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 256], ids=["empty", "NUL", "too long"])
async def test_what_it_can_not_store_is_none(kube: Kube, namespace: str, name: str) -> None:
    with pytest.raises(Invalid):
        await kube.create(ROLES, manifest(name), namespace, dry_run=True)
