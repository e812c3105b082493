"""What a grant's manifest names, and which row of SHOW GRANTS is which grant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from freehold import slots, validation
from freehold.identifiers import InvalidName
from freehold.identity import Slot
from freehold.kinds.account.grantprivilegestoaccountrole import GRANT_PRIVILEGES_TO_ACCOUNT_ROLE as KIND
from freehold.kinds.grants import named_object
from freehold.kinds.registry import KINDS, refused

ROLE = slots.of("ROLE", "R")
TABLE = slots.of("TABLE", "DB", "S", "T")
IN_SCHEMA = slots.of("SCHEMA", "DB", "S")
AT = datetime(2026, 1, 1, tzinfo=UTC)
ROW = {"created_on": AT, "privilege": "SELECT", "granted_on": "TABLE", "granted_to": "ROLE", "grantee_name": "R"}
FUTURE_ROW = {"created_on": AT, "privilege": "SELECT", "grant_on": "TABLE", "grant_to": "ROLE", "grantee_name": "R"}


@pytest.mark.parametrize(
    ("slot", "row", "same"),
    [
        (slots.grant("SELECT", TABLE, ROLE), ROW, True),
        (slots.grant("INSERT", TABLE, ROLE), ROW, False),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "r")), ROW, False),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "r")), {**ROW, "grantee_name": '"r"'}, True),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "a.b")), {**ROW, "grantee_name": '"a.b"'}, True),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "granted_to": "DATABASE_ROLE"}, False),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "granted_to": "USER"}, False),
        (
            slots.grant("SELECT", TABLE, slots.of("DATABASE ROLE", "DB", "R")),
            {**ROW, "granted_to": "DATABASE_ROLE"},
            True,
        ),
        (
            slots.grant("SELECT", TABLE, slots.of("DATABASE ROLE", "DB", "R")),
            {**ROW, "granted_to": "DATABASE_ROLE", "grantee_name": "DB.R"},
            True,
        ),
        (slots.grant("IMPORTED PRIVILEGES", slots.of("DATABASE", "D"), ROLE), {**ROW, "privilege": "USAGE"}, True),
        (slots.grant("SELECT", slots.future_in("TABLES", IN_SCHEMA), ROLE), FUTURE_ROW, True),
        (slots.grant("SELECT", slots.future_in("VIEWS", IN_SCHEMA), ROLE), FUTURE_ROW, False),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "is_inherited": "false"}, True),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "is_inherited": "true"}, False),
        (
            slots.grant("USAGE", slots.future_in("FILE FORMATS", IN_SCHEMA), ROLE),
            {**FUTURE_ROW, "privilege": "USAGE", "grant_on": "FILE_FORMAT"},
            True,
        ),
        (
            slots.grant("APPLY", slots.future_in("PASSWORD POLICIES", IN_SCHEMA), ROLE),
            {**FUTURE_ROW, "privilege": "APPLY", "grant_on": "PASSWORD_POLICY"},
            True,
        ),
    ],
)
def test_a_row_is_a_grant_if_all_of_it_is_the_same(slot: Slot, row: dict[str, Any], same: bool) -> None:
    found = KIND.row_of(KIND.target_of(slot), [row])
    assert (found is not None) is same


@pytest.mark.parametrize(
    ("holder", "shown", "same"),
    [
        (slots.of("USER", "BOB"), "BOB", True),
        (slots.of("USER", "BOB"), "USER$BOB", True),
        (slots.of("USER", "BOB"), "bob", False),
        (slots.of("USER", "USER$BOB"), "USER$BOB", True),
        (slots.of("USER", "a.b"), '"a.b"', True),
        (slots.of("SHARE", "S"), "ACCOUNT.S", True),
        (slots.of("SHARE", "S"), "S", True),
        (slots.of("SHARE", "S"), "ACCOUNT.OTHER", False),
    ],
)
def test_a_holder_is_known_by_whatever_an_account_prints(holder: slots.Phrase, shown: str, same: bool) -> None:
    kind = KINDS["AccountRoleAssignment"]
    row = {"created_on": AT, "granted_to": holder[0], "grantee_name": shown}
    slot = slots.assignment(ROLE, holder)
    assert (kind.row_of(kind.target_of(slot), [row]) is not None) is same


def test_of_several_grantors_the_first_one_counts() -> None:
    """What somebody else has granted later doesn't turn our grant into another one."""
    first = {**ROW, "granted_by": "OWNER"}
    later = {**ROW, "created_on": datetime(2026, 2, 1, tzinfo=UTC), "granted_by": "LEAD"}
    target = KIND.target_of(slots.grant("SELECT", TABLE, ROLE))
    assert KIND.row_of(target, [later, first]) == {**ROW, "granted_by": "LEAD, OWNER"}


