"""CREATE OR ALTER resets what it leaves out: it is sent only where it leaves nothing out that anybody has set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from freehold import create_or_alter, planning
from freehold.kinds.clauses import clause
from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, parameter
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.property import Change
from freehold.kinds.registry import KINDS
from freehold.observation import UNKNOWN, Observation, Parameter
from freehold_devstack.snowflake.objects import load
from freehold_devstack.snowflake.statements import parse

TYPES = load()
"""The endpoint's object types: every statement must be one that it understands."""

BORN = datetime(2026, 11, 30, tzinfo=UTC)
OFF = {"LOG_LEVEL": Parameter("OFF", "")}
PINNED = {"LOG_LEVEL": Parameter("OFF", "DATABASE")}
INHERITED = {"LOG_LEVEL": Parameter("OFF", "ACCOUNT")}
UNHEARD_OF = {**OFF, "BRAND_NEW": Parameter("1", "DATABASE")}

CASES = [
    # what is decided, kind, spec, columns, parameters, statement
    ("all that is set is said", "Database", {"comment": "a"}, {}, OFF, "CREATE OR ALTER DATABASE \"X\" COMMENT = 'a'"),
    ("a value from outside isn't the object's", "Database", {"comment": "a"}, {}, INHERITED, "CREATE OR ALTER"),
    ("a parameter that the spec leaves alone is kept", "Database", {"comment": "a"}, {}, PINNED, None),
    ("a parameter that no field declares is kept", "Database", {"comment": "a"}, {}, UNHEARD_OF, None),
    (
        "one that the spec sets is said",
        "Database",
        {"comment": "a", "logLevel": "INFO"},
        {},
        PINNED,
        "LOG_LEVEL = 'INFO'",
    ),
    ("a comment that the spec leaves alone is kept", "Database", {"logLevel": "INFO"}, {"comment": "b"}, OFF, None),
    ("a transient object stays so", "Database", {"comment": "a"}, {"options": "TRANSIENT"}, OFF, None),
    ("what CREATE can't say is kept", "Database", {"comment": "a", "metricLevel": "ALL"}, {}, OFF, None),
    ("what nobody has read is kept", "Database", {"comment": "a"}, {}, None, None),
    (
        "what needs a statement of its own gets it",
        "Schema",
        {"databaseName": "D", "comment": "a", "managedAccess": True},
        {},
        OFF,
        None,
    ),
    (
        "a schema's grants stay its own",
        "Schema",
        {"databaseName": "D", "comment": "a"},
        {},
        OFF,
        "CREATE OR ALTER SCHEMA",
    ),
    (
        "managed access is kept",
        "Schema",
        {"databaseName": "D", "comment": "a"},
        {"options": "MANAGED ACCESS"},
        OFF,
        None,
    ),
    (
        "what a new warehouse would have otherwise is kept",
        "Warehouse",
        {"comment": "a"},
        {"auto_suspend": 60},
        {},
        None,
    ),
    (
        "an action isn't repeated",
        "Database",
        {"comment": "a", "dropPublicSchemaOnCreation": True},
        {},
        OFF,
        "COMMENT = 'a'",
    ),
]


@pytest.mark.parametrize(
    ("kind", "spec", "columns", "parameters", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CASES]
)
def test_nothing_is_lost(
    kind: str, spec: dict[str, Any], columns: dict[str, Any], parameters: Any, expected: str | None
) -> None:
    declared = KINDS[kind]
    wanted = declared.spec.model_validate({"name": "X", **spec})
    target = declared.target(("D", "X") if kind == "Schema" else ("X",))
    seen = Observation({"name": "X", "created_on": BORN, "comment": "", "options": "", **columns}, parameters, {})
    found = planning.differences(declared, wanted, seen, ())
    statement = create_or_alter.statement(declared, target, wanted, seen, found)
    assert (statement is None) == (expected is None)
    assert statement is None or (expected is not None and expected in statement.text)


def test_a_field_that_left_the_spec_is_reset_by_being_left_out() -> None:
    database = KINDS["Database"]
    wanted = database.spec.model_validate({"name": "X", "comment": "a"})
    seen = Observation({"name": "X", "created_on": BORN, "comment": "", "options": ""}, PINNED, {})
    found = planning.differences(database, wanted, seen, {"logLevel"})
    statement = create_or_alter.statement(database, database.target(("X",)), wanted, seen, found)
    assert statement is not None
    assert "LOG_LEVEL" not in statement.text


class ThingSpec(SnowflakeSpec):
    """Something that has a body."""

    name: Name = own_name()
    """Its name."""
    comment: str | None = comment()
    """A note."""
    log_level: str | None = parameter("LOG_LEVEL", create=False, or_alter=True)
    """A parameter that CREATE doesn't take."""
    version: str | None = clause("VERSION", observe=column("version"))
    """Which one."""
    body: str = clause("BODY", observe=column("body"), required=True)
    """What it does."""


THING = Kind(
    spec=ThingSpec,
    domain=Domain.SCHEMA,
    object_type="THING",
    level=Level.ACCOUNT,
    holds_data=False,
    parameters=True,
    create_or_alter=True,
)

