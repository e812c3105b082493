"""What functions and procedures of all languages have in common: arguments, what they return, their source.

Overloads are objects of their own: the types of the arguments belong to the name, and all languages share the names.
No ALTER changes what a routine does. CREATE OR ALTER gives it another source and return type and keeps its grants;
what tells callers how to call it takes another routine ("CREATE FUNCTION", "CREATE PROCEDURE").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from freehold import datatypes, returned, sql
from freehold.datatypes import InvalidDataType
from freehold.kinds import arguments
from freehold.kinds.arguments import Argument
from freehold.kinds.clauses import clause
from freehold.kinds.containers import CONTAINER_PRIVILEGES, LogLevel
from freehold.kinds.described import DETAIL, described
from freehold.kinds.fields import custom, parameter, prop
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.property import Change, Place, Target, set_to
from freehold.kinds.values import Boolean, Codec, Comment, Word
from freehold.observation import UNKNOWN, Observation
from freehold.returned import Returned
from freehold.sql import Sql

_LONGEST_SIGNATURE = 9_800
"""Bytes of name, arguments and return type together (BCR-2303)."""


class Returns(Codec):
    """A type, or the columns of a table."""

    def canonical(self, value: Any) -> Returned:
        return returned.parse(str(value))

    def read(self, raw: object) -> object:
        return returned.read(str(raw).removesuffix(" NOT NULL")) or UNKNOWN

    def matches(self, desired: Any, observed: Any) -> bool:
        return returned.matches(desired, observed)


Nulls = Literal["CALLED ON NULL INPUT", "RETURNS NULL ON NULL INPUT", "STRICT"]
_NULLS = Word(quoted=False, spellings={"STRICT": "RETURNS NULL ON NULL INPUT"})
level = partial(parameter, create=False, or_alter=True, place=Place.AFTER_PROPERTIES)
"""A parameter that decides what is kept of what a routine tells. In CREATE it has no effect."""
_described = partial(clause, details=(DETAIL,))


class RoutineSpec(InSchemaSpec):
    """A function or procedure."""

    arguments: list[Argument] | None = _described(
        change=Change.RECREATE,
        write=arguments.declared,
        codec=arguments.Arguments(),
        observe=arguments.observed,
        source="describe.signature",
        place=Place.ELEMENTS,
        min_length=1,
        max_length=500,
    )
    """The arguments, in order; none by default. Their types tell it from others of its name: with other types it is
    another one, which takes a resource of its own."""
    returns: str = _described(
        "RETURNS",
        write=lambda value: sql.sql("RETURNS {type}", type=returned.parse(value).ddl),
        codec=Returns(),
        observe=described("returns"),
        source="describe.returns",
        place=Place.AFTER_NAME,
        check=returned.parse,
        required=True,
        min_length=1,
        max_length=65_536,
    )
    """What comes back: a data type, or TABLE (<column> <type>, ...)."""
    returns_not_null: bool | None = _described(
        "NOT NULL",
        write=lambda value: sql.words("NOT NULL") if value else None,
        codec=Boolean(),
        observe=lambda observation: _never_null(described("returns")(observation)),
        source="describe.returns",
        unset=False,
        place=Place.AFTER_NAME,
    )
    """Whether it promises never to return NULL. Snowflake trusts the promise."""
    null_input_behavior: Nulls | None = _described(
        change=Change.RECREATE,
        write=_NULLS.render,
        codec=_NULLS,
        observe=described("null handling"),
        source="describe.null handling",
        unset="CALLED ON NULL INPUT",
    )
    """Whether it is called when an argument is NULL, or NULL comes back at once. STRICT means the latter."""
    volatility: Literal["VOLATILE", "IMMUTABLE"] | None = _described(
        change=Change.RECREATE,
        write=sql.words,
        codec=Word(quoted=False),
        observe=described("volatility"),
        source="describe.volatility",
        unset="VOLATILE",
    )
    """Whether equal arguments may give different results."""
    log_level: LogLevel | None = level("LOG_LEVEL")
    """Severity from which log messages are kept. Takes effect only with an event table."""
    log_event_level: LogLevel | None = level("LOG_EVENT_LEVEL")
    """Severity from which events are logged."""
    metric_level: Literal["ALL", "NONE"] | None = level("METRIC_LEVEL")
    """Whether metrics are collected."""
    trace_level: Literal["ALWAYS", "ON_EVENT", "PROPAGATE", "OFF"] | None = level("TRACE_LEVEL")
    """When spans are traced. Takes effect only with an event table."""
    enable_console_output: bool | None = level("ENABLE_CONSOLE_OUTPUT")
    """Whether it may write to the console."""


class FunctionSpec(RoutineSpec):
    """A function."""

    secure: bool | None = custom(
        alter=lambda target, desired, observed: _change_secure(target, desired=desired, observed=observed),
        observe=column("is_secure"),
        source="show.is_secure",
        codec=Boolean(),
        clause=lambda value: sql.words("SECURE") if value else None,
        place=Place.BEFORE_TYPE,
    )
    """Whether only its owner can read what it does."""


class ProcedureSpec(RoutineSpec):
    """A procedure."""

    secure: bool | None = clause(
        "SECURE",
        write=lambda value: sql.words("SECURE") if value else None,
        codec=Boolean(),
        observe=column("is_secure"),
        source="show.is_secure",
        unset=False,
        place=Place.BEFORE_TYPE,
    )
    """Whether only its owner can read what it does."""


def _change_secure(target: Target, *, desired: bool | None, observed: object) -> Sequence[Sql]:
    if bool(desired) == observed:
        return ()
    return (target.alter(sql.words("SET SECURE" if desired else "UNSET SECURE")),)


Rights = Literal["OWNER", "CALLER", "RESTRICTED CALLER"]


def execute_as() -> Any:
    """The field of whose rights a procedure runs with."""

    def change(target: Target, desired: Rights | None, _observed: object) -> Sequence[Sql]:
        return (target.alter(sql.sql("EXECUTE AS {rights}", rights=sql.words(desired or "OWNER"))),)

    return custom(
        alter=change,
        observe=described("execute as"),
        source="describe.execute as",
        codec=Word(quoted=False),
        clause=lambda value: sql.sql("EXECUTE AS {rights}", rights=sql.words(value)),
        place=Place.AFTER_PROPERTIES,
        details=(DETAIL,),
        reset=set_to("OWNER"),
    )


def comment(default: str) -> Any:
    """The COMMENT.

    Args:
        default: what Snowflake prints where there is none.
    """
    return prop("COMMENT", show="description", codec=Comment(absent=default), max_length=1_000_000)


def _never_null(returns: object) -> object:
    return UNKNOWN if returns is UNKNOWN else str(returns).endswith(" NOT NULL")


def faults(spec: RoutineSpec) -> Iterator[str]:
    """What is wrong with a routine of any language."""
    given = spec.arguments or ()
    yield from arguments.faults(given)
    declared = f"{spec.name}({', '.join(f'{each.name} {each.type}' for each in given)}){spec.returns}"
    if (size := len(declared.encode())) > _LONGEST_SIGNATURE:
        yield (
            f"spec.arguments: name, arguments and return type have {size} bytes, and at most {_LONGEST_SIGNATURE} "
            "together"
        )


def returns_table(spec: RoutineSpec) -> bool:
    """Whether rows come back. A return type that can't be read is told elsewhere."""
    try:
        return returned.parse(spec.returns).type is None
    except InvalidDataType:
        return False