def named(kind: str, spec: dict[str, Any]) -> list[str]:
    """What a spec without references stands for."""
    computation = KINDS[kind].names(KINDS[kind].spec.model_validate(spec), "n", KINDS)
    try:
        next(computation)
    except StopIteration as finished:
        return [str(name) for name in finished.value]
    raise AssertionError


def on_function(name: str) -> dict[str, Any]:
    return {
        "accountRole": "R",
        "onSchemaObject": {"objectType": "FUNCTION", "objectName": name},
        "privileges": ["USAGE"],
    }


@pytest.mark.parametrize(
    ("spelt", "arguments"),
    [
        ("d.s.f()", "()"),
        ("D.S.F( )", "()"),
        ("D.S.F (int)", "(NUMBER)"),
        ('D."S".F(decimal(10, 2), Text)', "(NUMBER, VARCHAR)"),
        ("D.S.F(vector(float,3), double  precision)", "(VECTOR(FLOAT, 3), FLOAT)"),
    ],
)
def test_a_function_is_the_same_however_its_arguments_are_spelt(spelt: str, arguments: str) -> None:
    slot = f'USAGE ON FUNCTION "D"."S"."F"{arguments} TO ROLE "R"'
    assert named("GrantPrivilegesToAccountRole", on_function(spelt)) == [slot]


def to_role(**securable: Any) -> dict[str, Any]:
    return {"accountRole": "R", "privileges": ["USAGE"], **securable}


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("GrantPrivilegesToAccountRole", on_function("D.S.F")),
        ("GrantPrivilegesToAccountRole", on_function("D.S.F(NUMBER,)")),
        ("GrantPrivilegesToAccountRole", on_function("D.S.F(X NUMBER)")),
        ("GrantPrivilegesToAccountRole", on_function("D.S.F(TIMESTAMP)")),
        ("GrantPrivilegesToAccountRole", to_role(onSchema={"schemaName": "S"})),
        ("GrantPrivilegesToAccountRole", to_role(onSchema={"schemaName": "D.S.T"})),
        ("GrantPrivilegesToAccountRole", to_role(onSchema={})),
        (
            "GrantPrivilegesToAccountRole",
            to_role(onSchemaObject={"future": {"objectTypePlural": "TABLES", "inSchema": "S"}}),
        ),
        ("GrantPrivilegesToAccountRole", {"onAccount": True, "privileges": ["AUDIT"]}),
        ("GrantPrivilegesToDatabaseRole", {"databaseRole": "D", "onDatabase": "D", "privileges": ["USAGE"]}),
        ("GrantPrivilegesToDatabaseRole", {"databaseRole": "D.R", "onDatabase": "E", "privileges": ["USAGE"]}),
        ("DatabaseRoleAssignment", {"databaseRole": "R", "toRole": "X"}),
        ("DatabaseRoleAssignment", {"databaseRole": "D.S.R", "toRole": "X"}),
        ("DatabaseRoleAssignment", {"databaseRole": "D.R", "toDatabaseRole": "E.X"}),
    ],
)
def test_what_names_nothing_or_what_the_session_decides_is_refused(kind: str, spec: dict[str, Any]) -> None:
    with pytest.raises(InvalidName):
        named(kind, spec)


@pytest.mark.parametrize(
    ("privilege", "refused"),
    [
        ("SELECT", False),
        ("TELEPORT", False),
        ("ALL", True),
        ("ALL PRIVILEGES", True),
        ("CALLER SELECT", True),
        ("INHERITED SELECT", True),
        ("GRANT OPTION FOR SELECT", True),
        ("OWNERSHIP", True),
        ("USAGE", True),
    ],
)
def test_only_single_privileges_are_granted_which_can_be_taken_back(privilege: str, refused: bool) -> None:
    on_table = {"objectType": "TABLE", "objectName": "D.S.T"}
    spec = KIND.spec.model_validate({"accountRole": "R", "privileges": [privilege], "onSchemaObject": on_table})
    assert bool(validation.faults(KIND, spec)) is refused


SHARE = slots.of("SHARE", "S")
SHARED_ROW = {
    "created_on": AT,
    "privilege": "SELECT",
    "granted_on": "TABLE",
    "name": "DB.S.T",
    "granted_to": "SHARE",
    "grantee_name": "FH00001.S",
}


