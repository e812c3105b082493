"""What must hold in the end: pure, over what was declared and what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from freehold.claims import ClaimSpec
from freehold.kube.objects import Key, Object
from freehold_devstack.snowflake.journal import OK, Entry
from tests.chaos.account import STRANGERS, Parts, Row
from tests.soak.people import told
from tests.soak.population import Place

Objects = Mapping[tuple[str, Parts], Row]
"""Objects in Snowflake, by kind and name."""


@dataclass(frozen=True)
class Unsettled:
    """A resource that isn't as it should be.

    Attributes:
        place: where; None where nobody has declared it.
        reason: of its condition Ready; empty where there is none for the present generation.
        text: what is the matter.
    """

    place: Place | None
    reason: str
    text: str


def unsettled(places: Iterable[Place], resources: Mapping[Key, Object]) -> Iterator[Unsettled]:
    """Resources that aren't as declared and don't say rightly why not; those that shouldn't be there."""
    declared = {place.key: place for place in places}
    for key, found in resources.items():
        place = declared.get(key)
        reason, message = told(found)
        if place is None or place.spec is None:
            yield Unsettled(place, reason, f"{key} is still there: {reason}: {message}")
        elif found.deleting or reason not in _right(place):
            yield Unsettled(place, reason, f"{key} says {reason}: {message}")
    for key, place in declared.items():
        if place.spec is not None and key not in resources:
            yield Unsettled(place, "", f"{key} is gone")


def _right(place: Place) -> frozenset[str]:
    if place.theirs is not None:
        return STRANGERS
    return frozenset({"Vanished" if place.vanished else "Available"})


def wrong_objects(places: Iterable[Place], shown: Objects, beside: Objects) -> Iterator[str]:
    """Objects that aren't as declared, or not as strangers have made them."""
    others = {(place.kind.name, place.parts): place.theirs for place in places if place.theirs is not None} | dict(
        beside
    )
    ours = {(place.kind.name, place.parts): place for place in places if place.sound}
    for key, row in others.items():
        if shown.get(key) != row:
            yield f"a stranger's {_name(key)} was touched: {row} has become {shown.get(key)}"
    for key, place in ours.items():
        yield from place.differing(shown[key]) if key in shown else [f"{_name(key)} isn't there"]
    for key in shown.keys() - others.keys() - ours.keys():
        yield f"{_name(key)} is left"


def wrong_columns(places: Iterable[Place], columns: Mapping[Parts, Sequence[str]]) -> Iterator[str]:
    """Tables whose columns aren't as declared."""
    for place in places:
        if place.sound and place.spec and "columns" in place.spec:
            declared = [each["name"] for each in place.spec["columns"]]
            if columns.get(place.parts) != declared:
                yield f"{place} has the columns {columns.get(place.parts)}, not {declared}"


def wrong_claims(places: Iterable[Place], claims: Iterable[ClaimSpec]) -> Iterator[str]:
    """Claims that aren't those of the declared objects, each with evidence and nothing under way."""
    left = {(place.key, place.parts) for place in places if place.sound}
    for claim in claims:
        holder = Key(claim.holder.kind, claim.holder.namespace, claim.holder.name)
        mine = (holder, tuple(claim.identity.identity.parts))
        if mine not in left:
            yield f"a claim is left: {claim}"
        elif claim.evidence is None or claim.unsettled:
            yield f"a claim isn't settled: {claim}"
        left.discard(mine)
    yield from (f"{key} holds no claim" for key, _ in left)


def uncalled_for(places: Sequence[Place], sent: Iterable[Entry]) -> Iterator[str]:
    """Statements that nobody has asked for: about other objects, or more often than there was reason to.

    Args:
        places: all there are.
        sent: what the controllers have sent.
    """
    ours = {place.object: place for place in places}
    done: Counter[tuple[Place, str]] = Counter()
    for entry in sent:
        if entry.kind != "statement" or entry.reads:
            continue
        # What met a fault was never understood, so that its text alone says what it is about.
        place = next((ours[each] for each in ours if each in entry.text), None)
        if place is None:
            yield f"not about an object of ours: {entry}"
        elif entry.outcome == OK:
            done[place, entry.text.split()[0]] += 1
    for place in places:
        for verb, most in (("CREATE", place.made + place.lost), ("DROP", place.removed)):
            if done[place, verb] > most:
                yield f"{verb} of {place} succeeded {done[place, verb]} times, where {most} were called for"


def _name(key: tuple[str, Parts]) -> str:
    kind, parts = key
    return f"{kind} {'.'.join(parts)}"
