"""What to send: from a spec and an observation to statements. Pure; every kind goes through the same functions.

A field that is nil is unmanaged: never sent, never compared. A field that was sent and is nil now goes back by its
own reset form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from freehold import sql
from freehold.fingerprint import applied
from freehold.identifiers import InvalidName, needs_quotes
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import SHOWN, Kind
from freehold.kinds.property import NOT_OURS, Change, Place, Target
from freehold.kinds.spec_fields import SpecField, attributes_of, compared, sent_values, value_name
from freehold.kinds.steps import Difference
from freehold.kube.text import shortened
from freehold.observation import Observation, Row, Unknown
from freehold.sql import Sql


def create(kind: Kind, target: Target, spec: SnowflakeSpec, *, or_alter: bool = False) -> Sql:
    """The plain CREATE: Snowflake itself is the arbiter of who comes first, so never OR REPLACE or IF NOT EXISTS. Of a
    slot, what fills it.

    Args:
        kind: the kind.
        target: the object.
        spec: what is wanted.
        or_alter: whether it is to update an object that is ours already, as `create_or_alter` allows it.

    Raises:
        InvalidName: a field holds a name that can't be one.
    """
    if kind.filling and target.slot:
        return kind.filling.fill(target.slot, spec)
    clauses: dict[Place, list[Sql]] = {place: [] for place in Place}
    if kind.create_prefix and (prefix := kind.create_prefix(spec)):
        clauses[Place.BEFORE_TYPE].append(prefix)
    for each in kind.fields:
        if clause := _create_clause(each, spec, or_alter=or_alter):
            clauses[each.facts.place].append(clause)
    elements = clauses[Place.ELEMENTS]
    if kind.create_words:
        clauses[Place.AFTER_NAME].append(sql.words(kind.create_words))
    if kind.introduction and clauses[Place.PROPERTIES]:
        clauses[Place.AFTER_NAME].append(sql.words(kind.introduction))
    return sql.join(
        (
            sql.words("CREATE OR ALTER" if or_alter else "CREATE"),
            *clauses[Place.BEFORE_TYPE],
            target.type,
            target.bare_name,
            *([sql.sql("({all})", all=sql.join(elements, ", "))] if elements or kind.arguments else ()),
            *clauses[Place.AFTER_NAME],
            *clauses[Place.PROPERTIES],
            *clauses[Place.AFTER_PROPERTIES],
            *clauses[Place.END],
        )
    )


def check_create(kind: Kind, spec: SnowflakeSpec, before: SnowflakeSpec | None = None) -> None:
    """Try what CREATE would say of a spec's fields.

    Args:
        kind: the kind.
        spec: what is wanted.
        before: a spec that was tried already; fields that are the same in both are passed over.

    Raises:
        InvalidName: as `create`.
    """
    for each in kind.fields:
        if before is None or each.value(spec) != each.value(before):
            _create_clause(each, spec)


def _create_clause(each: SpecField, spec: SnowflakeSpec, *, or_alter: bool = False) -> Sql | None:
    facts, value = each.facts, each.value(spec)
    if value is None or not facts.stands_in_create(or_alter=or_alter):
        return None
    try:
        return facts.create_clause(value, or_alter=or_alter)
    except InvalidName as error:
        raise InvalidName(f"spec.{each.name}: {error}") from error


def privilege_to_create(kind: Kind) -> str:
    """The privilege on what contains an object by which a role may create it ("Access control privileges" in
    Snowflake's documentation)."""
    # All types of integrations have one privilege.
    return f"CREATE {'INTEGRATION' if kind.object_type.endswith(' INTEGRATION') else kind.object_type}"


def grant_to_create(kind: Kind, target: Target, role: str) -> Sql:
    """The GRANT by which a role may create an object."""
    return sql.sql(
        "GRANT {privilege} ON {container} TO ROLE {role}",
        privilege=sql.words(privilege_to_create(kind)),
        container=kind.container(target),
        role=sql.identifier(role),
    )


def drop(kind: Kind, target: Target, row: Row | None = None, *, force: bool = False) -> Sql:
    """The plain DROP. IF EXISTS is never sent: its success proves nothing. Of a slot, what empties it.

    Args:
        kind: the kind.
        target: the object.
        row: what SHOW tells of it; of a slot that is emptied of whatever is in it, None will do.
        force: whether what refers to it may be changed along with it.
    """
    if kind.filling and target.slot:
        slot = kind.filling.named(target.slot, row) if row else target.slot
        if (emptied := kind.filling.empty(slot, force)) is None:
            raise ValueError(f"nothing empties {slot}")
        return emptied
    restrict = sql.words(" RESTRICT" if kind.restricts and not force else "")
    return sql.sql("DROP {type} {name}{restrict}", type=target.type, name=target.name, restrict=restrict)


def left_alone(kind: Kind, spec: SnowflakeSpec, observation: Observation) -> dict[str, str]:
    """Effective values, for people, of the fields that a spec doesn't manage and that only a deep look reads."""
    row = Observation(observation.row)
    found: dict[str, str] = {}
    for each in kind.fields:
        facts = each.facts
        asked = observation.details is not None and observation.details.keys() >= set(facts.details)
        if not facts.managed or facts.differ or not asked or each.value(spec) is not None:
            continue
        value = facts.read(observation)
        if isinstance(facts.read(row), Unknown) and not isinstance(value, Unknown) and value is not None:
            text = value if isinstance(value, str) and not facts.secret else facts.shown(value)
            found[each.name] = shortened(text, SHOWN)
    return found


def outputs(kind: Kind, observation: Observation) -> dict[str, str]:
    """What people must know of an object, as a deep observation tells it."""
    found = {name: read(observation) for name, read in kind.outputs.items()}
    return {name: str(value) for name, value in found.items() if value and not isinstance(value, Unknown)}


def details(kind: Kind, spec: SnowflakeSpec, tracked: Collection[str]) -> frozenset[str]:
    """The kind's further queries that a deep observation needs: those of fields that are set or were sent, and those
    that tell whether an existing object can be adopted."""
    wanted = {*applied(kind, spec), *tracked}
    served = frozenset(detail for each in kind.fields if each.name in wanted for detail in _details(each, wanted))
    return served | kind.adoption_details if spec.management_policies.adoption_policy == "adopt" else served


def _details(field: SpecField, wanted: Collection[str]) -> Iterator[str]:
    """The queries that a field is read by, with those that only some attributes of its items need."""
    yield from field.facts.details
    for each in attributes_of(field):
        ending = f"].{each.name}"
        if each.facts.details and any(name.startswith(f"{field.name}[") and name.endswith(ending) for name in wanted):
            yield from each.facts.details


def differences(
    kind: Kind,
    spec: SnowflakeSpec,
    observation: Observation,
    tracked: Collection[str],
    unsent: Collection[str] = (),
) -> tuple[Difference, ...]:
    """The managed fields that aren't as they should be.

    Args:
        kind: the kind.
        spec: what is wanted.
        observation: what is there. Values that weren't read don't differ.
        tracked: names of the fields that were ever sent; those that left the spec are to be reset.
        unsent: names of the fields whose value may not have been sent yet.
    """
    found: list[Difference] = []
    managed = (each for each in kind.fields if each.facts.managed)
    for each, value in (pair for field in managed for pair in compared(field, spec, tracked)):
        facts = each.facts
        observed = facts.read(observation)
        if facts.differ is not None:
            if not isinstance(observed, Unknown) and (value is not None or each.name in tracked):
                found.extend(Difference.inside(each, deviation) for deviation in facts.differ(spec, observed, tracked))
        elif value is not None:
            desired = facts.codec.canonical(value)
            if _differs(each, value, observed, tracked, unsent):
                seen = observed if isinstance(observed, Unknown) else facts.codec.seen(desired, observed)
                differs = Difference(each, desired, seen, facts.change_between(observed, desired))
                found.append(_unless_anothers(differs, tracked))
        elif each.name in tracked and not facts.reset.keep and not _is_anothers(each, observed, tracked):
            found.append(Difference(each, None, observed, facts.change_between(observed, facts.meaning(None))))
    return tuple(found)


def _is_anothers(field: SpecField, observed: Any, tracked: Collection[str]) -> bool:
    """Whether a field that others set as well has a value which was never sent."""
    if not field.facts.shared or observed is None:
        return False
    return isinstance(observed, Unknown) or value_name(field.name, field.facts, observed) not in tracked


def _unless_anothers(difference: Difference, tracked: Collection[str]) -> Difference:
    if not _is_anothers(difference.field, difference.observed, tracked):
        return difference
    return replace(difference, change=Change.TOLD, remedy=NOT_OURS)


def _gave_up_parts(field: SpecField, value: object, tracked: Collection[str]) -> bool:
    """Whether a part of a value that is still managed was sent, and has left the spec."""
    sent = {name for name in tracked if name.startswith(f"{field.name}.")}
    return bool(sent) and not sent <= {name for name, _ in sent_values(field, value)}


def _differs(field: SpecField, value: Any, observed: Any, tracked: Collection[str], unsent: Collection[str]) -> bool:
    codec = field.facts.codec
    if isinstance(observed, Unknown):
        return field.facts.sent_on_change and field.name in unsent
    if field.facts.sent_on_change and observed is not None and field.name not in unsent:
        return False
    return not codec.matches(codec.canonical(value), observed) or _gave_up_parts(field, value, tracked)


def untold_by_create(kind: Kind, spec: SnowflakeSpec) -> frozenset[str]:
    """The fields that a spec sets, that CREATE doesn't say, and of which no look tells whether they were sent."""
    return frozenset(
        each.name
        for each in kind.fields
        if each.facts.sent_on_change and not each.facts.create and each.value(spec) is not None
    )


def recreated(kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec) -> tuple[tuple[SpecField, object, object], ...]:
    """Fields whose change could only be made by dropping the object: (field, old value, new value)."""
    found: list[tuple[SpecField, object, object]] = []
    # What a reference stands for isn't known here.
    referred = {
        each.facts.instead_of
        for each in kind.fields
        for spec in (old, new)
        if getattr(spec, each.attribute) is not None
    }
    for each in kind.fields:
        facts, before, after = each.facts, each.value(old), each.value(new)
        if before == after or each.attribute in referred:
            continue
        if facts.differ is not None:
            found.extend(_recreated_items(each, old, new))
            continue
        unmanaged = after is None and facts.reset.keep
        meant = facts.canonical(facts.meaning(before)), facts.canonical(facts.meaning(after))
        if not unmanaged and meant[0] != meant[1] and facts.change_between(*meant) is Change.RECREATE:
            found.append((each, before, after))
    return tuple(found)


def _recreated_items(
    field: SpecField, old: SnowflakeSpec, new: SnowflakeSpec
) -> Iterator[tuple[SpecField, object, object]]:
    for each in _between(field, old, new):
        if each.change is Change.RECREATE:
            yield replace(field, name=each.name), each.observed, each.desired


def _between(field: SpecField, old: SnowflakeSpec, new: SnowflakeSpec) -> Iterator[Difference]:
    """What a change of a spec takes in a field of items: the old spec stands for what is there."""
    before, facts = field.value(old), field.facts
    had = frozenset(dict(sent_values(field, before))) if before is not None else frozenset()
    have = facts.codec.canonical(before if before is not None else ())
    for each in facts.differ(new, have, had) if facts.differ else ():
        yield Difference.inside(field, each)


def ineffective(kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec) -> tuple[str, ...]:
    """What a change of a spec says that no statement will be sent for, one sentence each, for people."""
    return tuple(
        each.advised
        for field in kind.fields
        if field.facts.differ is not None and field.value(old) != field.value(new)
        for each in _between(field, old, new)
        if each.change in (Change.DESTRUCTIVE, Change.TOLD)
    )


def advice(kind: Kind, spec: SnowflakeSpec) -> tuple[str, ...]:
    """What is legal but likely wrong, one sentence each, for people."""
    name = getattr(spec, "name", None)
    quoting = (
        (f"spec.name {name!r} is stored as written: people must put it in double quotes in their SQL",)
        if isinstance(name, str) and needs_quotes(name)
        else ()
    )
    return (*quoting, *kind.advice(spec))