@pytest.mark.parametrize(
    ("slot", "row", "same"),
    [
        (slots.grant("SELECT", TABLE, SHARE), SHARED_ROW, True),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "grantee_name": "S"}, True),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "grantee_name": "FH00001.OTHER"}, False),
        (slots.grant("SELECT", TABLE, slots.of("SHARE", "a.b")), {**SHARED_ROW, "grantee_name": 'X."a.b"'}, True),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "granted_to": "ROLE"}, False),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "name": "DB.S.OTHER"}, False),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "privilege": "EVOLVE SCHEMA"}, False),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "granted_on": "EXTERNAL_TABLE"}, True),
        (slots.grant("SELECT", TABLE, SHARE), {**SHARED_ROW, "granted_on": "VIEW"}, False),
        (
            slots.grant("USAGE", slots.of("FUNCTION", "DB", "S", "F", arguments=("NUMBER",)), SHARE),
            {**SHARED_ROW, "privilege": "USAGE", "granted_on": "FUNCTION", "name": 'DB.S."F(A NUMBER):VARCHAR"'},
            True,
        ),
    ],
)
def test_a_row_of_a_share_is_a_grant_if_all_of_it_is_the_same(slot: Slot, row: dict[str, Any], same: bool) -> None:
    kind = KINDS["GrantPrivilegesToShare"]
    assert (kind.row_of(kind.target_of(slot), [row]) is not None) is same


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"onDatabase": "D", "privileges": ["REFERENCE_USAGE"]}, "no row of REFERENCE_USAGE"),
        ({"onDatabase": "D", "privileges": ["USAGE", "SELECT"]}, "privileges[1]: SELECT on a database"),
        ({"onSchema": "D.S", "privileges": ["SELECT"]}, "but USAGE can"),
        ({"onTable": "D.S.T", "privileges": ["INSERT"]}, "but SELECT and EVOLVE SCHEMA can"),
        ({"onTag": "D.S.T", "privileges": ["APPLY"]}, "but READ can"),
        ({"onFunction": "D.S.F()", "privileges": ["SELECT"]}, "but USAGE can"),
    ],
)
def test_what_can_not_be_in_a_share_is_refused(spec: dict[str, Any], says: str) -> None:
    kind = KINDS["GrantPrivilegesToShare"]
    (fault,) = validation.faults(kind, kind.spec.model_validate({"share": "S", **spec}))
    assert says in fault


def test_shares_of_other_accounts_are_no_shares_of_ours() -> None:
    kind = KINDS["Share"]
    inbound = {"name": "S", "kind": "INBOUND", "owner_account": "ACME.PARTNER"}
    outbound = {**inbound, "kind": "OUTBOUND", "owner_account": "FREEHOLD.DEVSTACK"}
    assert kind.row_of(kind.target(("S",)), [inbound, outbound]) == outbound
    assert kind.row_of(kind.target(("S",)), [inbound]) is None


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"allPrivileges": True, "onAccount": True}, "allPrivileges"),
        ({"privileges": ["USAGE"], "onSchema": {"allSchemasInDatabase": "D"}}, "onSchema.allSchemasInDatabase"),
        (
            {"privileges": ["SELECT"], "onSchemaObject": {"all": {"objectTypePlural": "TABLES", "inDatabase": "D"}}},
            "onSchemaObject.all",
        ),
        (
            {
                "privileges": ["SELECT"],
                "onSchemaObject": {"inherited": {"objectTypePlural": "TABLES", "inDatabase": "D"}},
            },
            "onSchemaObject.inherited",
        ),
    ],
)
def test_grants_that_could_not_be_taken_back_are_refused_with_the_form_to_use(spec: dict[str, Any], field: str) -> None:
    ((refused_field, why),) = refused(KIND.spec.model_validate({"accountRole": "R", **spec}))
    assert refused_field == field
    assert ": name each" in why


OWNED_ROW = {
    "created_on": AT,
    "privilege": "OWNERSHIP",
    "granted_on": "TABLE",
    "granted_to": "ROLE",
    "grantee_name": "R",
}
FUTURE_OWNED = {
    "created_on": AT,
    "privilege": "OWNERSHIP",
    "grant_on": "TABLE",
    "grant_to": "ROLE",
    "grantee_name": "R",
}


@pytest.mark.parametrize(
    ("slot", "row", "same"),
    [
        (slots.ownership(TABLE), OWNED_ROW, True),
        (slots.ownership(TABLE), {**OWNED_ROW, "granted_to": "DATABASE_ROLE"}, True),
        (slots.ownership(TABLE), {**OWNED_ROW, "privilege": "SELECT"}, False),
        (slots.ownership(slots.future_in("TABLES", IN_SCHEMA)), FUTURE_OWNED, True),
        (slots.ownership(slots.future_in("VIEWS", IN_SCHEMA)), FUTURE_OWNED, False),
        (slots.ownership(slots.future_in("TABLES", IN_SCHEMA)), {**FUTURE_OWNED, "privilege": "SELECT"}, False),
    ],
)
def test_whoever_owns_it_is_in_the_slot_of_ownership(slot: Slot, row: dict[str, Any], same: bool) -> None:
    kind = KINDS["GrantOwnership"]
    assert (kind.row_of(kind.target_of(slot), [row]) is not None) is same


