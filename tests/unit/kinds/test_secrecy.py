"""What people write credentials into, or take from Secrets: it is sent and compared, and shown to nobody."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import altering, fingerprint, planning, recreation, validation
from freehold.kinds.references import secrets_of, with_secrets
from freehold.kinds.registry import KINDS
from freehold.kinds.secret_inputs import secret_input
from freehold.observation import Observation

CANARY = "canary-9f2c"
IN_SCHEMA = {"databaseName": "D", "schemaName": "S", "name": "X"}
BODY = f"CALL LOG_IN('{CANARY}')"
CONFIG = f'{{"token":"{CANARY}"}}'


def _spec(kind: str, **given: Any) -> Any:
    return KINDS[kind].spec.model_validate({**IN_SCHEMA, **given})


@pytest.mark.parametrize(
    ("given", "row"),
    [
        ({"sqlStatement": BODY}, {"definition": "SELECT 1"}),
        ({"sqlStatement": "SELECT 1"}, {"definition": BODY}),
        ({"sqlStatement": "SELECT 1", "config": CONFIG}, {"definition": "SELECT 1", "config": "{}"}),
        ({"sqlStatement": "SELECT 1", "config": "{}"}, {"definition": "SELECT 1", "config": CONFIG}),
        ({"sqlStatement": "SELECT 1"}, {"definition": "SELECT 1", "config": CONFIG}),
    ],
)
def test_what_a_task_runs_with_is_shown_to_nobody(given: dict[str, Any], row: dict[str, Any]) -> None:
    kind, spec = KINDS["Task"], _spec("Task", **given)
    target = kind.target(("D", "S", "X"))
    seen = Observation({"name": "X", "state": "suspended", "predecessors": "[]", **row}, {}, {"graph": ()})
    found = planning.differences(kind, spec, seen, ("config", "sqlStatement"))
    steps = altering.alter(kind, target, spec, seen, found)
    created = planning.create(kind, target, spec)
    assert steps
    told = [form for each in found for form in (each.mended, str(each))]
    shown = (*told, *map(repr, steps), *(str(step.statement) for step in steps), str(created), repr(spec))
    assert not [each for each in shown if CANARY in each]
    assert CANARY in created.text + str(row)


@pytest.mark.parametrize(
    "text", [f"SELECT 1; '{CANARY}'", f"BEGIN SELECT 1; END '{CANARY}'", f"'{CANARY}' ; ;", f"'{CANARY}"]
)
def test_what_is_wrong_with_a_statement_quotes_no_string(text: str) -> None:
    faults = validation.faults(KINDS["Task"], _spec("Task", sqlStatement=text))
    assert faults
    assert CANARY not in str(faults)


def test_a_value_of_a_secret_in_a_group_counts_by_its_version_and_is_shown_to_nobody() -> None:
    kind = KINDS["ExternalStage"]
    key = {"name": "aws", "key": "k"}
    spec = _spec("ExternalStage", url="s3://b/", credentials={"awsKeyId": key, "awsSecretKey": key})
    given = [
        with_secrets(spec, {each: secret_input(each, value, "uid") for each in secrets_of(spec)})
        for value in (CANARY, "another")
    ]
    before, after = (fingerprint.applied(kind, each) for each in given)
    assert fingerprint.changed(before, after) >= {"credentials"}
    created = planning.create(kind, kind.target(("D", "S", "X")), given[0])
    assert created.text.count(CANARY) == 2
    seen = Observation({"has_credentials": "N", "url": "s3://b/"})
    (difference,) = planning.differences(kind, given[0], seen, ())
    (refusal,) = recreation.changes(kind, given[0], _spec("ExternalStage", url="s3://b/"))
    shown = (str(created), repr(given[0]), difference.mended, str(difference), refusal, repr(difference))
    assert not [each for each in shown if CANARY in each]
