"""Every row of the table of answers, through the real driver: to a statement, and to a log-in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from freehold import planning
from freehold.kinds.registry import KINDS
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.table import SQLSTATES, TABLE
from freehold.snowflake.errors import OUTCOME_UNKNOWN, CredentialsRefused, LoginFailed, OutcomeUnknown, SnowflakeError
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.sight import Sight
from freehold.sql import literal, sql
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault

from .conftest import TAG

UNLISTED = 999999
UNLISTED_STATE = "99999"


@dataclass(frozen=True)
class Answer:
    """What the server says, and what it means.

    Attributes:
        number: its number.
        sqlstate: its SQLSTATE.
        text: its message.
        kind: the class that it has.
        advice: what people are told.
    """

    number: int
    sqlstate: str
    text: str
    kind: ErrorClass
    advice: str = ""

    def fault(self, match: str) -> Fault:
        return Fault(match=match, action="error", number=self.number, sqlstate=self.sqlstate, message=self.text)


def sample(pattern: str) -> str:
    """A message that a pattern of the table finds."""
    return pattern.replace(".*", "'X'").replace("\\", "")


def answers() -> Iterator[Answer]:
    for kind, rows in TABLE.items():
        for row in rows:
            for number in row.numbers:
                yield Answer(number, UNLISTED_STATE, "SQL compilation error:\nIt says 'no'.", kind, row.advice)
            if row.pattern:
                yield Answer(UNLISTED, UNLISTED_STATE, f"It says: {sample(row.pattern)}.", kind, row.advice)
    for kind, states in SQLSTATES.items():
        for state in states:
            yield Answer(UNLISTED, state.ljust(5, "0"), "It says 'no'.", kind)
    yield Answer(UNLISTED, UNLISTED_STATE, "It says 'no'.", ErrorClass.UNKNOWN)
    yield Answer(-20000, "P0001", "Uncaught exception of type 'MINE'.", ErrorClass.TERMINAL)


async def test_every_answer_to_a_statement_has_its_class_its_number_and_its_advice(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    async def ask(place: int, answer: Answer) -> tuple[Answer, SnowflakeError]:
        # Told apart by the statement: all of them go over one session at a time.
        endpoint.faults.add(answer.fault(f"'answer {place}'"))
        with pytest.raises(SnowflakeError) as told:
            await snowflake.execute(settings, sql("SELECT {it}", it=literal(f"answer {place}")), TAG)
        return answer, told.value

    asked = list(enumerate(answers()))
    ended = [each for each in asked if each[1].kind is ErrorClass.SESSION]
    found = await asyncio.gather(*(ask(*each) for each in asked if each not in ended))
    found += [await ask(*each) for each in ended]

    for answer, told in found:
        assert (told.error_class, told.number) == (answer.kind, answer.number), answer
        assert isinstance(told, OutcomeUnknown) is (answer.number in OUTCOME_UNKNOWN), answer
        untold = answer.kind in (ErrorClass.TRANSIENT, ErrorClass.SESSION, ErrorClass.UNKNOWN) or answer.number == 709
        assert told.outcome_known is not untold, answer
        assert answer.advice in str(told)
        if answer.kind is not ErrorClass.SESSION:  # for most of them the driver has a text of its own
            assert " ".join(answer.text.split()).removesuffix(".") in str(told)
    for place, _ in asked:
        assert len(endpoint.journal.statements(f"'answer {place}'")) == 1
    # The first session serves all that leave it alone, and the first that doesn't.
    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == len(ended)


def login_answers() -> list[Answer]:
    listed = (ErrorClass.AUTHENTICATION, ErrorClass.THROTTLED, ErrorClass.TRANSIENT)
    return [each for each in answers() if each.kind in listed and each.sqlstate == UNLISTED_STATE]


async def test_every_answer_to_a_log_in_has_its_class_its_number_and_its_advice(
    settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    asked = login_answers()

    for answer in asked:
        endpoint.faults.add(answer.fault("^LOGIN"))
        async with Snowflake("prod") as snowflake:
            with pytest.raises(LoginFailed) as told:
                await snowflake.verify(settings)

        assert (told.value.error_class, told.value.number) == (answer.kind, answer.number), answer
        assert told.value.outcome_known
        assert answer.advice in str(told.value)
        assert "Secret team/snowflake, key private_key.pem" in str(told.value)

    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == len(asked)


async def test_a_log_in_that_is_refused_for_an_unknown_reason_is_not_repeated(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="^LOGIN", action="error", number=390999, message="Not today."))

    for _ in range(2):
        with pytest.raises(CredentialsRefused, match=r"390999: .*Not today\.") as refusal:
            await snowflake.execute(settings, sql("SELECT 1"), TAG)

    assert refusal.value.reason == "CredentialsError"
    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 1


async def test_what_a_secret_statement_is_refused_with_does_not_tell_the_secret(
    snowflake: Snowflake,
    settings: ConnectionSettings,
    endpoint: SnowflakeEndpoint,
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = "canary-9f2c's \\ end"
    statement = sql("ALTER USER U SET PASSWORD = {it}", it=literal(secret, secret=True))
    message = f"syntax error line 1 at position 29 unexpected '{secret}' near {statement.text}, Reason: 'PRIOR_USE'"
    endpoint.faults.add(Fault(match="ALTER USER", action="error", number=1003, message=message))

    with caplog.at_level(logging.DEBUG), pytest.raises(SnowflakeError) as told:
        await snowflake.execute(settings, statement, TAG)

    assert "canary" not in caplog.text
    assert "canary" not in f"{told.value!r} {told.value} {told.value.message} {told.value.trace} {told.value.args}"
    assert "Reason: 'PRIOR_USE'" in str(told.value)


IN_SCHEMA = {"databaseName": "D", "schemaName": "S", "name": "X"}
WRITTEN = "'canary-9f2c' || canary_column"
TEXTS: dict[str, dict[str, object]] = {
    "FunctionSQL": {"returns": "VARCHAR", "body": WRITTEN},
    "FunctionJavascript": {"returns": "VARCHAR", "body": WRITTEN},
    "ProcedureSQL": {"returns": "VARCHAR", "body": f"BEGIN\n  RETURN {WRITTEN};\nEND"},
    "MaskingPolicy": {"signature": [{"name": "V", "type": "VARCHAR"}], "body": WRITTEN},
    "RowAccessPolicy": {"signature": [{"name": "V", "type": "VARCHAR"}], "body": f"V = {WRITTEN}"},
    "Task": {"sqlStatement": f"SELECT {WRITTEN}"},
}
"""Specs with texts in which people may write secrets, by kind."""

with_texts = pytest.mark.parametrize("kind", TEXTS)
QUOTING = f"SQL compilation error:\nsyntax error line 1 at position 9 unexpected '{WRITTEN}' near 'canary_column'."


@with_texts
async def test_nobody_is_told_what_is_quoted_of_a_text_that_is_sent(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, kind: str
) -> None:
    declared = KINDS[kind]
    spec = declared.spec.model_validate({**IN_SCHEMA, **TEXTS[kind]})
    statement = planning.create(declared, declared.target(("D", "S", "X")), spec)
    endpoint.faults.add(Fault(match="^CREATE", action="error", number=1003, sqlstate="42000", message=QUOTING))

    with pytest.raises(SnowflakeError) as told:
        await snowflake.execute(settings, statement, TAG)

    assert "canary" in statement.text
    assert "canary" not in f"{told.value!r} {told.value} {told.value.trace} {told.value.args}"
    assert "syntax error line 1 at position 9 unexpected '" in str(told.value)


@with_texts
async def test_nobody_is_told_what_is_quoted_of_it_when_it_is_read(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, kind: str
) -> None:
    declared = KINDS[kind]
    spec = declared.spec.model_validate({**IN_SCHEMA, **TEXTS[kind]})
    target = declared.target(("D", "S", "X"))
    sight = Sight(snowflake, settings, "OPERATOR", declared, target, TAG, planning.details(declared, spec, ()), spec)
    endpoint.faults.add(Fault(match="^SHOW|^DESCRIBE", action="error", number=1003, sqlstate="42000", message=QUOTING))

    with pytest.raises(SnowflakeError) as told:
        await sight.look("deep")

    assert "canary" not in f"{told.value!r} {told.value} {told.value.args}"
    assert "syntax error line 1 at position 9 unexpected '" in str(told.value)


async def test_a_server_that_quotes_the_password_makes_nobody_tell_it(
    settings: ConnectionSettings, snowflake: Snowflake, endpoint: SnowflakeEndpoint
) -> None:
    wrong = replace(settings, credential=Password("Secret team/snowflake, key password", "canary-9f2c"))
    endpoint.faults.add(Fault(match="^LOGIN", action="error", number=390100, message="Not 'canary-9f2c', Anna."))

    with pytest.raises(CredentialsRefused, match=r"Not '\*\*\*', Anna") as told:
        await snowflake.verify(wrong)

    assert "canary" not in f"{told.value!r} {told.value}"
