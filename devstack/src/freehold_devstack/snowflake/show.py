"""SHOW of every object type, SHOW OBJECTS and SHOW PARAMETERS."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import CURRENT, Context
from freehold_devstack.snowflake.ddl import parse_target, parse_type
from freehold_devstack.snowflake.listing import (
    ROW_LIMIT,
    Filters,
    Scope,
    like,
    objects_in,
    parse_filters,
    root_of,
    scopes_of,
)
from freehold_devstack.snowflake.object_type import Form, ObjectType, Show, ShowColumn, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS, InForce
from freehold_devstack.snowflake.parser import Parser, Vocabulary, phrases
from freehold_devstack.snowflake.results import Result, number, text, timestamp
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    figure,
    stored,
    tabulate,
)

_SCOPES = ("ACCOUNT", "DATABASE", "SCHEMA")
"""What IN may name for what schemas hold."""

# --- one type --------------------------------------------------------------------------------------------------------


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
        found = objects_in(context, self.object_type, root, dropped=self.history, named=self.filters.name)
        kept = [obj for obj in self.filters.names(found) if obj.dropped_on is None or context.retained(obj)]
        page = self.filters.page(self._listed(context, kept))
        if len(page) > ROW_LIMIT and not show.cut:
            raise errors.too_many_rows(ROW_LIMIT)
        columns = show.terse if self.terse and show.terse else show.columns
        shown = [column for column in columns if self.history or not column.history]
        table = tabulate(context, shown, page[:ROW_LIMIT])
        return replace(table, rows=[*self._built_in(), *table.rows])

    def _built_in(self) -> Sequence[tuple[Scalar, ...]]:
        """The rows of what Snowflake provides."""
        matcher = like("%" if self.filters.pattern is None else self.filters.pattern)
        return [row for row in self.object_type.show.built_in if not self.own and matcher.fullmatch(str(row[1]))]

    def _listed(self, context: Context, objects: Iterable[CatalogObject]) -> list[CatalogObject]:
        option = dict(self.object_type.show.options).get(self.filters.option or "")
        # Only the primary role creates, so that asking for such a privilege leaves the secondary roles out.
        alone = any(privilege.startswith("CREATE ") for privilege in self.filters.privileges)
        return [
            obj
            for obj in objects
            if context.lists(obj)
            and (option is None or option(context, obj))
            and all(context.authority.holds(each, obj, primary_only=alone) for each in self.filters.privileges)
        ]


# --- several types, and none -----------------------------------------------------------------------------------------


def _figure(context: Context, obj: CatalogObject, what: str) -> Scalar:
    """What a table holds, which changes without a statement; views hold nothing."""
    return figure(context, obj, what) if obj.kind == "TABLE" else None


_OBJECTS = Show(
    columns=(
        CREATED_ON,
        NAME,
        DATABASE_NAME,
        SCHEMA_NAME,
        ShowColumn(text("kind"), lambda _, obj: obj.kind),
        COMMENT,
        ShowColumn(text("cluster_by"), stored("CLUSTER BY")),
        ShowColumn(number("rows"), lambda context, obj: _figure(context, obj, "rows")),
        ShowColumn(number("bytes"), lambda context, obj: _figure(context, obj, "bytes")),
        OWNER,
        ShowColumn(text("retention_time"), lambda context, obj: str(context.retention(obj))),
        OWNER_ROLE_TYPE,
    ),
    starts_with=True,
    limit=True,
    cut=True,
)


@dataclass(frozen=True)
class ShowObjects:
    """SHOW OBJECTS: the tables and views below a container."""

    filters: Filters

    @property
    def form(self) -> Form:
        return Form("SHOW", "OBJECTS", (), self.filters.detail)

    def execute(self, context: Context) -> Result:
        root = root_of(context, _SCOPES, self.filters.scope)
        relations = (kind for kind in context.types.values() if kind.relation)
        found = self.filters.names(
            obj for kind in relations for obj in objects_in(context, kind, root, named=self.filters.name)
        )
        seen = sorted((obj for obj in found if context.lists(obj)), key=context.catalog.path)
        return tabulate(context, _OBJECTS.columns, self.filters.page(seen)[:ROW_LIMIT])


@dataclass(frozen=True)
class _AbsentType:
    """A type of what schemas hold in Snowflake: SHOW truly finds none as long as none can be made here.

    Attributes:
        columns: Names of the columns after the first, all of which are texts.
        filters: What its SHOW takes.
    """

    plural: str
    columns: tuple[str, ...]
    filters: Show


_ALERTS = _AbsentType(
    "ALERTS",
    phrases("""
        name, database_name, schema_name, owner, comment, warehouse, schedule, state, condition, action, owner_role_type
    """),
    Show((), starts_with=True, limit=True),
)
"""https://docs.snowflake.com/en/sql-reference/sql/show-alerts"""

