"""Which objects a SHOW is about: the filters LIKE, IN, STARTS WITH, LIMIT and WITH PRIVILEGES, and where they look."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import parse_name
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import ObjectType, Show
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Name, Parser, print_name

ROW_LIMIT = 10_000
"""Rows that SHOW returns at most."""


def _characters(pattern: str) -> Iterator[tuple[str, bool]]:
    """The characters of a LIKE pattern, and whether each is a wildcard: backslash escapes the one after it."""
    escaped = False
    for character in pattern:
        if character == "\\" and not escaped:
            escaped = True
        else:
            yield character, character in "%_" and not escaped
            escaped = False


def like(pattern: str) -> re.Pattern[str]:
    """The matcher of a LIKE pattern of SHOW: case is ignored and the whole name must fit."""
    first, *others = _between_wildcards(pattern)
    # What stands between two wildcards is found where it comes first, and never looked for again: a pattern of many
    # wildcards would take forever else.
    middle = (f"(?>.*?{each})" for each in others[:-1])
    last = f".*{others[-1]}" if others else ""
    return re.compile("".join((first, *middle, last)), re.IGNORECASE | re.DOTALL)


def _between_wildcards(pattern: str) -> list[str]:
    """The expressions, of fixed length each, between the % of a LIKE pattern."""
    found = [""]
    for each, is_wildcard in _characters(pattern):
        if is_wildcard and each == "%":
            found.append("")
        else:
            found[-1] += "." if is_wildcard else re.escape(each)
    return found


# --- filters ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """The operand of IN: a kind, and a name unless the session's current object is meant.

    Attributes:
        overload: As of `Target`.
    """

    kind: str
    name: Name | None = None
    overload: str | None = None


@dataclass(frozen=True)
class Filters:
    """What narrows a SHOW."""

    pattern: str | None = None
    scope: Scope | None = None
    prefix: str | None = None
    limit: int | None = None
    after: str | None = None
    option: str | None = None
    privileges: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The one name, in any case, that LIKE lets through if it has no wildcards."""
        characters = [] if self.pattern is None else list(_characters(self.pattern))
        if self.pattern is None or any(is_wildcard for _, is_wildcard in characters):
            return None
        return "".join(character for character, _ in characters)

    @property
    def detail(self) -> str:
        """What a form of SHOW says of them."""
        named = {
            "LIKE": self.pattern,
            "IN": None if self.scope is None else f"{self.scope.kind} {print_name(self.scope.name or ())}".strip(),
            "STARTS WITH": self.prefix,
            "": self.option,
            "LIMIT": None if self.limit is None else str(self.limit),
            "FROM": self.after,
            "WITH PRIVILEGES": ", ".join(self.privileges) or None,
        }
        return " ".join(f"{words} {value}".strip() for words, value in named.items() if value is not None)

    def names(self, objects: Iterable[CatalogObject]) -> list[CatalogObject]:
        """Those objects whose names LIKE and STARTS WITH let through."""
        matcher = None if self.pattern is None else like(self.pattern)
        return [
            obj
            for obj in objects
            if (matcher is None or matcher.fullmatch(obj.name)) and obj.name.startswith(self.prefix or "")
        ]

    def page(self, objects: Sequence[CatalogObject]) -> Sequence[CatalogObject]:
        """The rows that LIMIT … FROM picks: those that follow the first whose name begins as FROM says."""
        if self.after is not None:
            first = next((i for i, obj in enumerate(objects) if obj.name.startswith(self.after)), None)
            objects = [obj for obj in objects if obj.name > self.after] if first is None else objects[first + 1 :]
        return objects[: self.limit]


def parse_filters(parser: Parser, types: Types, show: Show, scopes: Sequence[str]) -> Filters:
    """Take LIKE, IN, STARTS WITH, LIMIT and WITH PRIVILEGES, in this order, as far as the statement has them."""
    filters = Filters()
    if show.like and parser.accept("LIKE"):
        filters = replace(filters, pattern=parser.string())
    if show.required:
        parser.expect("IN", scopes[-1])
        filters = replace(filters, scope=Scope(scopes[-1], parse_name(parser, types[scopes[-1]], types)))
    elif scopes and parser.accept("IN"):
        filters = replace(filters, scope=_parse_scope(parser, types, scopes))
    if show.starts_with and parser.accept("STARTS", "WITH"):
        filters = replace(filters, prefix=parser.string())
    option = next((words for words, _ in show.options if parser.accept_phrase(words)), None)
    filters = replace(filters, option=option)
    if show.limit and parser.accept("LIMIT"):
        filters = replace(filters, limit=parser.integer())
        if filters.limit is not None and filters.limit > ROW_LIMIT:
            raise errors.unnumbered(f"LIMIT can't exceed {ROW_LIMIT} rows.")
        if parser.accept("FROM"):
            filters = replace(filters, after=parser.string())
    if show.privileges and parser.accept("WITH", "PRIVILEGES"):
        privileges = parser.list_of(lambda: parser.choose_any(types.privileges))
        filters = replace(filters, privileges=tuple(privileges))
    return filters


def _parse_scope(parser: Parser, types: Types, scopes: Sequence[str]) -> Scope:
    for kind in scopes:
        if parser.accept(kind):
            named = kind != "ACCOUNT" and not parser.at_end() and not _at_filter(parser)
            return Scope(kind, parse_name(parser, types[kind], types) if named else None)
    return Scope(scopes[-1], parse_name(parser, types[scopes[-1]], types))


def _at_filter(parser: Parser) -> bool:
    return parser.at("STARTS", "WITH") or parser.at("LIMIT") or parser.at("WITH", "PRIVILEGES")


def scopes_of(object_type: ObjectType, types: Types) -> list[str]:
    """The kinds that IN may name for a type, the account first."""
    scopes: list[str] = []
    while object_type.container != "ACCOUNT":
        object_type = types[object_type.container]
        scopes.insert(0, object_type.kind)
    return ["ACCOUNT", *scopes] if scopes else []


def root_of(context: Context, scopes: Sequence[str], scope: Scope | None, *, named: bool = False) -> CatalogObject:
    """The container that a SHOW looks in; without IN the innermost current one.

    Raises:
        SqlError: when the scope is missing or invisible: 002043, or 002003 that names it where `named`.
    """
    if scope is None:
        currents = [context.current(kind) for kind in reversed(scopes) if kind != "ACCOUNT"]
        return next((current for current in currents if current is not None), context.catalog.account)
    if scope.kind == "ACCOUNT":
        return context.catalog.account
    if scope.name is None:
        current = context.current(scope.kind)
        if current is None:
            raise errors.no_current(scope.kind, "SHOW")
        return current
    try:
        return context.resolve(context.types[scope.kind], scope.name, "SHOW", scope.overload)
    except SqlError as error:
        raise errors.cannot_be_performed() if error.number == errors.MISSING and not named else error from None


def objects_in(
    context: Context,
    object_type: ObjectType,
    root: CatalogObject,
    *,
    dropped: bool = False,
    named: str | None = None,
) -> list[CatalogObject]:
    """All objects of a type below a container, seen or not, by container and name; `named` as in `Catalog.members`."""
    if root.kind == object_type.container:
        containers = [root]
    else:
        containers = objects_in(context, context.types[object_type.container], root)
    return [
        obj
        for container in containers
        for obj in context.catalog.members(object_type.kind, container.id, dropped=dropped, named=named)
    ]
