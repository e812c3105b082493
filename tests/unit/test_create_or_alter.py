"""CREATE OR ALTER resets what it leaves out: it is sent only where it leaves nothing out that anybody has set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from freehold import create_or_alter, planning
from freehold.kinds.registry import KINDS
from freehold.observation import Observation, Parameter

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
