"""SHOW of every object type, SHOW OBJECTS and SHOW PARAMETERS."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import CURRENT, MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.ddl import parse_name, parse_target, parse_type
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import Describer, Form, ObjectType, Show, ShowColumn, Statement, Types
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS, InForce
from freehold_devstack.snowflake.parser import Name, Parser, phrases, print_name
from freehold_devstack.snowflake.results import Result, number, text, timestamp

ROW_LIMIT = 10_000
"""Rows that SHOW returns at most."""


def like(pattern: str) -> re.Pattern[str]:
    """The matcher of a LIKE pattern of SHOW: case is ignored, the whole name must fit, backslash escapes a wildcard."""
    parts = []
    escaped = False
    for character in pattern:
        if escaped or character not in "\\%_":
            parts.append(re.escape(character))
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append(".*" if character == "%" else ".")
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


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
        filters = replace(filters, privileges=_parse_privileges(parser, types))
    return filters


def _parse_privileges(parser: Parser, types: Types) -> tuple[str, ...]:
    privileges: list[str] = []
    while not privileges or parser.accept(","):
        words = parser.accept_any(types.privileges)
        if words is None:
            raise parser.unexpected()
        privileges.append(words)
    return tuple(privileges)


def _parse_scope(parser: Parser, types: Types, scopes: Sequence[str]) -> Scope:
    for kind in scopes:
        if parser.accept(kind):
            named = kind != "ACCOUNT" and not parser.at_end() and not _at_filter(parser)
            return Scope(kind, parse_name(parser, types[kind], types) if named else None)
    return Scope(scopes[-1], parse_name(parser, types[scopes[-1]], types))


def _at_filter(parser: Parser) -> bool:
    return parser.at("STARTS", "WITH") or parser.at("LIMIT") or parser.at("WITH", "PRIVILEGES")


def _scopes(object_type: ObjectType, types: Types) -> list[str]:
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
    context: Context, object_type: ObjectType, root: CatalogObject, *, dropped: bool = False
) -> list[CatalogObject]:
    """All objects of a type below a container, seen or not, by container and name."""
    if root.kind == object_type.container:
        containers = [root]
    else:
        containers = objects_in(context, context.types[object_type.container], root)
    return [
        obj
        for container in containers
        for obj in context.catalog.members(object_type.kind, container.id, dropped=dropped)
    ]


def _table(context: Context, columns: Iterable[ShowColumn], objects: Iterable[CatalogObject]) -> Result:
    shown = [column for column in columns if context.enabled(column.feature)]
    rows = [tuple(column.value(context, obj) for column in shown) for obj in objects]
    return Result(tuple(column.column for column in shown), rows)


def describe_as_shown(columns: Sequence[ShowColumn]) -> Describer:
    """DESCRIBE of a type that answers with the object's row of SHOW."""
    return lambda context, obj: _table(context, columns, [obj])


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShowType:
    """SHOW [TERSE | USER] <plural> [HISTORY] [LIKE …] [IN …] [STARTS WITH …] [LIMIT … [FROM …]]."""

    object_type: ObjectType
    scopes: Sequence[str]
    filters: Filters
    terse: bool
    history: bool
    own: bool = False

    @property
    def form(self) -> Form:
        words = ("TERSE" if self.terse else "", "HISTORY" if self.history else "", self.filters.detail)
        plural = f"USER {self.object_type.plural}" if self.own else self.object_type.plural
        return Form("SHOW", plural, (), " ".join(filter(None, words)))

    def execute(self, context: Context) -> Result:
        show = self.object_type.show
        if not context.enabled(self.object_type.feature):
            raise errors.unsupported(self.object_type.kind)
        root = root_of(context, self.scopes, self.filters.scope, named=show.named)
        found = objects_in(context, self.object_type, root, dropped=self.history)
        kept = [obj for obj in self.filters.names(found) if obj.dropped_on is None or context.retained(obj)]
        page = self.filters.page([obj for obj in kept if self._lists(context, obj)])
        if len(page) > ROW_LIMIT and not show.cut:
            raise errors.too_many_rows(ROW_LIMIT)
        columns = show.terse if self.terse and show.terse else show.columns
        shown = [column for column in columns if self.history or not column.history]
        table = _table(context, shown, page[:ROW_LIMIT])
        return replace(table, rows=[*self._built_in(), *table.rows])

    def _built_in(self) -> Sequence[tuple[Scalar, ...]]:
        """The rows of what Snowflake provides."""
        matcher = like("%" if self.filters.pattern is None else self.filters.pattern)
        return [row for row in self.object_type.show.built_in if not self.own and matcher.fullmatch(str(row[1]))]

    def _lists(self, context: Context, obj: CatalogObject) -> bool:
        options = dict(self.object_type.show.options)
        # Only the primary role creates, so that asking for such a privilege leaves the secondary roles out.
        alone = any(privilege.startswith("CREATE ") for privilege in self.filters.privileges)
        return (
            context.lists(obj)
            and (self.filters.option is None or options[self.filters.option](context, obj))
            and all(context.authority.holds(each, obj, primary_only=alone) for each in self.filters.privileges)
        )


