"""References in a spec, to resources and Secrets: found at any depth, and replaced by the names and values that they
stand for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from freehold.identifiers import qualified
from freehold.kinds.common import Reference
from freehold.kinds.model import Model, model_in
from freehold.kinds.names import Requested
from freehold.kinds.property import Property
from freehold.kinds.secret_inputs import SecretInput, SecretKeyReference
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


def secrets_of(spec: Model) -> tuple[SecretKeyReference, ...]:
    """The keys of Secrets that a spec refers to."""
    return tuple(dict.fromkeys(_secrets(spec)))


def with_secrets(model: M, values: Mapping[SecretKeyReference, SecretInput]) -> M:
    """A spec with values in place of its references to Secrets.

    Args:
        model: the spec, or a model in it.
        values: of all that it refers to.

    Raises:
        ValueError: a Secret holds what its field can't be; the message tells which, and not what.
    """
    raw: dict[str, Any] = {}
    for attribute, _, value, facts in _fields("", model):
        if isinstance(value, SecretKeyReference):
            found = values[value]
            if facts and facts.instead_of:
                raw[facts.instead_of] = _checked(model, facts.instead_of, found)
            else:
                raw[attribute] = found
        elif isinstance(value, Model):
            raw[attribute] = with_secrets(value, values)
        elif isinstance(value, list):
            raw[attribute] = [with_secrets(each, values) if isinstance(each, Model) else each for each in value]
    return model.model_copy(update=raw)


def _checked(model: Model, attribute: str, found: SecretInput) -> str:
    (field,) = (each for each in properties(type(model)) if each.attribute == attribute)
    try:
        if field.facts.check:
            field.facts.check(found.value)
    except ValueError as error:
        raise ValueError(f"{found}: {error}") from None
    return found.value


def _secrets(model: Model) -> Iterator[SecretKeyReference]:
    for _, _, value, _ in _fields("", model):
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, SecretKeyReference):
                yield each
            elif isinstance(each, Model):
                yield from _secrets(each)


def _found(place: str, model: Model, namespace: str) -> Iterator[Requested]:
    for _, field, value, facts in _fields(place, model):
        for at, each in _one_by_one(field, value):
            if isinstance(each, Reference):
                if facts and facts.reference:
                    where = each.namespace or namespace
                    yield Requested(facts.reference, where, each.name, at, facts.by_name, facts.beside)
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
