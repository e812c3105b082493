"""ALTER: from what differs to the statements that mend it. Pure; every kind goes through the same functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import groupby

from freehold import sql
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change, Target
from freehold.kinds.steps import Difference, Step
from freehold.observation import Observation
from freehold.sql import Sql


def alter(
    kind: Kind, target: Target, spec: SnowflakeSpec, observation: Observation, found: tuple[Difference, ...]
) -> tuple[Step, ...]:
    """The statements that mend differences: one SET, one UNSET, then those of fields with a statement of their own.

    Args:
        kind: the kind.
        target: the object.
        spec: what is wanted.
        observation: what is there.
        found: differences; of those that are to be redefined nothing is said.
    """
    found = tuple(each for each in found if each.change is not Change.REDEFINE)
    if kind.filling and kind.filling.refill and target.slot:
        return (Step(kind.filling.refill(target.slot, spec)),) if found else ()
    assignments: list[Sql] = []
    resets: list[Sql] = []
    own: list[tuple[_Rank, Step]] = []
    for _, group in groupby(_with_companions(kind, spec, found), key=lambda each: each.field.name):
        of_field = tuple(group)
        each, facts = of_field[0], of_field[0].field.facts
        rank = _Rank.DISCRIMINATOR if each.name == kind.discriminator else _Rank.RESET if each.reset else _Rank.SET
        if facts.differ is not None:
            own.extend((rank, Step(statement)) for statement in _on_items(target, of_field))
        elif facts.alter is not None:
            statements = facts.alter(target, each.field.value(spec), each.observed)
            own.extend((rank, Step(statement)) for statement in statements)
        elif each.reset and facts.reset.to(spec) is None:
            unset = sql.words(facts.sql)
            if facts.own_statement:
                own.append((rank, Step(target.alter(_unset([unset])), facts.reset.done_on)))
            else:
                resets.append(unset)
        else:
            assignment = facts.assignment(facts.reset.to(spec) if each.reset else each.desired)
            if facts.own_statement:
                done_on = facts.reset.done_on if each.reset else facts.done_on
                own.append((rank, Step(target.alter(_set(kind, [assignment])), done_on)))
            else:
                assignments.append(assignment)
    ranked = [(_Rank.SET, Step(target.alter(_set(kind, assignments))))] if assignments else []
    ranked += [(_Rank.RESET, Step(target.alter(_unset(resets))))] if resets else []
    ranked += own
    if any(each.name == kind.discriminator for each in found):
        ranked.sort(key=lambda pair: pair[0])
    # Several fields may be mended by one statement.
    steps = tuple(dict.fromkeys(step for _, step in ranked))
    return kind.around_alter(target, observation, found, steps) if kind.around_alter and steps else steps


class _Rank(IntEnum):
    """The order of statements where it changes which fields an object may have."""

    RESET = 0
    DISCRIMINATOR = 1
    SET = 2


def _with_companions(kind: Kind, spec: SnowflakeSpec, found: tuple[Difference, ...]) -> Iterable[Difference]:
    """The differences in the order of declaration, with the fields that must go along with one of them."""
    by_field: dict[str, list[Difference]] = {}
    for each in found:
        by_field.setdefault(each.field.attribute, []).append(each)
    needed = {name for each in found for name in kind.companions.get(each.field.name, ())}
    for field in kind.fields:
        if field.attribute in by_field:
            yield from by_field[field.attribute]
        elif field.name in needed and (value := field.value(spec)) is not None:
            desired = field.facts.codec.canonical(value)
            yield Difference(field, desired, desired, Change.ALTER)


def _on_items(target: Target, found: Iterable[Difference]) -> Iterator[Sql]:
    """The statements about items of one field: one for each verb, and those of actions that stand alone."""
    clauses: dict[tuple[str, int], list[Sql]] = {}
    for at, action in enumerate(action for each in found for action in each.actions):
        if action.whole:
            yield action.whole(target)
            continue
        clauses.setdefault((action.verb, at if action.alone else -1), []).append(action.clause)
    for (verb, _), those in clauses.items():
        yield target.alter(sql.sql("{verb} {all}", verb=sql.words(verb), all=sql.join(those, ", ")))


def _set(kind: Kind, assignments: list[Sql]) -> Sql:
    return sql.sql("SET {all}", all=sql.join(assignments, kind.separator))


def _unset(keys: list[Sql]) -> Sql:
    return sql.sql("UNSET {all}", all=sql.join(keys, ", "))
