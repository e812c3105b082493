"""Task graphs: what is suspended and resumed around a change, and when a task is resumed at all."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import planning
from freehold.kinds.property import Change, Target
from freehold.kinds.schema.task import TASK
from freehold.kinds.task_graphs import around_drop
from freehold.observation import Observation, Row
from freehold.validation import faults

SPEC = {"databaseName": "D", "schemaName": "S", "name": "T", "sqlStatement": "SELECT 1"}
ROOT: Row = {"name": "R", "state": "started", "predecessors": "[]"}
CHILD: Row = {"name": "T", "state": "started", "predecessors": '["D.S.R"]'}
FINALIZER: Row = {
    "name": "T",
    "state": "started",
    "predecessors": "[]",
    "task_relations": '{"FinalizedRootTask":"D.S.R"}',
}


@pytest.mark.parametrize(
    ("rows", "around"),
    [
        ((ROOT, CHILD), ['ALTER TASK "D"."S"."R" SUSPEND', 'ALTER TASK "D"."S"."R" RESUME']),
        ((ROOT, FINALIZER), ['ALTER TASK "D"."S"."R" SUSPEND', 'ALTER TASK "D"."S"."R" RESUME']),
        (({**ROOT, "state": "suspended"}, CHILD), []),
        (({**ROOT, "name": "T"},), ['ALTER TASK "D"."S"."T" SUSPEND']),
        ((), []),
    ],
)
def test_a_root_that_runs_stands_still_while_a_task_of_its_graph_is_dropped(
    rows: tuple[Row, ...], around: list[str]
) -> None:
    steps = around_drop(Target("TASK", ("D", "S", "T")), rows)
    assert [each.statement.text for each in steps] == around
    assert [each.resumes is not None for each in steps] == [text.endswith("RESUME") for text in around]


@pytest.mark.parametrize(
    ("reason", "suspend", "change"),
    [
        ("USER_SUSPENDED", False, Change.ALTER),
        ("SUSPENDED_DUE_TO_ERRORS", False, Change.ASKED),
        ("SUSPENDED_DUE_TO_ERRORS", True, None),
        ("SUSPENDED_DUE_TO_ERRORS", None, None),
    ],
)
def test_a_task_that_failed_is_resumed_only_when_its_user_asks(
    reason: str, suspend: bool | None, change: Change | None
) -> None:
    spec = TASK.spec.model_validate({**SPEC, "suspend": suspend})
    row = {**CHILD, "state": "suspended", "definition": "SELECT 1", "last_suspended_reason": reason}
    found = planning.differences(TASK, spec, Observation(row), {"suspend"})
    assert [each.change for each in found] == ([change] if change else [])


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"schedule": "5 SECONDS"}, "spec.schedule: '5 SECONDS' isn't between"),
        ({"schedule": "USING CRON * * * * UTC"}, "spec.schedule: 'USING CRON * * * * UTC' is no schedule"),
        ({"config": "[1]"}, "spec.config: a JSON object is needed"),
        ({"config": "{"}, "spec.config: it is no JSON"),
        ({"config": '{"a": "$$"}'}, "spec.config: it is put between $$"),
        ({"sqlStatement": "SELECT 1; DROP TABLE T"}, "spec.sqlStatement: ; in line 1 ends a statement"),
        ({"when": "TRUE AS SELECT 1;"}, "spec.when: ; in line 1 ends an expression"),
    ],
)
def test_what_no_statement_can_hold_is_told(fields: dict[str, Any], fault: str) -> None:
    (told,) = faults(TASK, TASK.spec.model_validate({**SPEC, **fields}))
    assert told.startswith(fault)


def test_a_block_with_several_statements_is_one() -> None:
    block = {"sqlStatement": "BEGIN SELECT 1; /* a; */ SELECT $$;$$; END"}
    assert faults(TASK, TASK.spec.model_validate({**SPEC, **block})) == ()