_PIPES = _AbsentType(
    "PIPES",
    phrases("""
        name, database_name, schema_name, definition, owner, notification_channel, comment, integration, pattern,
        error_integration, owner_role_type, invalid_reason, kind
    """),
    Show(()),
)
"""https://docs.snowflake.com/en/sql-reference/sql/show-pipes"""

_FURTHER = [
    _AbsentType(plural, phrases("name, database_name, schema_name, owner, comment"), Show(()))
    for plural in phrases("""
        AGGREGATION POLICIES, AUTHENTICATION POLICIES, CORTEX SEARCH SERVICES, GIT REPOSITORIES, IMAGE REPOSITORIES,
        MODELS, NOTEBOOKS, PASSWORD POLICIES, PROJECTION POLICIES, SECRETS, SEMANTIC VIEWS, SERVICES, SESSION POLICIES,
        STREAMLITS
    """)
]
"""Those of which it counts only that there are none: of their columns and filters what all of them have."""

_ABSENT = Vocabulary({absent.plural: absent for absent in (_ALERTS, _PIPES, *_FURTHER)})


@dataclass(frozen=True)
class ShowAbsent:
    """SHOW of a type that can't be made here: no rows, in a container that is there."""

    absent: _AbsentType
    filters: Filters

    @property
    def form(self) -> Form:
        return Form("SHOW", self.absent.plural, (), self.filters.detail)

    def execute(self, context: Context) -> Result:
        root_of(context, _SCOPES, self.filters.scope, named=True)
        return Result((timestamp("created_on"), *map(text, self.absent.columns)), [])


def parse_show(parser: Parser, types: Types) -> Statement:
    """Read a SHOW of a type, up to its end."""
    if (parse := parser.accept_any(types.extra_shows)) is not None:
        return parse(parser)
    terse = parser.token
    is_terse = parser.accept("TERSE")
    if parser.accept("OBJECTS"):
        return ShowObjects(parse_filters(parser, types, _OBJECTS, _SCOPES))
    if not is_terse and (object_type := parser.accept_any(types.shows_of_own)) is not None:
        return _show_type(parser, types, object_type, own=True)
    object_type = types.parse(parser, plural=True, creating=False)
    if object_type is None and not is_terse and (absent := parser.accept_any(_ABSENT)) is not None:
        return ShowAbsent(absent, parse_filters(parser, types, absent.filters, _SCOPES))
    object_type = object_type or parse_type(parser, types, plural=True)
    if is_terse and object_type.show.terse is None:
        raise parser.unexpected(terse)
    return _show_type(parser, types, object_type, terse=is_terse)


def _show_type(
    parser: Parser, types: Types, object_type: ObjectType, *, terse: bool = False, own: bool = False
) -> ShowType:
    history = object_type.show.history and parser.accept("HISTORY")
    scopes = scopes_of(object_type, types) if object_type.show.scoped else []
    filters = parse_filters(parser, types, object_type.show, scopes)
    if history and filters.privileges:
        raise errors.unnumbered("HISTORY and WITH PRIVILEGES can't be used together.")
    return ShowType(object_type, scopes, filters, terse, history, own)


# --- parameters ------------------------------------------------------------------------------------------------------


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
            if object_type is not None and object_type.rights.show_parameters and not context.is_self(holder):
                context.require(object_type.rights.show_parameters, holder)
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
            kind = parser.token
            object_type = parse_type(parser, types)
            if not object_type.parameters:
                raise parser.unexpected(kind)
            scope = Scope(object_type.kind)
            if not (parser.at_end() and object_type.kind in CURRENT):
                target = parse_target(parser, object_type, types)
                scope = Scope(object_type.kind, target.name, target.overload)
    return ShowParameters(pattern, scope)
