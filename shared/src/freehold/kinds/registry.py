"""Every kind there is, found by importing the modules below `account/` and `schema/`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic.alias_generators import to_camel

from freehold.kinds import account, schema
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.spec_fields import SpecField, properties


def _declared() -> Iterator[Kind]:
    for package in (account, schema):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Kind):
                    yield value


KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in sorted(_declared(), key=lambda k: k.name)})
"""Snowflake kinds by name."""


def kinds_of(domain: Domain) -> tuple[Kind, ...]:
    """The kinds that one controller runs."""
    return tuple(kind for kind in KINDS.values() if kind.domain is domain)


def refusal(field: SpecField) -> str | None:
    """Why this release refuses a field: it says so itself, or it refers to a kind that isn't there yet."""
    if field.facts.unsupported:
        return field.facts.unsupported
    if field.facts.reference and field.facts.reference not in KINDS:
        return f"this release has no kind {field.facts.reference}; use {to_raw(field)} with a name"
    return None


def to_raw(field: SpecField) -> str:
    """Name in the manifest of the raw field that a reference stands for."""
    return to_camel(str(field.facts.instead_of))


def refused(spec: SnowflakeSpec) -> tuple[tuple[str, str], ...]:
    """The fields that a spec sets although this release refuses them: (name in the manifest, why)."""
    return tuple(_refused("", spec))


def _refused(place: str, model: Model) -> Iterator[tuple[str, str]]:
    reasons = {each.attribute: refusal(each) for each in properties(type(model))}
    for attribute, value in model:
        name = place + (type(model).model_fields[attribute].alias or attribute)
        if value is not None and (reason := reasons.get(attribute)):
            yield name, reason
            continue
        for at, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(each, Model):
                yield from _refused(f"{name}[{at}].", each)
        if isinstance(value, Model):
            yield from _refused(f"{name}.", value)
