"""The statements of a resource's life as they follow from specs alone."""

from __future__ import annotations

from collections.abc import Iterator

from freehold import altering, planning
from freehold.fingerprint import applied
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.filling import Filling
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change, Target
from freehold.kinds.spec_fields import compared
from freehold.kinds.steps import Difference
from freehold.observation import Observation
from freehold.sql import Sql


def around(kind: Kind, target: Target) -> Iterator[Sql]:
    """What is asked about an object, and the statement that takes it away."""
    yield kind.show(target)
    if kind.filling is None:
        yield kind.show_all(target)
    if kind.parameters:
        yield kind.show_parameters(target)
    yield from (query(target) for query in kind.details.values())
    yield from (each.query(target) for each in kind.content)
    if kind.filling is None:
        yield planning.drop(kind, target)
    elif target.slot and kind.filling.named is Filling.named and (emptied := kind.filling.empty(target.slot, False)):
        yield emptied


def update(kind: Kind, target: Target, old: SnowflakeSpec, new: SnowflakeSpec) -> tuple[Sql, ...]:
    """The statements that change an object which is as the one spec says into one that is as the other says."""
    found = tuple(each for each in differences(kind, old, new) if each.change in (Change.ALTER, Change.ASKED))
    seen = Observation({"name": target.parts[-1] if target.parts else ""})
    return tuple(step.statement for step in altering.alter(kind, target, new, seen, found))


def differences(kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec) -> Iterator[Difference]:
    """What differs in it: the old spec stands for what is there."""
    sent = applied(kind, old)
    for field in (each for each in kind.fields if each.facts.managed):
        had = {each.name: value for each, value in compared(field, old, sent)}
        for each, after in compared(field, new, sent):
            facts, before = each.facts, had.get(each.name)
            if before == after:
                continue
            if facts.differ is not None:
                observed = facts.codec.canonical(before if before is not None else ())
                yield from (Difference.inside(each, found) for found in facts.differ(new, observed, sent))
            elif after is not None or not facts.reset.keep:
                observed, meant = facts.canonical(facts.meaning(before)), facts.canonical(facts.meaning(after))
                change = facts.change_between(observed, meant)
                yield Difference(each, facts.canonical(after), observed, change)
