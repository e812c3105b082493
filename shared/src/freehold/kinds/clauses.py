"""Fields that are clauses of CREATE and have no ALTER: a function's body, the query of a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from freehold.kinds.property import KEEP, UNSET, Change, Observe, Place, Property
from freehold.kinds.spec_fields import INFERRED
from freehold.kinds.values import Codec
from freehold.sql import Sql


def clause(
    words: str = "",
    *,
    write: Callable[[Any], Sql | None] | None = None,
    change: Change = Change.REDEFINE,
    observe: Observe | None = None,
    source: str = "",
    codec: Codec | None = None,
    unset: Any = None,
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    derived: Callable[[Any], Any] | None = None,
    secret: bool = False,
    alias: str | None = None,
    required: bool = False,
    **constraints: Any,
) -> Any:
    """A clause of CREATE that CREATE OR ALTER changes, or nothing but another object does. Of the latter one that was
    removed stays as it is.

    Args:
        words: Snowflake's keywords.
        write: the clause where it isn't `KEYWORDS = value`; None for a value that needs none.
        change: what another value means: REDEFINE or RECREATE.
        observe: reads the live value; None where nothing tells it.
        source: the same for people.
        codec: how values are written, read and compared; None to take it from the annotation.
        unset: what the object is without the clause.
        place: where it stands.
        details: names of the kind's further queries that it is observed by.
        check: as `Property` has it.
        derived: likewise.
        secret: whether its values are shown to nobody.
        alias: name in the manifest where it isn't the camel-case form of the attribute.
        required: whether every manifest has it.
        constraints: pydantic's `max_length` ...
    """
    facts = Property(
        sql=words,
        codec=codec if codec is not None else INFERRED,
        observe=observe,
        source=source,
        reset=UNSET if change is Change.REDEFINE else KEEP,
        change=change,
        unset=unset,
        place=place,
        clause=write,
        details=details,
        check=check,
        derived=derived,
        secret=secret,
    )
    default = ... if required else None
    return Field(default=default, alias=alias, json_schema_extra=facts, repr=not secret, **constraints)
