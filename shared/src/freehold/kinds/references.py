"""References in a spec: found at any depth, and replaced by the names that they stand for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from freehold.identifiers import qualified
from freehold.kinds.common import Reference
from freehold.kinds.model import Model, model_in
from freehold.kinds.names import Requested
from freehold.kinds.property import Property
from freehold.kinds.spec_fields import properties

M = TypeVar("M", bound=Model)


def references_of(spec: Model, namespace: str) -> tuple[Requested, ...]:
    """The resources that a spec refers to, its parents among them.

    Args:
        spec: the spec.
        namespace: of the referring resource.
    """
    return tuple(_found("", spec, namespace))


def with_names(model: M, names: Mapping[str, tuple[str, ...]], place: str = "") -> M:
    """A spec with raw names beside its references.

    Args:
        model: the spec.
        names: stored name parts of what is referred to, by `Requested.field`.
        place: of the model inside a spec, with the dot that joins it to a field.
    """
    raw: dict[str, Any] = {}
    for attribute, field, value, facts in _fields(place, model):
        if facts and facts.instead_of:
            places = [at for at, _ in _one_by_one(field, value)]
            if names.keys() >= set(places):
                those = [qualified(names[at]) if facts.qualified else names[at][-1] for at in places]
                raw[facts.instead_of] = those if isinstance(value, list) else those[0]
                raw |= zip(facts.within, names[places[0]] if facts.within else (), strict=False)
        elif isinstance(value, Model):
            raw[attribute] = with_names(value, names, f"{field}.")
        elif isinstance(value, list):
            items = _one_by_one(field, value)
            raw[attribute] = [
                with_names(each, names, f"{at}.") if isinstance(each, Model) else each for at, each in items
            ]
    return model.model_copy(update=raw)


def _found(place: str, model: Model, namespace: str) -> Iterator[Requested]:
    for _, field, value, facts in _fields(place, model):
        for at, each in _one_by_one(field, value):
            if isinstance(each, Reference):
                if facts and facts.reference:
                    yield Requested(facts.reference, each.namespace or namespace, each.name, at)
            elif isinstance(each, Model):
                yield from _found(f"{at}.", each, namespace)


def _one_by_one(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(place, value) of what a field holds: of each item where it is a list."""
    if not isinstance(value, list):
        yield field, value
        return
    for at, each in enumerate(value):
        yield f"{field}[{at}]", each


def _fields(place: str, model: Model) -> Iterator[tuple[str, str, Any, Property | None]]:
    """(attribute, path in the manifest, value, facts) of every field that is set and can hold models."""
    for attribute, name, facts in _holders(type(model)):
        value = getattr(model, attribute)
        if value is not None:
            yield attribute, f"{place}{name}", value, facts


@cache
def _holders(model: type[Model]) -> tuple[tuple[str, str, Property | None], ...]:
    """(attribute, name in the manifest, facts) of every field that can hold models."""
    facts = {each.attribute: each.facts for each in properties(model)}
    fields = model.model_fields.items()
    return tuple((name, info.alias or name, facts.get(name)) for name, info in fields if model_in(info.annotation))
