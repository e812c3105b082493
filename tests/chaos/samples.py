"""What runs work on, from the samples of the documentation: a new kind takes part by its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml

from freehold import planning
from freehold.kinds.fields import Change, SpecField
from freehold.kinds.kind import Kind, Parts
from freehold.kinds.registry import KINDS
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
    """The kinds that take part: those with an object of their own."""
    return tuple(kind for kind in KINDS.values() if kind.slots is None)


def spec(kind: Kind, name: str, provider: str, platform: str) -> dict[str, Any]:
    """The sample's spec for another name; it refers to the samples of other kinds.

    Args:
        kind: the kind.
        name: stored name of the object.
        provider: name of the ProviderConfig.
        platform: namespace of that and of the other samples.
    """
    fields = {each.name: each.facts for each in kind.fields}
    taken = {
        key: {**value, "namespace": platform} if key in fields and fields[key].reference else value
        for key, value in sample(kind.name)["spec"].items()
    }
    return {**taken, "name": name, "providerRef": {"name": provider, "namespace": platform}}


def container(kind: Kind) -> tuple[str, ...]:
    """Stored names of what the sample's object lies in."""
    return _drive(kind.parts(kind.spec.model_validate(sample(kind.name)["spec"]), "", KINDS))[:-1]


def create(kind: Kind, parts: tuple[str, ...]) -> str:
    """The CREATE of an object like the sample's."""
    model = kind.spec.model_validate({**sample(kind.name)["spec"], "name": parts[-1]})
    return planning.create(kind, kind.target(parts), model).text


def change(kind: Kind) -> dict[str, Any] | None:
    """What an ALTER can change of a sample; None where there is nothing that all kinds have."""
    return {"comment": "changed"} if any(each.name == "comment" for each in kind.fields) else None


def recreating_change(kind: Kind) -> dict[str, Any] | None:
    """What no ALTER leads to; None where the kind has no such field."""
    present = sample(kind.name)["spec"]
    return next(({each.name: value} for each in kind.fields for value in _unreachable(kind, each, present)), None)


def _unreachable(kind: Kind, field: SpecField, present: Mapping[str, Any]) -> Iterator[Any]:
    """Values that no ALTER leads to: the other one of a keyword, another word of a list."""
    facts = field.facts
    if facts.change is Change.RECREATE and isinstance(facts.codec, Boolean):
        yield not present.get(field.name, False)
    if facts.recreate_when is not None and facts.reset.value is not None:
        old = present.get(field.name, facts.reset.value)
        options = get_args(kind.spec.model_fields[field.attribute].annotation)
        words = [word for option in options for word in get_args(option)]
        yield from (word for word in words if facts.recreate_when(old, word))


def _drive(parts: Parts) -> tuple[str, ...]:
    try:
        asked = next(parts)
        while True:
            kind = KINDS[asked.kind]
            asked = parts.send(kind.spec.model_validate(sample(kind.name)["spec"]))
    except StopIteration as end:
        found: tuple[str, ...] = end.value
        return found
