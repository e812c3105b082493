"""The allow-lists of a ProviderConfig as a table."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.identifiers import split
from freehold.identity import Name, Slot
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.kinds.registry import KINDS
from freehold.permissions import PRIVILEGED_ROLES, Denied, Usage, advice, check
from freehold.slots import ACCOUNT, all_in, assignment, attachment, future_in, grant, of, ownership, tag_value
from tests.harness import declarations

OWN, OTHER = "platform", "team-a"


def reason(
    lists: dict[str, Any],
    kind: str = "Schema",
    *parts: str,
    namespace: str = OWN,
    labels: dict[str, str] | None = None,
    role: str | None = None,
) -> str | None:
    """Reason of the refusal by a ProviderConfig of the namespace `platform` with the role LOADER."""
    provider = ProviderConfigSpec.model_validate({"authenticationType": "KeyPair", "role": "LOADER", **lists})
    usage = Usage(KINDS[kind], namespace, labels or {}, (Name(parts or ("DB", "S")),), role)
    denied = check(provider, (OWN, "default"), usage)
    return denied.reason if denied else None


@pytest.mark.parametrize("allowed", [None, [], [OTHER]])
def test_a_namespace_may_always_use_its_own_provider(allowed: list[str] | None) -> None:
    assert reason({"allowedNamespaces": allowed}) is None


@pytest.mark.parametrize(
    ("lists", "labels", "may"),
    [
        ({}, {}, False),
        ({"allowedNamespaces": []}, {}, False),
        ({"allowedNamespaces": ["team-b"]}, {}, False),
        ({"allowedNamespaces": ["team-b", OTHER]}, {}, True),
        ({"allowedNamespaces": ["*"]}, {}, True),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {"tenant": "yes", "x": "y"}, True),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {"tenant": "no"}, False),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {}, False),
        ({"allowedNamespaceSelector": {}}, {}, True),
        ({"allowedNamespaces": [OTHER], "allowedNamespaceSelector": {"matchLabels": {"a": "b"}}}, {}, True),
    ],
)
def test_other_namespaces_must_be_listed_or_selected(
    lists: dict[str, Any], labels: dict[str, str], *, may: bool
) -> None:
    assert (reason(lists, namespace=OTHER, labels=labels) is None) is may
    if not may:
        assert reason(lists, namespace=OTHER, labels=labels) == "NamespaceNotAllowed"


@pytest.mark.parametrize(
    ("operator", "values", "value", "holds"),
    [
        ("In", ["a", "b"], "a", True),
        ("In", ["a", "b"], "c", False),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "b", True),
        ("NotIn", ["a"], "a", False),
        ("NotIn", ["a"], None, True),
        ("Exists", None, "x", True),
        ("Exists", None, None, False),
        ("DoesNotExist", None, None, True),
        ("DoesNotExist", None, "x", False),
    ],
)
def test_selector_requirements_hold_as_in_kubernetes(
    operator: str, values: list[str] | None, value: str | None, *, holds: bool
) -> None:
    requirement = {"key": "tenant", "operator": operator, "values": values}
    labels = {} if value is None else {"tenant": value}
    selector = {"allowedNamespaceSelector": {"matchExpressions": [requirement]}}
    assert (reason(selector, namespace=OTHER, labels=labels) is None) is holds


@pytest.mark.parametrize(
    ("allowed", "namespace", "expected"),
    [
        (None, "team-b", None),
        ([], "team-b", None),
        (["*"], "team-b", None),
        (["team-b"], "team-b", None),
        (["team-c"], "team-b", "RefNamespaceNotAllowed"),
        (["team-c"], OWN, "RefNamespaceNotAllowed"),
        (["team-c"], OTHER, None),
        (["team-c"], None, None),
    ],
)
def test_references_may_point_into_their_own_namespace_and_into_those_that_are_listed(
    allowed: list[str] | None, namespace: str | None, expected: str | None
) -> None:
    facts = {"authenticationType": "KeyPair", "allowedNamespaces": ["*"], "allowedRefNamespaces": allowed}
    provider = ProviderConfigSpec.model_validate(facts)
    kind = KINDS["Schema"]
    spec = kind.spec.model_validate({"name": "S", "databaseRef": {"name": "db", "namespace": namespace}})
    denied = check(provider, (OWN, "default"), Usage.of(kind, OTHER, {}, spec))
    assert (denied and denied.reason) == expected
    assert denied is None or f"namespace {namespace} in spec.databaseRef" in denied.message


@pytest.mark.parametrize(
    ("lists", "kind", "parts", "expected"),
    [
        ({"allowedKinds": ["Schema"]}, "Schema", ("DB", "S"), None),
        ({"allowedKinds": ["Schema"]}, "Warehouse", ("WH",), "KindNotAllowed"),
        ({"allowedKinds": ["*"]}, "Warehouse", ("WH",), None),
        ({"allowedKinds": []}, "Warehouse", ("WH",), None),
        ({"allowedDatabases": ["DB"]}, "Schema", ("DB", "S"), None),
        ({"allowedDatabases": ["DB"]}, "Schema", ("db", "S"), "DatabaseNotAllowed"),
        ({"allowedDatabases": ["DB"]}, "Database", ("OTHER",), "DatabaseNotAllowed"),
        ({"allowedDatabases": ["a.b"]}, "Database", ("a.b",), None),
        ({"allowedDatabases": ["DB"]}, "Warehouse", ("OTHER",), None),
        ({"allowedDatabases": []}, "Database", ("OTHER",), None),
        ({"allowedSchemas": ["S"]}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ['"DB"."S"']}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("OTHER", "S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("OTHER", "DB.S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ['"a.b"']}, "Schema", ("DB", "a.b"), None),
        ({"allowedSchemas": ["S"]}, "Database", ("DB",), None),
        ({"allowedSchemas": ["s"]}, "Schema", ("DB", "S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ["S"], "allowedDatabases": ["DB"]}, "Schema", ("X", "S"), "DatabaseNotAllowed"),
    ],
)
def test_objects_must_lie_in_what_is_listed_exactly_as_stored(
    lists: dict[str, Any], kind: str, parts: tuple[str, ...], expected: str | None
) -> None:
    assert reason(lists, kind, *parts) == expected


@pytest.mark.parametrize(
    ("allowed", "role", "expected"),
    [
        (None, None, None),
        (None, "LOADER", None),
        (None, "SYSADMIN", "RoleNotAllowed"),
        ([], "SYSADMIN", "RoleNotAllowed"),
        (["OWNER"], "OWNER", None),
        (["OWNER"], "owner", "RoleNotAllowed"),
        (["OWNER"], "LOADER", None),
        (["*"], "SYSADMIN", None),
    ],
)
def test_roles_other_than_the_providers_own_must_be_listed(
    allowed: list[str] | None, role: str | None, expected: str | None
) -> None:
    assert reason({"allowedRoles": allowed}, role=role) == expected


def test_a_refusal_names_what_is_refused_and_by_whom_but_not_what_others_may() -> None:
    provider = ProviderConfigSpec.model_validate(
        {"authenticationType": "KeyPair", "allowedNamespaces": ["secret-team"]}
    )
    denied = check(provider, (OWN, "default"), Usage(KINDS["Warehouse"], OTHER, {}, (Name(("WH",)),), None))
    assert denied is not None
    assert "namespace team-a" in denied.message
    assert "allowedNamespaces of ProviderConfig platform/default" in denied.message
    assert "secret-team" not in denied.message


def verdict(
    slot: Slot, lists: dict[str, Any] | None = None, *, allowed: tuple[str, ...] = (), namespace: str = OWN
) -> Denied | None:
    """What becomes of a resource that fills a slot."""
    provider = ProviderConfigSpec.model_validate({"authenticationType": "KeyPair", "role": "LOADER", **(lists or {})})
    usage = Usage(declarations.GRANT, namespace, {}, (slot,), None)
    return check(provider, (OWN, "default"), usage, allowed_privileged_roles=allowed)


TABLE, ROLE = of("TABLE", "DB", "S", "T"), of("ROLE", "R")


@pytest.mark.parametrize(
    ("slot", "database", "schema"),
    [
        (grant("SELECT", TABLE, ROLE), "DB", "S"),
        (grant("USAGE", of("SCHEMA", "DB", "S"), ROLE), "DB", "S"),
        (grant("USAGE", of("DATABASE", "DB"), ROLE), "DB", None),
        (grant("SELECT", all_in("TABLES", of("SCHEMA", "DB", "S")), ROLE), "DB", "S"),
        (grant("SELECT", future_in("TABLES", of("DATABASE", "DB")), ROLE), "DB", None),
        (grant("USAGE", of("FUNCTION", "DB", "S", "F", arguments=("NUMBER",)), ROLE), "DB", "S"),
        (grant("USAGE", of("WAREHOUSE", "DB"), of("DATABASE ROLE", "DB", "R")), "DB", None),
        (grant("USAGE", of("WAREHOUSE", "WH"), ROLE), None, None),
        (assignment(of("DATABASE ROLE", "DB", "A"), ROLE), "DB", None),
        (ownership(TABLE), "DB", "S"),
        (tag_value(("DB", "S", "G"), ACCOUNT), "DB", "S"),
        (attachment("NETWORK POLICY", of("USER", "DB")), None, None),
    ],
)
def test_what_is_set_on_an_object_needs_its_database_and_schema_allowed(
    slot: Slot, database: str | None, schema: str | None
) -> None:
    assert verdict(slot, {"allowedDatabases": ["DB"], "allowedSchemas": ["DB.S"]}) is None
    for field, container in (("allowedDatabases", database), ("allowedSchemas", schema)):
        denied = verdict(slot, {field: ["ELSEWHERE"]})
        assert (denied.field if denied else None) == (field if container else None)


LOADER = of("ROLE", "LOADER")


@pytest.mark.parametrize(
    "slot",
    [
        assignment(LOADER, of("USER", "MALLORY")),
        assignment(LOADER, of("USER", "FREEHOLD")),
        assignment(of("ROLE", "X"), LOADER),
        grant("RESOLVE ALL", ACCOUNT, LOADER),
    ],
)
def test_tenants_neither_give_away_the_role_that_freehold_works_as_nor_what_it_has(slot: Slot) -> None:
    shared: dict[str, Any] = {"allowedNamespaces": [OTHER]}
    denied = verdict(slot, shared, namespace=OTHER)
    assert denied is not None
    assert denied.reason == "RoleNotAllowed"
    assert verdict(slot, {**shared, "allowedRoles": ["X"]}, namespace=OTHER) is not None
    assert verdict(slot, {**shared, "allowedRoles": ["LOADER", "X"]}, namespace=OTHER) is None
    assert verdict(slot) is None


@pytest.mark.parametrize(
    "slot",
    [
        assignment(ROLE, of("USER", "U")),
        assignment(ROLE, LOADER),
        assignment(LOADER, ROLE),
        assignment(of("DATABASE ROLE", "DB", "A"), ROLE),
        grant("SELECT", TABLE, ROLE),
        grant("CREATE DATABASE", ACCOUNT, ROLE),
        grant("USAGE", future_in("SCHEMAS", of("DATABASE", "DB")), ROLE),
        ownership(ROLE),
        tag_value(("DB", "S", "G"), ROLE),
    ],
)
def test_roles_that_are_handed_out_or_given_something_must_be_listed_where_there_is_a_list(slot: Slot) -> None:
    assert verdict(slot) is None
    assert verdict(slot, {"allowedRoles": []}) is None
    for listed in (["R"], ["*"], ["X", "R"]):
        assert verdict(slot, {"allowedRoles": listed}) is None
    for listed in (["X"], ["r"], ["LOADER"]):
        denied = verdict(slot, {"allowedRoles": listed})
        assert denied is not None
        assert (denied.reason, denied.field) == ("RoleNotAllowed", "allowedRoles")
        assert 'role "R"' in denied.message


def test_what_names_no_account_role_needs_none_listed() -> None:
    for slot in (
        assignment(of("DATABASE ROLE", "DB", "R"), of("DATABASE ROLE", "DB", "B")),
        grant("SELECT", TABLE, of("SHARE", "R")),
        grant("USAGE", of("WAREHOUSE", "R"), of("DATABASE ROLE", "DB", "R")),
    ):
        assert verdict(slot, {"allowedRoles": ["X"]}) is None


def test_a_new_owner_must_be_listed() -> None:
    slot = ownership(of("TABLE", "DB", "S", "T"))
    usage = Usage(declarations.OWNERSHIP, OWN, {}, (slot,), None, ("ANALYST",))
    for listed, refused in ((["X"], True), (["ANALYST"], False), (None, False)):
        facts = {"authenticationType": "KeyPair", "allowedRoles": listed}
        denied = check(ProviderConfigSpec.model_validate(facts), (OWN, "default"), usage)
        assert (denied is not None) is refused


def test_a_role_that_is_declared_must_be_listed() -> None:
    assert reason({"allowedRoles": ["X"]}, "AccountRole", "R") == "RoleNotAllowed"
    assert reason({"allowedRoles": ["R"]}, "AccountRole", "R") is None
    assert reason({"allowedRoles": ["X"]}, "DatabaseRole", "DB", "R") is None


@pytest.mark.parametrize("role", sorted(PRIVILEGED_ROLES))
def test_privileged_roles_are_neither_given_nor_given_anything_nor_taken(role: str) -> None:
    privileged = of("ROLE", role)
    for slot in (
        assignment(privileged, of("USER", "U")),
        assignment(ROLE, privileged),
        grant("SELECT", TABLE, privileged),
        grant("USAGE", future_in("SCHEMAS", of("DATABASE", "DB")), privileged),
        ownership(privileged),
        tag_value(("DB", "S", "G"), privileged),
    ):
        denied = verdict(slot)
        assert denied is not None
        assert denied.reason == "PrivilegedRoleNotAllowed"
        assert role in denied.message
        assert "allowedPrivilegedRoles of this installation" in denied.message
        assert verdict(slot, allowed=(role,)) is None


@pytest.mark.parametrize(
    ("slot", "role"),
    [
        (grant("MANAGE GRANTS", ACCOUNT, ROLE), "SECURITYADMIN"),
        (grant("all", ACCOUNT, ROLE), "ACCOUNTADMIN"),
        (grant("ALL PRIVILEGES", ACCOUNT, ROLE), "ACCOUNTADMIN"),
        (grant("IMPERSONATE", of("USER", "U"), ROLE), "ACCOUNTADMIN"),
        (grant("MODIFY PROGRAMMATIC AUTHENTICATION METHODS", of("USER", "U"), ROLE), "ACCOUNTADMIN"),
    ],
)
def test_privileges_that_amount_to_a_privileged_role_are_treated_as_it_is(slot: Slot, role: str) -> None:
    denied = verdict(slot)
    assert denied is not None
    assert denied.reason == "PrivilegedRoleNotAllowed"
    assert verdict(slot, allowed=tuple(PRIVILEGED_ROLES - {role})) is not None
    assert verdict(slot, allowed=(role,)) is None


@pytest.mark.parametrize(
    "slot",
    [
        grant("CREATE DATABASE", ACCOUNT, ROLE),
        grant("MANAGE GRANTS", of("SCHEMA", "DB", "S"), ROLE),
        grant("MONITOR", of("USER", "U"), ROLE),
        grant("ALL", TABLE, ROLE),
        grant("SELECT", of("TABLE", "DB", "S", "ACCOUNTADMIN"), ROLE),
        grant("SELECT", TABLE, of("ROLE", "accountadmin")),
        grant("SELECT", TABLE, of("SHARE", "ACCOUNTADMIN")),
        assignment(of("DATABASE ROLE", "DB", "ACCOUNTADMIN"), ROLE),
        assignment(of("ROLE", "USERADMIN"), of("USER", "ACCOUNTADMIN")),
        assignment(of("ROLE", "SYSADMIN"), ROLE),
    ],
)
def test_what_only_reads_like_a_privileged_role_is_none(slot: Slot) -> None:
    assert verdict(slot) is None


@pytest.mark.parametrize(
    ("own", "role", "allowed", "refused"),
    [
        ("LOADER", "ACCOUNTADMIN", (), True),
        ("LOADER", "ACCOUNTADMIN", ("SECURITYADMIN",), True),
        ("LOADER", "ACCOUNTADMIN", ("ACCOUNTADMIN",), False),
        ("ACCOUNTADMIN", "ACCOUNTADMIN", (), False),
        ("ACCOUNTADMIN", "SECURITYADMIN", (), True),
        ("ACCOUNTADMIN", None, (), False),
        ("LOADER", "accountadmin", (), False),
    ],
)
def test_a_tenant_cannot_open_the_way_to_a_privileged_role(
    own: str, role: str | None, allowed: tuple[str, ...], *, refused: bool
) -> None:
    """Whoever writes a ProviderConfig writes its allowedRoles; the installation is not his."""
    provider = ProviderConfigSpec.model_validate({"authenticationType": "KeyPair", "role": own, "allowedRoles": ["*"]})
    usage = Usage(KINDS["Warehouse"], OWN, {}, (Name(("WH",)),), role)
    denied = check(provider, (OWN, "default"), usage, allowed_privileged_roles=allowed)
    assert (denied is not None) is refused


@pytest.mark.parametrize(("owner", "refused"), [("ACCOUNTADMIN", True), ("ANALYST", False)])
def test_nothing_is_given_into_the_ownership_of_a_privileged_role(owner: str, *, refused: bool) -> None:
    """What runs with its owner's rights would run with those."""
    spec = declarations.OWNERSHIP.spec.model_validate({"tableName": "DB.S.T", "roleName": owner})
    slot = ownership(of("TABLE", *split("DB.S.T")))
    usage = Usage(declarations.OWNERSHIP, OWN, {}, (slot,), None, declarations.OWNERSHIP.recipients(spec))
    denied = check(ProviderConfigSpec.model_validate({"authenticationType": "KeyPair"}), (OWN, "default"), usage)
    assert (denied is not None) is refused


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"role": "LOADER", "allowedNamespaces": ["*"]}, ()),
        ({"allowedRoles": ["*"], "allowedNamespaces": ["a"]}, ()),
        ({"role": "ACCOUNTADMIN"}, ('spec.role "ACCOUNTADMIN" is privileged',)),
        ({"role": "R", "allowedRoles": ["*"], "allowedNamespaces": ["*"]}, ("every namespace may work as every role",)),
    ],
)
def test_a_provider_that_gives_much_away_is_warned_of(spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    found = advice(ProviderConfigSpec.model_validate({"authenticationType": "KeyPair", **spec}))
    assert len(found) == len(expected)
    assert all(text in each for text, each in zip(expected, found, strict=True))