def parse_show(parser: Parser, types: Types) -> Statement:
    """Read a SHOW of a type, up to its end."""
    if (parse := parser.accept_any(types.extra_shows)) is not None:
        return parse(parser)
    terse = parser.token
    is_terse = parser.accept("TERSE")
    if parser.accept("OBJECTS"):
        scopes = ["ACCOUNT", "DATABASE", "SCHEMA"]
        return ShowObjects(scopes, parse_filters(parser, types, _OBJECTS, scopes))
    if not is_terse and (object_type := parser.accept_any(types.shows_of_own)) is not None:
        return _show_type(parser, types, object_type, own=True)
    for plural in _ABSENT:
        if not is_terse and plural not in {each.plural for each in types.values()} and parser.accept_phrase(plural):
            scopes = ["ACCOUNT", "DATABASE", "SCHEMA"]
            return ShowAbsent(plural, scopes, parse_filters(parser, types, _OBJECTS, scopes))
    object_type = parse_type(parser, types, plural=True)
    if is_terse and object_type.show.terse is None:
        raise parser.unexpected(terse)
    return _show_type(parser, types, object_type, terse=is_terse)


def _show_type(
    parser: Parser, types: Types, object_type: ObjectType, *, terse: bool = False, own: bool = False
) -> ShowType:
    history = object_type.show.history and parser.accept("HISTORY")
    scopes = _scopes(object_type, types) if object_type.show.scoped else []
    filters = parse_filters(parser, types, object_type.show, scopes)
    if history and filters.privileges:
        raise errors.unnumbered("HISTORY and WITH PRIVILEGES can't be used together.")
    return ShowType(object_type, scopes, filters, terse, history, own)


def owner_role_type(context: Context, obj: CatalogObject) -> Scalar:
    """The owner's kind, but nothing for what was dropped, and empty for what the system owns."""
    if obj.dropped_on is not None:
        return None
    return "" if obj.owner is None else context.catalog[obj.owner].kind.replace(" ", "_")


