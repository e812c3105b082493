"""Hashes of what a spec says: they tell a user's change from drift, and one spec from another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from freehold.identity import digest
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.spec_fields import SpecField, sent_values
from freehold.observation import Observation

_SHORT = 8
"""Letters of a short hash: 40 bits tell two values of one field apart."""


def spec_hash(kind: Kind, spec: SnowflakeSpec) -> str:
    """Hash of what a spec says of the object, as its user wrote it.

    References count by the resource that they name, so that everybody who reads the spec alone computes the same.
    Provider and policies don't count.
    """
    return _hash({each.name: value for each in kind.fields if (value := getattr(spec, each.attribute)) is not None})


def applied(kind: Kind, spec: SnowflakeSpec) -> Mapping[str, str]:
    """The managed fields that a spec sets, and items in them, each with a short hash of its value.

    Args:
        kind: the kind.
        spec: with its references resolved.
    """
    return {
        name: _hash(part)[:_SHORT]
        for each in kind.fields
        if each.facts.managed and (value := each.value(spec)) is not None
        for name, part in sent_values(each, value)
    }


def held(kind: Kind, observation: Observation) -> str | None:
    """Hash of what is in a slot; None of what has a time of its own that tells it from another."""
    values = [each.facts.read(observation) for each in _values(kind)]
    return _hash_of_texts(values) if values else None


def put(kind: Kind, spec: SnowflakeSpec) -> str | None:
    """Hash of what a spec puts into a slot, likewise.

    Args:
        kind: the kind.
        spec: with its references resolved.
    """
    values = [(each.facts, getattr(spec, each.attribute)) for each in _values(kind)]
    canonical = [None if value is None else facts.codec.canonical(value) for facts, value in values]
    return _hash_of_texts(canonical) if canonical else None


def _hash_of_texts(values: Sequence[object]) -> str:
    # Nothing is no text: a role may be called None.
    return _hash([None if each is None else str(each) for each in values])


def _values(kind: Kind) -> tuple[SpecField, ...]:
    """The fields that say what is in a slot."""
    names = kind.filling.value if kind.filling else ()
    return tuple(each for each in kind.fields if each.attribute in names)


def applied_hash(values: Mapping[str, str]) -> str:
    """Hash of all that a spec makes of an object.

    Args:
        values: as `applied` tells them.
    """
    return _hash(values)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """What a user has changed, added or removed between two specs, as `applied` tells their values."""
    return frozenset(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _hash(value: object) -> str:
    return digest(orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS).decode())


def _plain(value: object) -> object:
    if isinstance(value, Model):
        # As what they are: the value of a Secret counts by its version at any depth.
        return value.model_dump(mode="json", serialize_as_any=True)
    raise TypeError(f"no spec holds a {type(value).__name__}")
