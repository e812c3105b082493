"""What internal and external stages have in common: directory tables, file formats and how they are read.

Source: "CREATE STAGE", "ALTER STAGE" and "DESCRIBE STAGE" in Snowflake's SQL reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import ConfigDict

from freehold import sql
from freehold.identifiers import InvalidName, split, split_in_schema
from freehold.kinds import file_formats
from freehold.kinds.common import Reference
from freehold.kinds.fields import checked, custom, prop, ref
from freehold.kinds.file_formats import FORMAT_RULES, FormatOptions, characters
from freehold.kinds.groups import Group, described
from freehold.kinds.in_schema import IN_SCHEMA_RULES
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level
from freehold.kinds.property import Reset, Target
from freehold.kinds.resource import Rule, exactly_one, ruled
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

DETAIL = "describe"
"""Name of DESCRIBE among the details of a kind: rows of parent, property and value."""


# --- file format -----------------------------------------------------------------------------------------------------


class InlineFormat(FormatOptions):
    """A type of files, with its options."""

    model_config = ConfigDict(json_schema_extra=ruled(*FORMAT_RULES))


class FileFormatUse(Model):
    """How the files of a stage are read."""

    model_config = ConfigDict(json_schema_extra=ruled(exactly_one("formatName", "formatRef", "options")))

    format_name: str | None = checked(split_in_schema, default=None, min_length=1, max_length=1024)
    """Fully-qualified name of a file format as SQL reads it: DATABASE.SCHEMA.NAME, with parts quoted where they must
    be."""
    format_ref: Reference | None = ref("FileFormat", instead_of="format_name", qualified=True)
    """The FileFormat, in place of its name."""
    options: InlineFormat | None = None
    """A type with its options, which belong to the stage alone. Options that are left out have their defaults."""


_NAME = "FORMAT_NAME"


class _Format(Group):
    """A file format by its name parts, or a type with its options."""

    def __init__(self) -> None:
        super().__init__(InlineFormat)

    def canonical(self, value: FileFormatUse) -> Mapping[str, Any]:
        if value.format_name:
            return {_NAME: split(value.format_name)}
        return super().canonical(value.options) if value.options else {}

    def render(self, value: Any) -> Sql:
        given = self.canonical(value) if isinstance(value, FileFormatUse) else value
        if _NAME in given:
            return sql.sql("(FORMAT_NAME = {name})", name=sql.identifier(*given[_NAME]))
        return super().render(given)

    def matches(self, desired: Mapping[str, Any], observed: Mapping[str, object] | None) -> bool:
        if observed is not None and (_NAME in desired or observed.get(_NAME)):
            return _parts(observed) in (desired.get(_NAME), UNKNOWN)
        return super().matches(desired, observed)

    def parts(self, value: FileFormatUse, /) -> Iterable[tuple[str, Any]]:
        return ((f"options.{name}", part) for name, part in super().parts(value.options)) if value.options else ()


def _parts(observed: Mapping[str, object]) -> object:
    """Parts of the name in a DESCRIBE, which escapes its quotes; UNKNOWN where they can't be told apart."""
    text = characters(str(observed.get(_NAME) or ""))
    try:
        return split(text) if text else None
    except InvalidName:
        return UNKNOWN


_FORMAT = _Format()


def _format_clause(use: FileFormatUse) -> Sql | None:
    # While a reference isn't resolved there is nothing to say.
    return sql.sql("FILE_FORMAT = {use}", use=_FORMAT.render(use)) if use.format_name or use.options else None


def file_format() -> Any:
    """The field of a stage for it."""
    return prop(
        "FILE_FORMAT",
        observe=described(DETAIL, "STAGE_FILE_FORMAT"),
        codec=_FORMAT,
        clause=_format_clause,
        # What a stage has that was made without one; there is no UNSET.
        reset=Reset(of=lambda _spec: {"TYPE": "CSV"}),
        details=(DETAIL,),
    )


def format_faults(spec: Any) -> tuple[str, ...]:
    """What CEL can't tell of options in line."""
    use: FileFormatUse | None = spec.file_format
    found = file_formats.faults(use.options) if use and use.options else ()
    return tuple(f"spec.fileFormat.options: {each}" for each in found)


# --- directory table -------------------------------------------------------------------------------------------------


class Directory(Model):
    """The directory table of a stage, which lists its files."""

    enable: bool = prop("ENABLE", required=True)
    """Whether there is one. Streams on a stage without one fail."""


def _enabled(observation: Observation) -> object:
    found = described(DETAIL, "DIRECTORY")(observation)
    if found is not UNKNOWN:
        return found
    shown = observation.row.get("directory_enabled")
    return UNKNOWN if shown is None else {"ENABLE": shown}


def _set_directory(target: Target, desired: Directory | None, _observed: object) -> Sequence[Sql]:
    """Only ENABLE can be set, and the others then have their defaults."""
    enable = sql.boolean(desired.enable if desired else False)
    return (target.alter(sql.sql("SET DIRECTORY = (ENABLE = {enable})", enable=enable)),)


def directory(model: type[Directory]) -> Any:
    """The field of a stage for it.

    Args:
        model: its options.
    """
    group = Group(model)
    return custom(
        alter=_set_directory,
        observe=_enabled,
        source="describe.DIRECTORY",
        codec=group,
        clause=lambda value: sql.sql("DIRECTORY = {group}", group=group.render(value)),
        details=(DETAIL,),
        recreate_when=group.beyond,
    )


def directory_rule(*options: str) -> Rule:
    """Options that take a directory table."""
    unset = " && ".join(f"!has(self.{each})" for each in options)
    return Rule(f"self.enable || ({unset})", f"{', '.join(options)}: set enable to true, or leave them out", "enable")


def adoptable(word: str, other: str) -> Callable[[Observation], str | None]:
    """Whether what is there is a stage of the kind.

    Args:
        word: how the type of such stages begins.
        other: the kind of the others.
    """

    def check(observation: Observation) -> str | None:
        shown = str(observation.row.get("type"))
        if shown.startswith(word) and "TEMPORARY" not in shown:
            return None
        return f"it is a stage of type {shown}: use another name, or declare an {other}"

    return check


stage = partial(
    Kind,
    domain=Domain.SCHEMA,
    object_type="STAGE",
    level=Level.SCHEMA,
    shown_in_pages=False,
    create_or_alter=True,
    separator=" ",
    details={DETAIL: Target.describe},
    rules=IN_SCHEMA_RULES,
    faults=format_faults,
)
"""A kind of stages. They share one name space."""
