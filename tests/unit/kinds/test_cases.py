"""Golden cases: for every kind, what Freehold would send, as data for people to read.

A case has a `spec` and one of: `create` (the statement, or a list of those for several slots) with `drop` (likewise);
`show`, `parameters`, `details` (what was seen), `tracked` (the fields that were ever sent) and `unsent` (those whose
value wasn't yet) with `update` (the statements) and `left` (what no statement is sent for, by what it would take)
and `redefine` (the CREATE OR ALTER, or null where it would lose something), or `recreate` (the fields that no ALTER
changes); `old` (another spec) with `recreate` likewise; `adopt` (a row of SHOW)
with `refused` (why it can't be adopted, or null); `content` (each query that is asked before a DROP, with the rows that
it found) with `keeps` (what of them keeps the object). `secrets` is what the Secrets hold that a spec refers to, by
name and key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold import altering, create_or_alter, planning
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change, Target
from freehold.kinds.references import secrets_of, with_secrets
from freehold.kinds.registry import KINDS
from freehold.kinds.secret_inputs import secret_input
from freehold.observation import Observation, Parameter
from freehold.sql import Sql
from freehold_devstack.snowflake.objects import load
from freehold_devstack.snowflake.statements import parse

TYPES = load()
"""The endpoint's object types: every statement must be one that it understands."""

CASES = Path(__file__).parent / "cases"


def _cases() -> list[Any]:
    return [
        pytest.param(kind, case, id=f"{kind.name}: {case['case']}")
        for kind in KINDS.values()
        for case in yaml.safe_load((CASES / f"{kind.name.lower()}.yaml").read_text())
    ]


def _spec(kind: Kind, case: dict[str, Any]) -> Any:
    """The spec, with what its Secrets hold."""
    spec = kind.spec.model_validate(case["spec"])
    secrets: dict[str, dict[str, str]] = case.get("secrets", {})
    held = {each: secret_input(each, secrets[each.name][each.key], "uid") for each in secrets_of(spec)}
    return with_secrets(spec, held)


def _targets(kind: Kind, spec: Any) -> list[Target]:
    computation = kind.names(spec, "default", KINDS)
    try:
        asked = next(computation)
    except StopIteration as done:
        return [kind.target_of(name) for name in done.value]
    raise AssertionError(f"cases name their parents directly, this one asks for {asked}")


def _check_statements(expected: str | list[str], statements: list[Sql]) -> None:
    assert [each.text for each in statements] == ([expected] if isinstance(expected, str) else expected)
    for each in statements:
        parse(each.text, TYPES)


@pytest.mark.parametrize(("kind", "case"), _cases())
def test_statements_are_as_recorded(kind: Kind, case: dict[str, Any]) -> None:
    spec = _spec(kind, case)
    targets = _targets(kind, spec)
    target = targets[0]
    if "create" in case:
        _check_statements(case["create"], [planning.create(kind, each, spec) for each in targets])
        if "drop" in case:
            _check_statements(case["drop"], [planning.drop(kind, each, case.get("show")) for each in targets])
        return
    if "old" in case:
        old = kind.spec.model_validate(case["old"])
        assert [each.name for each, *_ in planning.recreated(kind, old, spec)] == case["recreate"]
        return
    if "adopt" in case:
        assert kind.adoptable(Observation(case["adopt"])) == case["refused"]
        return
    if "content" in case:
        _check_content(kind, target, case)
        return
    deep = not case.get("shallow", False)
    observation = Observation(
        row=case["show"],
        parameters={key: Parameter(*each) for key, each in case.get("parameters", {}).items()} if deep else None,
        details=case.get("details", {}) if deep else None,
    )
    found = planning.differences(kind, spec, observation, case["tracked"], case.get("unsent", ()))
    if "recreate" in case:
        assert [each.field.name for each in found if each.change is Change.RECREATE] == case["recreate"]
        return
    sent = tuple(each for each in found if each.change in (Change.ALTER, Change.ASKED))
    left = {f"{each.field.name}{each.place}": each.change.value for each in found if each not in sent}
    assert left == case.get("left", {})
    steps = altering.alter(kind, target, spec, observation, sent)
    statements = [step.statement.text for step in steps]
    assert statements == case["update"]
    if "redefine" in case:
        redefined = create_or_alter.statement(kind, target, spec, observation, found)
        statements += [redefined.text] if redefined else []
        assert (redefined and redefined.text) == case["redefine"]
    for statement in statements:
        parse(statement, TYPES)


def _check_content(kind: Kind, target: Target, case: dict[str, Any]) -> None:
    """What its DROP would take along, from each query with the rows that it found."""
    assert [each.query(target).text for each in kind.content] == list(case["content"])
    found = zip(kind.content, case["content"].values(), strict=True)
    assert [each.name(row) for each, rows in found for row in rows if each.counts(row)] == case["keeps"]
    for query in case["content"]:
        parse(query, TYPES)


def test_every_case_file_belongs_to_a_kind() -> None:
    assert {path.stem for path in CASES.glob("*.yaml")} == {kind.name.lower() for kind in KINDS.values()}


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.content], ids=lambda kind: kind.name)
def test_what_is_looked_for_before_a_drop_can_be_asked(kind: Kind) -> None:
    target = kind.target(("A", "B", "C")[: kind.level.value])
    for content in kind.content:
        parse(content.query(target).text, TYPES)
