"""Fields that one function compares with the whole spec, and that says which actions mend what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from freehold.kinds.property import Differ, Observe, Place, Property
from freehold.kinds.values import Codec
from freehold.sql import Sql


def compared(
    differ: Differ,
    *,
    codec: Codec,
    observe: Observe,
    source: str,
    clause: Callable[[Any], Sql | None] | None = None,
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    **constraints: Any,
) -> Any:
    """A field that depends on others, or is mended item by item without each being followed by itself.

    Args:
        differ: compares it.
        codec: makes the canonical values of both sides.
        observe: reads the live value.
        source: the same for people.
        clause: its part of CREATE.
        place: where that stands.
        details: queries that it is read from.
        check: as `Property` has it.
        constraints: pydantic's.
    """
    facts = Property(
        codec=codec,
        observe=observe,
        source=source,
        create=clause is not None,
        clause=clause,
        place=place,
        differ=differ,
        details=details,
        check=check,
    )
    return Field(default=None, json_schema_extra=facts, **constraints)