def stored(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    """What a column shows of a property: texts, numbers and booleans as they are."""

    def value(_context: Context, obj: CatalogObject) -> Scalar:
        kept = obj.properties.get(name)
        return kept if isinstance(kept, str | int) else None

    return value


def _figure(context: Context, obj: CatalogObject, what: str) -> Scalar:
    """What a table holds, which changes without a statement; views hold nothing."""
    return figure(context, obj, what) if obj.kind == "TABLE" else None


def figure(context: Context, table: CatalogObject, what: str) -> int:
    """How many "rows" or "bytes" a table holds: none in its first minute, then whatever is loaded and deleted."""
    is_new = context.now - table.created_on < MILLISECONDS_PER_MINUTE
    return 0 if is_new else context.fluctuation(table, what, 1_000_000)


_OBJECTS = Show(
    columns=(
        ShowColumn(timestamp("created_on"), lambda _, obj: obj.created_on),
        ShowColumn(text("name"), lambda _, obj: obj.name),
        ShowColumn(text("database_name"), lambda context, obj: context.catalog.path(obj)[0]),
        ShowColumn(text("schema_name"), lambda context, obj: context.catalog.path(obj)[1]),
        ShowColumn(text("kind"), lambda _, obj: obj.kind),
        ShowColumn(text("comment"), stored("COMMENT")),
        ShowColumn(text("cluster_by"), stored("CLUSTER BY")),
        ShowColumn(number("rows"), lambda context, obj: _figure(context, obj, "rows")),
        ShowColumn(number("bytes"), lambda context, obj: _figure(context, obj, "bytes")),
        ShowColumn(text("owner"), lambda context, obj: context.owner_name(obj)),
        ShowColumn(text("retention_time"), lambda context, obj: str(context.retention(obj))),
        ShowColumn(text("owner_role_type"), owner_role_type),
    ),
    starts_with=True,
    limit=True,
    cut=True,
)


@dataclass(frozen=True)
class ShowObjects:
    """SHOW OBJECTS: the tables and views below a container."""

    scopes: Sequence[str]
    filters: Filters

    @property
    def form(self) -> Form:
        return Form("SHOW", "OBJECTS", (), self.filters.detail)

    def execute(self, context: Context) -> Result:
        root = root_of(context, self.scopes, self.filters.scope)
        relations = (kind for kind in context.types.values() if kind.relation)
        found = self.filters.names(obj for kind in relations for obj in objects_in(context, kind, root))
        seen = sorted((obj for obj in found if context.lists(obj)), key=context.catalog.path)
        return _table(context, _OBJECTS.columns, self.filters.page(seen)[:ROW_LIMIT])


_ABSENT = phrases("""
    ALERTS, PIPES
""")
"""What a schema may hold in Snowflake and can't be made here yet: SHOW truly finds none."""


@dataclass(frozen=True)
class ShowAbsent:
    """SHOW of a type that can't be made here: no rows, in a container that is there."""

    plural: str
    scopes: Sequence[str]
    filters: Filters

    @property
    def form(self) -> Form:
        return Form("SHOW", self.plural, (), self.filters.detail)

    def execute(self, context: Context) -> Result:
        root_of(context, self.scopes, self.filters.scope, named=True)
        return _table(context, _OBJECTS.columns[:4], ())


@dataclass(frozen=True)
class ShowParameters:
    """SHOW PARAMETERS [LIKE …] [{ IN | FOR } { SESSION | ACCOUNT | <kind> [<name>] }]."""

    pattern: str | None
    scope: Scope

    @property
    def form(self) -> Form:
        return Form("SHOW", "PARAMETERS", (), Filters(self.pattern, self.scope).detail)

    def execute(self, context: Context) -> Result:
        if self.scope.kind == "SESSION":
            values = {name: context.session_parameter(name) for name in SESSION_PARAMETERS}
        else:
            holder = root_of(context, (), self.scope)
            object_type = context.types.get(holder.kind)
            if object_type is not None and object_type.parameters_privilege and not context.is_self(holder):
                context.require(object_type.parameters_privilege, holder)
            names = tuple(PARAMETERS) if object_type is None else object_type.parameters
            values = {name: context.parameter(holder, name) for name in names}
        matcher = like(self.pattern if self.pattern is not None else "%")
        rows = [_parameter_row(name, values[name]) for name in sorted(values) if matcher.fullmatch(name)]
        return Result(tuple(map(text, ("key", "value", "default", "level", "description", "type"))), rows)


def _parameter_row(name: str, in_force: InForce) -> tuple[Scalar, ...]:
    parameter = PARAMETERS[name]
    value, default = (_parameter_text(value) for value in (in_force.value, parameter.default))
    return (name, value, default, in_force.level, parameter.description, parameter.type.sql_name)


def _parameter_text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_show_parameters(parser: Parser, types: Types) -> Statement:
    pattern = parser.string() if parser.accept("LIKE") else None
    scope = Scope("SESSION")
    if parser.accept("IN") or parser.accept("FOR"):
        if parser.accept("ACCOUNT"):
            scope = Scope("ACCOUNT")
        elif not parser.accept("SESSION"):
            object_type = parse_type(parser, types)
            scope = Scope(object_type.kind)
            if not (parser.at_end() and object_type.kind in CURRENT):
                target = parse_target(parser, object_type, types)
                scope = Scope(object_type.kind, target.name, target.overload)
    return ShowParameters(pattern, scope)
