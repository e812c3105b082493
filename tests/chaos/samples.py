"""What runs work on, from the samples of the documentation: a new kind takes part by its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml

from freehold import planning
from freehold.datatypes import signature
from freehold.identity import Name
from freehold.kinds.kind import Kind
from freehold.kinds.names import Parts
from freehold.kinds.property import Change, Target
from freehold.kinds.references import references_of, with_names
from freehold.kinds.registry import KINDS
from freehold.kinds.spec_fields import SpecField
from freehold.kinds.values import Boolean

SAMPLES = Path(__file__).parents[2] / "docs/samples"

OTHERS = "OTHERS"
"""A stranger's database, and the schema in it."""


@cache
def sample(kind: str) -> Mapping[str, Any]:
    """The sample manifest of a kind."""
    found: dict[str, Any] = yaml.safe_load((SAMPLES / f"{kind.lower()}.yaml").read_text())
    return found


def killed_kinds() -> tuple[Kind, ...]:
    """The kinds that take part: of those with an object of their own, so many that each trait that a pass goes by is
    among them. What they have in common is the same code, in which they die alike."""
    # What only a system role creates can't be told from what a stranger does, who has that role.
    left = [kind for kind in KINDS.values() if kind.slots is None and not kind.created_by]
    missing = {trait for kind in left for trait in _traits(kind)}
    taken: list[Kind] = []
    while missing:
        best = max(left, key=lambda kind: len(missing & _traits(kind)))
        taken.append(best)
        missing -= _traits(best)
    return tuple(sorted(taken, key=lambda kind: kind.name))


def referred_kinds() -> tuple[Kind, ...]:
    """The kinds that the samples of those refer to, parents among them."""
    found: dict[str, Kind] = {}
    asking = list(killed_kinds())
    while asking:
        kind = asking.pop()
        for each in references_of(kind.spec.model_validate(sample(kind.name)["spec"]), ""):
            if each.kind not in found:
                found[each.kind] = KINDS[each.kind]
                asking.append(KINDS[each.kind])
    return tuple(found.values())


def made(kind: Kind) -> str:
    """What the sample's object is called in GRANT: `SCHEMA "SALES"."RAW"`."""
    return f"{kind.object_type} {target(kind, _parts(kind)).name}"


def _traits(kind: Kind) -> set[tuple[str, object]]:
    steps = ("after_create", "around_alter", "around_drop", "content", "details", "outputs", "arguments")
    flags = ("holds_data", "history", "parameters", "create_or_alter", "restricts", "redefined", "level")
    return {
        *((name, getattr(kind, name)) for name in flags),
        *((name, bool(getattr(kind, name))) for name in steps),
        *(("secret", each.facts.secret) for each in kind.fields),
    }


def spec(kind: Kind, name: str, provider: str, platform: str, *, bare: bool) -> dict[str, Any]:
    """The sample's spec for another name; it refers to the samples of other kinds.

    Args:
        kind: the kind.
        name: stored name of the object.
        provider: name of the ProviderConfig.
        platform: namespace of that and of the other samples.
        bare: leave out what the object can do without.
    """
    fields = {each.name: each for each in kind.fields}
    taken = {
        key: {**value, "namespace": platform} if fields[key].facts.reference else value
        for key, value in sample(kind.name)["spec"].items()
        if not bare or _is_needed(kind, fields[key])
    }
    return {**taken, "name": name, "providerRef": {"name": provider, "namespace": platform}}


def _is_needed(kind: Kind, field: SpecField) -> bool:
    # The types of arguments belong to the name, and the source speaks of them.
    named = kind.arguments is not None and field.name == "arguments"
    return named or field.facts.change is Change.IDENTITY or kind.spec.model_fields[field.attribute].is_required()


def container(kind: Kind) -> tuple[str, ...]:
    """Stored names of what the sample's object lies in."""
    return _parts(kind)[:-1]


def target(kind: Kind, parts: tuple[str, ...]) -> Target:
    """An object like the sample's, which takes arguments like it, by its stored names."""
    model = kind.spec.model_validate({**sample(kind.name)["spec"], "name": parts[-1]})
    return kind.target_of(Name(parts, signature(kind.arguments(model)) if kind.arguments else None))


def _parts(kind: Kind) -> tuple[str, ...]:
    """Stored names of the sample's object, outermost first."""
    return _drive(kind.parts(kind.spec.model_validate(sample(kind.name)["spec"]), "", KINDS))


def create(kind: Kind, parts: tuple[str, ...]) -> str:
    """The CREATE of an object like the sample's, which refers to the objects of other samples."""
    model = kind.spec.model_validate({**sample(kind.name)["spec"], "name": parts[-1]})
    names = {each.field: _parts(KINDS[each.kind]) for each in references_of(model, "")}
    return planning.create(kind, target(kind, parts), with_names(model, names)).text


def change(kind: Kind) -> dict[str, Any] | None:
    """What an ALTER can change of a sample; None where there is nothing that all kinds have."""
    return {"comment": "changed"} if any(each.name == "comment" for each in kind.fields) else None


def recreating_change(kind: Kind) -> dict[str, Any] | None:
    """What no ALTER of a bare object leads to; None where the kind has no such field."""
    return next(({each.name: value} for each in kind.fields for value in _unreachable(kind, each)), None)


def _unreachable(kind: Kind, field: SpecField) -> Iterator[Any]:
    """Values of a field that isn't set which no ALTER leads to: a keyword, a word of a list."""
    facts = field.facts
    if facts.change is Change.RECREATE and isinstance(facts.codec, Boolean):
        yield True
    if facts.recreate_when is not None:
        options = get_args(kind.spec.model_fields[field.attribute].annotation)
        words = [word for option in options for word in get_args(option) if isinstance(word, str)]
        yield from (word for word in words if facts.recreate_when(facts.reset.value, word))


def _drive(parts: Parts) -> tuple[str, ...]:
    try:
        asked = next(parts)
        while True:
            kind = KINDS[asked.kind]
            asked = parts.send(kind.spec.model_validate(sample(kind.name)["spec"]))
    except StopIteration as end:
        found: tuple[str, ...] = end.value
        return found
