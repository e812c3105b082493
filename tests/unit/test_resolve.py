"""From a resource to its object: parents, ProviderConfig and account."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.resolve import Resolved, Unresolved, live, resolve, stands_for
from tests.harness.memory import MemoryKube

ACCOUNT = {"key": "AWS_EU_CENTRAL_1.AB12345", "name": "ACME.PROD"}
DATABASE, SCHEMA = KINDS["Database"], KINDS["Schema"]


@pytest.fixture
def kube() -> MemoryKube:
    """A verified ProviderConfig a/default, one b/new that isn't, and the Database a/db of the name `My "DB".x`."""
    kube = MemoryKube()
    spec = {"authenticationType": "KeyPair"}
    kube.put(PROVIDER_CONFIG.path, "default", "a", spec=spec, status={"account": ACCOUNT})
    kube.put(PROVIDER_CONFIG.path, "new", "b", spec=spec)
    kube.put(DATABASE.resource.path, "db", "a", spec={"name": 'My "DB".x'})
    return kube


async def schema(kube: MemoryKube, namespace: str, **spec: Any) -> Resolved | Unresolved:
    """What a Schema `S` stands for."""
    return await resolve(SCHEMA, namespace, SCHEMA.spec.model_validate({"name": "S", **spec}), live(kube))


async def test_parents_are_named_as_they_are_stored(kube: MemoryKube) -> None:
    resolved = await schema(kube, "a", databaseRef={"name": "db"})
    assert isinstance(resolved, Resolved)
    assert resolved.identities == (Identity(ACCOUNT["key"], "SCHEMA", Name(('My "DB".x', "S"))),)


async def test_references_reach_into_other_namespaces(kube: MemoryKube) -> None:
    resolved = await schema(
        kube, "b", databaseRef={"name": "db", "namespace": "a"}, providerRef={"name": "default", "namespace": "a"}
    )
    assert isinstance(resolved, Resolved)
    assert resolved.parts == ('My "DB".x', "S")
    assert (resolved.provider.namespace, resolved.provider.name) == ("a", "default")


async def test_without_a_proven_account_there_is_no_identity(kube: MemoryKube) -> None:
    resolved = await schema(kube, "b", databaseName="D", providerRef={"name": "new"})
    assert isinstance(resolved, Resolved)
    assert resolved.identities is None
    assert resolved.parts == ("D", "S")


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ({"databaseName": "D", "providerRef": {"name": "x"}}, "ProviderConfig a/x in spec.providerRef doesn't exist"),
        ({"databaseRef": {"name": "x", "namespace": "b"}}, "Database b/x in spec.databaseRef doesn't exist"),
        (
            {"databaseRef": {"name": "odd"}},
            "Database a/odd in spec.databaseRef has a spec that this release can't read",
        ),
    ],
)
async def test_what_is_missing_is_named(kube: MemoryKube, spec: dict[str, Any], missing: str) -> None:
    kube.put(DATABASE.resource.path, "odd", "a", spec={"name": "ODD", "fromTheFuture": 1})
    unresolved = await schema(kube, "a", **spec)
    assert isinstance(unresolved, Unresolved)
    assert missing in str(unresolved)


@pytest.mark.parametrize(
    ("spec", "stands"),
    [
        ({"name": "D"}, True),
        ({"name": "d"}, False),
        ({"name": "D", "managementPolicies": {"observeOnly": True}}, False),
        ({"name": "D", "providerRef": {"name": "new", "namespace": "b"}}, None),
        ({"name": "D", "providerRef": {"name": "nowhere"}}, None),
        ({"name": "D", "fromTheFuture": 1}, None),
    ],
)
async def test_whether_a_resource_stands_for_an_identity(
    kube: MemoryKube, spec: dict[str, Any], *, stands: bool | None
) -> None:
    resource = kube.put(DATABASE.resource.path, "d", "a", spec=spec)
    assert await stands_for(resource, Identity(ACCOUNT["key"], "DATABASE", Name(("D",))), live(kube)) is stands


async def test_nobody_can_tell_what_an_unknown_kind_stands_for(kube: MemoryKube) -> None:
    stranger = kube.put(PROVIDER_CONFIG.path, "x", "a", spec={})
    assert await stands_for(stranger, Identity(ACCOUNT["key"], "DATABASE", Name(("D",))), live(kube)) is None