def refused_types(spec: RoutineSpec, language: str, refused: frozenset[str], advice: str) -> Iterator[str]:
    """Types that a language has nothing to hold in.

    Args:
        spec: the routine.
        language: its language, for people.
        refused: the types, by `datatypes.DataType.base`.
        advice: what to use instead.
    """
    places = {f"spec.arguments[{at}].type": each.type for at, each in enumerate(spec.arguments or ())}
    for place, text in {**places, "spec.returns": spec.returns}.items():
        base = datatypes.read(text).base
        if base in refused:
            yield f"{place}: {language} has no {base}: {advice}"


def _adoptable(language: str, observation: Observation) -> str | None:
    row = observation.row
    for flag, what in {"is_external_function": "an external", "is_data_metric": "a data metric"}.items():
        if row.get(flag) == "Y":
            return f"it is {what} function"
    found = row.get("language") or described("language")(observation)
    return None if found in (UNKNOWN, language) else f"its language is {found}, not {language}"


def routine(
    spec: type[RoutineSpec],
    object_type: Literal["FUNCTION", "PROCEDURE"],
    language: str,
    *,
    words: str,
    short_name: str,
    faults: Callable[[Any], tuple[str, ...]],
    **further: Any,
) -> Kind:
    """The kind of the functions or procedures in a language.

    Args:
        spec: its spec.
        object_type: which of both.
        language: as Snowflake prints it.
        words: the clause that says so.
        short_name: for kubectl.
        faults: as `Kind` has it.
        further: likewise.
    """
    return Kind(
        spec=spec,
        domain=Domain.SCHEMA,
        object_type=object_type,
        level=Level.SCHEMA,
        holds_data=False,
        short_names=(short_name,),
        # SHOW FUNCTIONS has hundreds of Snowflake's own, too.
        shown_as="USER FUNCTIONS" if object_type == "FUNCTION" else "",
        shown_in_pages=False,
        database_column="catalog_name",
        arguments=lambda found: [each.type for each in found.arguments or ()],
        parameters=True,
        create_or_alter=True,
        create_words=words,
        privileges=CONTAINER_PRIVILEGES,
        rules=(*IN_SCHEMA_RULES, *further.pop("rules", ())),
        details={DETAIL: Target.describe},
        adoptable=partial(_adoptable, language),
        adoption_details=frozenset({DETAIL}),
        faults=faults,
        **further,
    )