@pytest.mark.parametrize(
    "spec",
    [
        {"objectType": "DATABASE", "objectName": "D.S", "accountRole": "R"},
        {"objectType": "SCHEMA", "objectName": "S", "accountRole": "R"},
        {"objectType": "TABLE", "objectName": "D.T", "accountRole": "R"},
        {"objectType": "FUNCTION", "objectName": "D.S.F", "accountRole": "R"},
        {"objectType": "TABLE", "objectName": "D.S.T", "databaseRole": "E.R"},
        {"objectType": "DATABASE", "objectName": "D", "databaseRole": "D.R"},
        {"future": {"objectTypePlural": "TABLES", "inDatabase": "D"}, "databaseRole": "E.R"},
    ],
)
def test_ownership_of_nothing_or_by_a_role_of_elsewhere_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(InvalidName):
        named("GrantOwnership", spec)


def test_an_object_has_one_owner_whoever_is_to_be_it() -> None:
    spec = {"objectType": "TABLE", "objectName": "D.S.T"}
    mine, theirs = (named("GrantOwnership", {**spec, "accountRole": role}) for role in ("MINE", "THEIRS"))
    assert mine == theirs == ['OWNERSHIP ON TABLE "D"."S"."T"']


def test_a_function_whose_owner_is_declared_is_named_with_its_argument_types() -> None:
    kind = KINDS["GrantOwnership"]
    spec = {"objectType": "FUNCTION", "objectName": 'D.S."f(x)"(NUMBER)', "accountRole": "R"}
    assert not validation.faults(kind, kind.spec.model_validate(spec))
    assert named("GrantOwnership", spec) == ['OWNERSHIP ON FUNCTION "D"."S"."f(x)"(NUMBER)']


def test_a_name_of_thousands_of_quotes_is_refused_at_once() -> None:
    """Each pair may be one escaped quote or two names side by side: trying all ways takes for ever."""
    with pytest.raises(InvalidName):
        named_object("FUNCTION", '"' * 1023)


@pytest.mark.parametrize(
    ("spec", "warned"),
    [
        ({"onAccount": True, "privileges": ["CREATE ROLE", "EXECUTE TASK", "MONITOR USAGE"]}, True),
        ({"onAccount": True, "privileges": ["EXECUTE TASK"], "useRole": "ACCOUNTADMIN"}, False),
        ({"onAccount": True, "privileges": ["EXECUTE TASK"], "useRole": "SECURITYADMIN"}, True),
        ({"onAccount": True, "privileges": ["CREATE ROLE", "MANAGE GRANTS"]}, False),
        ({"onSchema": {"schemaName": "D.S"}, "privileges": ["EXECUTE AUTO CLASSIFICATION"]}, False),
    ],
)
def test_what_only_accountadmin_grants_is_warned_of(spec: dict[str, Any], *, warned: bool) -> None:
    found = KIND.advice(KIND.spec.model_validate({"accountRole": "R", **spec}))
    assert bool(found) is warned
    if warned:
        assert "only ACCOUNTADMIN can grant EXECUTE TASK" in found[0]
        assert "CREATE ROLE" not in found[0]
        assert "set useRole" in found[0]


@pytest.mark.parametrize(
    ("future", "warned"),
    [
        ({"inDatabase": "D"}, True),
        ({"inDatabaseRef": {"name": "d"}}, True),
        ({"inSchema": "D.S"}, False),
        ({"inSchemaRef": {"name": "s"}}, False),
    ],
)
def test_what_eclipses_future_grants_of_a_database_is_warned_of(future: dict[str, Any], *, warned: bool) -> None:
    future = {"objectTypePlural": "TABLES", **future}
    spec = {"accountRole": "R", "privileges": ["SELECT"], "onSchemaObject": {"future": future}}
    for kind, given in ((KIND, spec), (KINDS["GrantOwnership"], {"accountRole": "R", "future": future})):
        found = [each for each in kind.advice(kind.spec.model_validate(given)) if "has no effect" in each]
        assert bool(found) is warned
        assert not warned or "future grants of its own on tables" in found[0]


@pytest.mark.parametrize(("object_type", "told"), [("TASK", "suspends the task"), ("PIPE", "pause it"), ("VIEW", "")])
def test_what_else_a_transfer_of_ownership_does_is_told(object_type: str, told: str) -> None:
    kind = KINDS["GrantOwnership"]
    spec = {"objectType": object_type, "objectName": "D.S.X", "accountRole": "R"}
    found = kind.advice(kind.spec.model_validate(spec))
    assert told in " ".join(found)
    assert len(found) == (2 if told else 1)
