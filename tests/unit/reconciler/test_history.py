"""What was dropped: proved by the row of exactly that incarnation, or of what it lay in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from freehold.claims import Evidence
from freehold.kinds.registry import KINDS
from freehold.observation import Row
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.history import was_dropped
from freehold.sql import Sql

BORN = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
EVIDENCE = Evidence(how="created", created_on=BORN, role="R", time=BORN + SECOND)
HIDDEN = SnowflakeError("does not exist or not authorized", number=2003, sqlstate="02000")
DOWN = SnowflakeError("no", number=253003, sqlstate="08001")


def row(name: str, began: float, ended: float | None, **names: str) -> Row:
    """A row of SHOW ... HISTORY, with seconds since the object was made."""
    dropped_on = None if ended is None else BORN + ended * SECOND
    return {"name": name, "created_on": BORN + began * SECOND, "dropped_on": dropped_on, **names}


Answers = dict[str, Sequence[Row] | SnowflakeError]


async def dropped(kind: str, parts: tuple[str, ...], answers: Answers) -> bool:
    """`answers` by the words of SHOW."""

    async def query(statement: Sql) -> Sequence[Row]:
        asked = statement.text.removeprefix("SHOW ").partition(" HISTORY LIKE")[0]
        answer = answers[asked]
        if isinstance(answer, SnowflakeError):
            raise answer
        return answer

    return await was_dropped(query, KINDS[kind], KINDS[kind].target(parts), EVIDENCE)


SCHEMA = {"database_name": "D"}


@pytest.mark.parametrize(
    ("answers", "proved"),
    [
        pytest.param({"DATABASES": []}, False, id="nothing is told"),
        pytest.param({"DATABASES": [row("D", 0, 5)]}, True, id="this incarnation was dropped"),
        pytest.param({"DATABASES": [row("D", 0, None)]}, False, id="it is there"),
        pytest.param({"DATABASES": [row("D", -9, -5)]}, False, id="an earlier one was dropped"),
        pytest.param({"DATABASES": [row("D", 2, 5)]}, False, id="a later one was dropped"),
        pytest.param({"DATABASES": [row("d", 0, 5)]}, False, id="another name was dropped"),
        pytest.param({"DATABASES": HIDDEN}, False, id="an error tells nothing"),
    ],
)
async def test_an_object_is_gone_when_its_own_end_is_told(answers: Answers, proved: bool) -> None:
    assert await dropped("Database", ("D",), answers) == proved


@pytest.mark.parametrize(
    ("answers", "proved"),
    [
        pytest.param({"SCHEMAS": HIDDEN, "DATABASES": []}, False, id="nothing is told of the database"),
        pytest.param({"SCHEMAS": HIDDEN, "DATABASES": [row("D", -9, 5)]}, True, id="its database was dropped"),
        pytest.param({"SCHEMAS": [], "DATABASES": [row("D", -9, 5)]}, True, id="its database is another one by now"),
        pytest.param({"SCHEMAS": HIDDEN, "DATABASES": [row("D", -9, 0.5)]}, False, id="dropped before that"),
        pytest.param({"SCHEMAS": HIDDEN, "DATABASES": [row("D", 2, 5)]}, False, id="made after that"),
        pytest.param({"SCHEMAS": HIDDEN, "DATABASES": [row("D", -9, None)]}, False, id="the database is there"),
        pytest.param({"SCHEMAS": [row("S", 0, 5, **SCHEMA)]}, True, id="dropped itself"),
    ],
)
async def test_an_object_is_gone_with_what_it_lay_in(answers: Answers, proved: bool) -> None:
    assert await dropped("Schema", ("D", "S"), answers) == proved


async def test_what_a_schema_holds_is_gone_with_its_database() -> None:
    answers: Answers = {"TABLES": HIDDEN, "SCHEMAS": HIDDEN, "DATABASES": [row("D", -9, 5)]}
    assert await dropped("Table", ("D", "S", "T"), answers)


async def test_no_answer_is_no_proof_and_no_end_of_the_question() -> None:
    with pytest.raises(SnowflakeError):
        await dropped("Database", ("D",), {"DATABASES": DOWN})
