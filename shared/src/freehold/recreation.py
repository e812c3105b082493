"""Changes that only another object can bring about: what is said of them, and how a user orders exactly that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freehold import datatypes, planning
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind

FORCE_NEW_ANNOTATION = "freehold.dev/force-new"
"""Annotation of a resource: hash of the spec for whose sake its object may be dropped and created again, once."""


def changes(kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec) -> tuple[str, ...]:
    """What differs between two specs that no ALTER leads across, for people."""
    return tuple(
        f"spec.{field.name} can't change from {field.facts.shown(before)} to {field.facts.shown(after)}"
        for field, before, after in planning.recreated(kind, old, new)
    )


def another(kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec) -> str | None:
    """Why a spec stands for another object than before by the types of its arguments, which belong to the name, for
    people; None where it doesn't. (Whatever else belongs to a name is immutable in the API.)

    Args:
        kind: the kind.
        old: its spec before.
        new: its spec now, of which all types can be read, as of the other.
    """
    if kind.arguments is None:
        return None
    before, after = (datatypes.signature(kind.arguments(spec)) for spec in (old, new))
    if before == after:
        return None
    return (
        f"spec.arguments can't change from ({', '.join(before)}) to ({', '.join(after)}): the types belong to the "
        f"name, and the {kind.object_type.lower()} of these is another one. Declare it in a resource of its own, and "
        "delete this one once nobody calls it any more"
    )


def refusal(what: Iterable[str], spec_hash: str, *, carried_out: bool = False) -> str:
    """Why a change isn't made, and what to do.

    Args:
        what: the changes, for people.
        spec_hash: `fingerprint.spec_hash` of the spec that asks for them.
        carried_out: whether its order was carried out before, for an object that isn't there any more.
    """
    way_out = order(spec_hash, carried_out=carried_out)
    return f"{'; '.join(what)}: the object would have to be dropped and created again. Change it back, or {way_out}"


def order(spec_hash: str, *, carried_out: bool = False) -> str:
    """How a user says that exactly this spec is worth the object with all that it holds.

    Args:
        spec_hash: `fingerprint.spec_hash` of the spec.
        carried_out: whether that was said, and done, before.
    """
    if carried_out:
        return f"change something else as well: the annotation {FORCE_NEW_ANNOTATION} has had its effect for this spec"
    annotation = f"{FORCE_NEW_ANNOTATION}: {spec_hash}"
    return f"set the annotation {annotation} to have it dropped with all that it holds and created anew"


def ordered(annotations: Mapping[str, str], spec_hash: str) -> bool:
    """Whether a resource carries the order for exactly its spec."""
    return annotations.get(FORCE_NEW_ANNOTATION) == spec_hash
