"""CREATE OR ALTER, in place of ALTER: only where it says all that is set on an object, for it resets whatever it leaves
out. Pure.

Source: "CREATE OR ALTER <object>" in Snowflake's documentation; what it resets may be nobody's of ours.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import replace

from freehold import altering, planning
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change, Property, Target
from freehold.kinds.steps import Difference, Step
from freehold.observation import Observation, Unknown
from freehold.sql import Sql

_SAID = frozenset({Change.ALTER, Change.REDEFINE})


def redefines(found: Sequence[Difference]) -> bool:
    """Whether something differs that no other statement mends."""
    return any(each.change is Change.REDEFINE for each in found)


def settled(
    kind: Kind,
    target: Target,
    spec: SnowflakeSpec,
    observation: Observation,
    found: tuple[Difference, ...],
    *,
    lacking: bool,
) -> tuple[Difference, ...]:
    """What differs, with what it takes in this account: another object, where it can't be redefined.

    Args:
        kind: the kind.
        target: the object.
        spec: what is wanted.
        observation: all of what is there.
        found: all that differs.
        lacking: whether the account has no CREATE OR ALTER of the kind.
    """
    if not redefines(found) or (not lacking and statement(kind, target, spec, observation, found) is not None):
        return found
    missing = () if lacking else _unsaid(kind, spec, observation, found)
    remedy = f"it could be redefined in place if the manifest said {', '.join(missing)}, too" if missing else ""
    return tuple(
        replace(each, change=Change.RECREATE, remedy=remedy) if each.change is Change.REDEFINE else each
        for each in found
    )


def statement(
    kind: Kind, target: Target, spec: SnowflakeSpec, observation: Observation, found: tuple[Difference, ...]
) -> Sql | None:
    """The statement that mends differences as a whole; None where it can't, or might lose what we don't manage.

    Args:
        kind: the kind.
        target: the object.
        spec: what is wanted.
        observation: all of what is there.
        found: all that differs. Where it must be redefined, what has a statement of its own gets that afterwards.
    """
    if not kind.create_or_alter or observation.parameters is None or any(each.change not in _SAID for each in found):
        return None
    if not redefines(found):
        if any(_has_statements_of_its_own(each.field.facts) for each in found):
            return None
        # Whatever else must happen around the change.
        if any(step != Step(step.statement) for step in altering.alter(kind, target, spec, observation, found)):
            return None
    if _unsaid(kind, spec, observation, found):
        return None
    return planning.create(kind, target, spec, or_alter=True)


def _unsaid(
    kind: Kind, spec: SnowflakeSpec, observation: Observation, found: tuple[Difference, ...]
) -> tuple[str, ...]:
    """Fields and parameters that the statement would take from the object: it can't say them, or they are somebody
    else's."""
    reset, said, unsaid = {each.name for each in found if each.reset}, set[str](), list[str]()
    for each in kind.fields:
        facts, given = each.facts, each.value(spec) is not None
        if each.name in reset or (given and facts.stands_in_create(or_alter=True)):
            said.add(facts.sql)
        elif _loses(facts, observation) if not given else facts.managed and facts.sql:
            unsaid.append(each.name)
    pinned = {key for key, each in (observation.parameters or {}).items() if each.level == kind.object_type}
    return (*unsaid, *sorted(pinned - said))


def _has_statements_of_its_own(facts: Property) -> bool:
    return facts.own_statement or facts.alter is not None or facts.differ is not None


def _loses(facts: Property, observation: Observation) -> bool:
    """Whether an object has something that a statement without the field would take from it; parameters apart, and
    what nothing tells of."""
    told = facts.observe is not None and not facts.source.startswith("parameters.")
    if not facts.managed or not facts.stands_in_create(or_alter=True) or not told:
        return False
    observed = facts.read(observation)
    if observed is False and facts.clause is not None:
        return facts.clause(False) is not None
    if isinstance(observed, Unknown):
        # What takes another object is none of the statement's to take away.
        return facts.change is not Change.RECREATE
    if observed is None or (isinstance(observed, Sized) and not observed):
        return False
    meant = facts.meaning(None)
    return meant is None or not facts.codec.matches(meant, observed)
