"""From a resource to its object: parents, ProviderConfig and account."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from freehold.identifiers import InvalidName
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG, ProviderConfigSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.resolve import Resolved, Unresolved, describe, live, resolve, stands_for
from tests.harness import declarations
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


async def test_a_container_that_a_spec_does_not_name_is_none(kube: MemoryKube) -> None:
    with pytest.raises(InvalidName, match="neither databaseName nor databaseRef"):
        await schema(kube, "a")


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


@pytest.fixture
def every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds of every class of identity."""
    monkeypatch.setattr("freehold.resolve.KINDS", declarations.ALL_KINDS)


async def names(kube: MemoryKube, kind: Kind, **spec: Any) -> list[str]:
    """What a resource in the namespace b stands for, as printed and in the order of the claims."""
    provider = {"name": "default", "namespace": "a"}
    resolved = await resolve(kind, "b", kind.spec.model_validate({"providerRef": provider, **spec}), live(kube))
    assert isinstance(resolved, Resolved)
    assert resolved.identities is not None
    assert {identity.account for identity in resolved.identities} == {ACCOUNT["key"]}
    assert [identity.hash for identity in resolved.identities] == sorted(each.hash for each in resolved.identities)
    return [identity.fqn for identity in resolved.identities]


@pytest.mark.usefixtures("every_kind")
async def test_a_chain_of_references_over_namespaces_is_resolved_from_names_alone(kube: MemoryKube) -> None:
    """Nothing of the chain has a status: nobody has looked at it yet."""
    kube.put(SCHEMA.resource.path, "s", "c", spec={"name": "S", "databaseRef": {"name": "db", "namespace": "a"}})
    found = await names(kube, declarations.TABLE, name="T", schemaRef={"name": "s", "namespace": "c"})
    assert found == ['"My ""DB"".x"."S"."T"']


@pytest.mark.usefixtures("every_kind")
async def test_a_schema_lies_in_the_database_that_is_named_beside_it(kube: MemoryKube) -> None:
    kube.put(SCHEMA.resource.path, "s", "b", spec={"name": "S", "databaseName": "D"})
    assert await names(kube, declarations.TABLE, name="T", schemaRef={"name": "s"}, databaseName="D") == ['"D"."S"."T"']
    with pytest.raises(InvalidName, match=r"Schema b/s in spec\.schemaRef lies in database 'D', and not in 'E'"):
        await names(kube, declarations.TABLE, name="T", schemaRef={"name": "s"}, databaseName="E")


@pytest.mark.usefixtures("every_kind")
async def test_kinds_of_one_class_meet(kube: MemoryKube) -> None:
    at = {"name": "X", "databaseName": "D", "schemaName": "S", "providerRef": {"name": "default", "namespace": "a"}}
    found = []
    for kind in (declarations.TABLE, declarations.VIEW, declarations.FUNCTION):
        resolved = await resolve(kind, "b", kind.spec.model_validate(at), live(kube))
        assert isinstance(resolved, Resolved)
        found.append(resolved.identities)
    assert found[0] == found[1] != found[2]


@pytest.mark.usefixtures("every_kind")
@pytest.mark.parametrize(
    ("types", "printed"),
    [
        ([], '"D"."S"."F"()'),
        (["int"], '"D"."S"."F"(NUMBER)'),
        (["text"], '"D"."S"."F"(VARCHAR)'),
        (["VARCHAR(10)", "vector(integer,16)"], '"D"."S"."F"(VARCHAR, VECTOR(INT, 16))'),
    ],
)
async def test_overloads_are_told_apart_by_their_argument_types(
    kube: MemoryKube, types: list[str], printed: str
) -> None:
    arguments = [{"name": "X", "type": each} for each in types]
    at = {"name": "F", "databaseName": "D", "schemaName": "S"}
    assert await names(kube, declarations.FUNCTION, **at, arguments=arguments) == [printed]


@pytest.mark.usefixtures("every_kind")
async def test_what_is_no_argument_type_makes_no_identity(kube: MemoryKube) -> None:
    at = {"name": "F", "databaseName": "D", "schemaName": "S"}
    with pytest.raises(InvalidName, match="TIMESTAMP_NTZ"):
        await names(kube, declarations.FUNCTION, **at, arguments=[{"name": "X", "type": "TIMESTAMP"}])


@pytest.mark.usefixtures("every_kind")
async def test_a_grant_of_several_privileges_fills_a_slot_for_each_of_them_once(kube: MemoryKube) -> None:
    kube.put(SCHEMA.resource.path, "s", "a", spec={"name": "S", "databaseName": "D"})
    schema = {"name": "s", "namespace": "a"}
    found = await names(
        kube,
        declarations.GRANT,
        privileges=["select", "INSERT", "SELECT"],
        schemaRef=schema,
        tableName="T",
        roleName="R",
    )
    assert sorted(found) == ['INSERT ON TABLE "D"."S"."T" TO ROLE "R"', 'SELECT ON TABLE "D"."S"."T" TO ROLE "R"']
    found = await names(kube, declarations.GRANT, privileges=["SELECT"], schemaRef=schema, every="FUTURE", roleName="R")
    assert found == ['SELECT ON FUTURE TABLES IN SCHEMA "D"."S" TO ROLE "R"']


@pytest.mark.usefixtures("every_kind")
@pytest.mark.parametrize(
    ("kind", "spec", "printed"),
    [
        (declarations.ROLE_ASSIGNMENT, {"roleName": "A", "userName": "U"}, 'ROLE "A" TO USER "U"'),
        (declarations.OWNERSHIP, {"tableName": "D.S.T", "roleName": "A"}, 'OWNERSHIP ON TABLE "D"."S"."T"'),
        (declarations.POLICY_ATTACHMENT, {"policyName": "P"}, "NETWORK POLICY OF ACCOUNT"),
        (declarations.POLICY_ATTACHMENT, {"policyName": "P", "userName": "U"}, 'NETWORK POLICY OF USER "U"'),
    ],
)
async def test_what_is_set_has_the_slot_as_its_identity_whatever_the_value(
    kube: MemoryKube, kind: Kind, spec: dict[str, Any], printed: str
) -> None:
    assert await names(kube, kind, **spec) == [printed]


@pytest.mark.usefixtures("every_kind")
async def test_a_resource_stands_for_each_of_its_slots(kube: MemoryKube) -> None:
    kube.put(SCHEMA.resource.path, "s", "a", spec={"name": "S", "databaseName": "D"})
    spec = {"privileges": ["SELECT", "INSERT"], "schemaRef": {"name": "s"}, "tableName": "T", "roleName": "R"}
    resource = kube.put(declarations.GRANT.resource.path, "g", "a", spec=spec)
    for privilege, stands in (("SELECT", True), ("INSERT", True), ("DELETE", False)):
        identity = Identity.parse(ACCOUNT["key"], "GRANT", f'{privilege} ON TABLE "D"."S"."T" TO ROLE "R"')
        assert await stands_for(resource, identity, live(kube)) is stands


def test_of_many_faults_the_first_are_described_and_the_others_counted() -> None:
    def described(unknown: int) -> str:
        with pytest.raises(ValidationError) as caught:
            ProviderConfigSpec.model_validate({f"field{i}": i for i in range(unknown)})
        return describe(caught.value)

    assert described(1) == "authenticationType: Field required; field0: Extra inputs are not permitted"
    assert described(10).endswith("field3: Extra inputs are not permitted; and 6 more")
    assert described(150_000) == "150001 faults"
