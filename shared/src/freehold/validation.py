"""What no statement can hold, told from a spec alone. Admission and the reconciler ask the same function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model, model_in
from freehold.kinds.spec_fields import properties


def faults(kind: Kind, spec: SnowflakeSpec) -> tuple[str, ...]:
    """What is wrong with a spec, one sentence each, for people.

    Args:
        kind: the kind.
        spec: of that kind.
    """
    return (*_of_fields("spec", spec), *kind.faults(spec))


def _of_fields(place: str, model: Model) -> Iterator[str]:
    for attribute, name, check in _fields(type(model)):
        given = getattr(model, attribute)
        if given is None:
            continue
        for at, value in _values(f"{place}.{name}", given):
            if isinstance(value, Model):
                yield from _of_fields(at, value)
            elif check is not None and value is not None:
                try:
                    check(value)
                except ValueError as error:
                    yield f"{at}: {error}"


@cache
def _fields(model: type[Model]) -> tuple[tuple[str, str, Callable[[Any], object] | None], ...]:
    """(attribute, name in the manifest, check) of every field that has one or holds models with fields of their own."""
    checks = {each.attribute: each.facts.check for each in properties(model)}
    found = []
    for attribute, info in model.model_fields.items():
        check = checks.get(attribute)
        if check or model_in(info.annotation):
            found.append((attribute, info.alias or attribute, check))
    return tuple(found)


def _values(place: str, value: object) -> Iterator[tuple[str, object]]:
    """A value with its place, or each of a list with its own."""
    if isinstance(value, list):
        yield from ((f"{place}[{index}]", each) for index, each in enumerate(value))
    else:
        yield place, value