REDEFINED = [
    # what is decided, spec, columns, parameters, fields that were sent, what it takes, statement
    ("another body", {}, {"body": "a"}, OFF, (), Change.REDEFINE, "CREATE OR ALTER THING \"X\" BODY = 'b'"),
    ("the same body", {}, {"body": "b"}, OFF, (), None, None),
    ("a body that isn't shown", {}, {"body": UNKNOWN}, OFF, (), None, None),
    ("a comment of others is kept", {}, {"body": "a", "comment": "c"}, OFF, (), Change.RECREATE, None),
    (
        "a parameter of others is kept",
        {},
        {"body": "a"},
        {"LOG_LEVEL": Parameter("INFO", "THING")},
        (),
        Change.RECREATE,
        None,
    ),
    (
        "what CREATE doesn't take is said",
        {"logLevel": "INFO"},
        {"body": "a"},
        OFF,
        (),
        Change.REDEFINE,
        "CREATE OR ALTER THING \"X\" LOG_LEVEL = 'INFO' BODY = 'b'",
    ),
    (
        "a removed clause is left out",
        {},
        {"body": "b", "version": "1"},
        OFF,
        ("version",),
        Change.REDEFINE,
        "CREATE OR ALTER THING \"X\" BODY = 'b'",
    ),
    ("a clause of others is kept", {}, {"body": "a", "version": "1"}, OFF, (), Change.RECREATE, None),
    ("a look at SHOW alone decides nothing", {}, {"body": "a"}, None, (), Change.RECREATE, None),
]


@pytest.mark.parametrize(
    ("spec", "columns", "parameters", "tracked", "change", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in REDEFINED],
)
def test_what_no_alter_changes_is_redefined_or_takes_another_object(
    spec: dict[str, Any],
    columns: dict[str, Any],
    parameters: Any,
    tracked: tuple[str, ...],
    change: Change | None,
    expected: str | None,
) -> None:
    wanted = ThingSpec.model_validate({"name": "X", "body": "b", **spec})
    target, seen = THING.target(("X",)), Observation({"comment": "", "version": None, **columns}, parameters, {})
    found = planning.differences(THING, wanted, seen, tracked)
    settled = create_or_alter.settled(THING, target, wanted, seen, found, lacking=False)
    assert {each.change for each in settled if each.name != "logLevel"} == ({change} if change else set())
    statement = create_or_alter.statement(THING, target, wanted, seen, found) if settled == found else None
    assert expected == (statement.text if statement and change else None)


def test_what_is_to_be_redefined_takes_another_object_where_the_account_lacks_the_statement() -> None:
    wanted = ThingSpec.model_validate({"name": "X", "body": "b", "comment": "c"})
    target, seen = THING.target(("X",)), Observation({"comment": "", "version": None, "body": "a"}, OFF, {})
    found = planning.differences(THING, wanted, seen, ())
    settled = create_or_alter.settled(THING, target, wanted, seen, found, lacking=True)
    assert [(each.name, each.change) for each in settled] == [
        ("comment", Change.ALTER),
        ("body", Change.RECREATE),
    ]


def test_create_leaves_out_what_create_or_alter_alone_takes() -> None:
    wanted = ThingSpec.model_validate({"name": "X", "body": "b", "logLevel": "INFO"})
    assert planning.create(THING, THING.target(("X",)), wanted).text == "CREATE THING \"X\" BODY = 'b'"


PLAIN = {"is_secure": "false", "change_tracking": "OFF", "comment": "", "text": "CREATE VIEW V AS SELECT ID FROM T"}

VIEWS = [
    # what is decided, spec, columns of SHOW, columns of the view, statement or what is to be said as well
    (
        "another query, with all that the manifest says",
        {"secure": True, "comment": "c", "statement": "SELECT ID, NAME FROM T"},
        {"is_secure": "true", "comment": "c"},
        [{"name": "ID", "type": "DATE"}],
        'CREATE OR ALTER SECURE VIEW "DB"."SC"."V" COMMENT = \'c\' AS SELECT ID, NAME FROM T',
    ),
    (
        "columns with comments and without policies, which stay",
        {"columns": [{"name": "A", "comment": "a", "maskingPolicy": {"policy": "G.P.M"}}, {"name": "B"}]}
        | {"rowAccessPolicy": {"policy": "G.P.R", "columns": ["A"]}, "statement": "SELECT 1, 2"},
        {},
        [{"name": "A", "type": "DATE", "comment": "theirs"}],
        'CREATE OR ALTER VIEW "DB"."SC"."V" ("A" COMMENT \'a\', "B") AS SELECT 1, 2',
    ),
    (
        "what others have set is not taken away",
        {"statement": "SELECT 1 AS A"},
        {"is_secure": "true", "change_tracking": "ON", "comment": "theirs"},
        [{"name": "ID", "type": "DATE", "comment": "theirs"}],
        "if the manifest said secure, columns, changeTracking, comment, too",
    ),
    (
        "comments of columns that can't be seen may be there",
        {"statement": "SELECT 1 AS A"},
        {},
        None,
        "if the manifest said columns, too",
    ),
]


@pytest.mark.parametrize(
    ("spec", "shown", "columns", "expected"), [pytest.param(*case[1:], id=case[0]) for case in VIEWS]
)
def test_another_query_redefines_a_view_unless_something_would_be_lost(
    spec: dict[str, Any], shown: dict[str, Any], columns: Any, expected: str
) -> None:
    view = KINDS["View"]
    wanted = view.spec.model_validate({"name": "V", "databaseName": "DB", "schemaName": "SC", **spec})
    details = {} if columns is None else {"columns": tuple(columns)}
    target, seen = view.target(("DB", "SC", "V")), Observation({**PLAIN, **shown}, {}, details)
    found = planning.differences(view, wanted, seen, ())
    settled = create_or_alter.settled(view, target, wanted, seen, found, lacking=False)
    statement = create_or_alter.statement(view, target, wanted, seen, settled)
    if statement is not None:
        assert statement.text == expected
        parse(statement.text, TYPES)
    else:
        assert {each.change for each in settled} == {Change.RECREATE}
        assert [each.advised for each in settled if each.advised.endswith(expected)]
