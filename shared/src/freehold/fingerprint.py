"""Hashes of what a spec says: they tell a user's change from drift, and one spec from another."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from freehold.identity import digest
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.spec_fields import sent_values

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
        return value.model_dump(mode="json")
    raise TypeError(f"no spec holds a {type(value).__name__}")
