"""What streams have in common, whatever they are on: their source, where they begin, and how they become useless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from freehold import sql
from freehold.identifiers import InvalidName, split, split_in_schema
from freehold.kinds.clauses import clause
from freehold.kinds.fields import checked, prop
from freehold.kinds.model import Model
from freehold.kinds.property import KEEP, Change, Place
from freehold.kinds.resource import exactly_one, ruled
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

VOLATILE = frozenset({"stale_after"})
"""Moves whenever the stream is read."""


class Point(Model):
    """A moment in the past of what a stream is on."""

    model_config = ConfigDict(json_schema_extra=ruled(exactly_one("timestamp", "offset", "statement", "stream")))

    mode: Literal["AT", "BEFORE"] = "AT"
    """Whether changes of that very moment are left out (AT), or told (BEFORE)."""
    timestamp: AwareDatetime | None = None
    """A time with its zone."""
    offset: int | None = Field(default=None, le=0, ge=-31_536_000)
    """Seconds from now: zero or less."""
    statement: str | None = Field(default=None, min_length=1, max_length=64, pattern="^[0-9A-Za-z-]+$")
    """Query id of a statement."""
    stream: str | None = checked(split_in_schema, default=None, min_length=1, max_length=1024)
    """Another stream, by its fully-qualified name, whose offset is taken over."""


def _where(point: Point) -> Sql:
    if point.timestamp is not None:
        moment = sql.sql("TIMESTAMP => {at}::TIMESTAMP_TZ", at=sql.literal(point.timestamp.isoformat(sep=" ")))
    elif point.offset is not None:
        moment = sql.sql("OFFSET => {seconds}", seconds=sql.number(point.offset))
    elif point.statement is not None:
        moment = sql.sql("STATEMENT => {id}", id=sql.literal(point.statement))
    else:
        name = sql.identifier(*split_in_schema(point.stream or ""))
        moment = sql.sql("STREAM => {name}", name=sql.literal(name.text))
    return sql.sql("{mode} ({moment})", mode=sql.words(point.mode), moment=moment)


class _Source(Codec):
    """Stored name parts; what contains the source may be left open."""

    def matches(self, desired: tuple[str | None, ...], observed: tuple[str, ...]) -> bool:
        return all(want in (None, have) for want, have in zip(desired, observed, strict=True))

    def read(self, raw: object) -> object:
        return raw


def _named(observation: Observation) -> object:
    """The source; UNKNOWN where Snowflake prints a sentence instead, for it is gone or the role can't see it."""
    try:
        parts = split(str(observation.row.get("table_name")))
    except InvalidName:
        return UNKNOWN
    return parts if len(parts) == 3 else UNKNOWN


def source(words: str, name: Callable[[Any], str | None]) -> Any:
    """The field of the name of what a stream is on.

    Args:
        words: its object type.
        name: its name in a spec, whose sourceDatabaseName and sourceSchemaName tell where it lies; by default where
            the stream does.
    """

    def parts(spec: Any) -> tuple[str | None, ...] | None:
        if name(spec) is None:
            return None
        within = (spec.source_database_name or spec.database_name, spec.source_schema_name or spec.schema_name)
        return (*within, name(spec))

    return clause(
        f"ON {words}",
        write=lambda value: sql.sql("ON {type} {name}", type=sql.words(words), name=sql.identifier(*value)),
        change=Change.RECREATE,
        codec=_Source(),
        observe=_named,
        source="show.table_name",
        place=Place.AFTER_NAME,
        derived=parts,
    )


def point() -> Any:
    """The field of where a stream begins."""
    return prop("AT", clause=_where, create_only=True, reset=KEEP, recreate_when=lambda _old, _new: True, codec=Codec())


def mode(word: str) -> Any:
    """The field of what a stream tells of.

    Args:
        word: the property, which SHOW prints as the stream's mode.
    """

    def observe(observation: Observation) -> object:
        told = observation.row.get("mode")
        return told == word if told else UNKNOWN

    return clause(word, change=Change.RECREATE, observe=observe, source="show.mode", unset=False)


def initial_rows() -> Any:
    """The field of whether a stream begins with the rows that are there."""
    return prop(
        "SHOW_INITIAL_ROWS", create_only=True, reset=KEEP, recreate_when=lambda old, new: bool(old) != bool(new)
    )


def adoptable(source_type: str) -> Callable[[Observation], str | None]:
    """Whether an existing stream is one on the right kind of source.

    Args:
        source_type: what SHOW calls that.
    """

    def refusal(observation: Observation) -> str | None:
        found = observation.row.get("source_type")
        return None if found == source_type else f"it is a stream on another kind of source: {found}"

    return refusal


def ailment(observation: Observation) -> str | None:
    """A stream whose changes weren't read in time, or whose source was replaced, tells nothing ever after."""
    row = observation.row
    if str(row.get("stale")).lower() == "true":
        return "it is stale: what changed wasn't read in time, or its source was replaced"
    reason = row.get("invalid_reason")
    return str(reason) if reason not in (None, "", "N/A") else None
