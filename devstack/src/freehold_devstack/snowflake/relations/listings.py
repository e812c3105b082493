"""SHOW COLUMNS and SHOW … KEYS: what is in the tables and views of a scope.

https://docs.snowflake.com/en/sql-reference/sql/show-columns, show-primary-keys
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.listing import ROW_LIMIT, Scope, like, objects_in, root_of
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser, print_name
from freehold_devstack.snowflake.relations.columns import Column, columns_of, printed_default
from freehold_devstack.snowflake.relations.constraints import (
    PRIMARY_KEY,
    UNIQUE,
    ForeignKey,
    constraints_of,
    foreign_keys,
    references,
)
from freehold_devstack.snowflake.results import Column as ResultColumn
from freehold_devstack.snowflake.results import Result, number, text, timestamp

Row = tuple[Scalar, ...]

_Rows = Callable[[Context, Sequence[CatalogObject]], Iterable[Row]]
"""The rows about some tables and views."""

_Parse = Callable[[Parser], Statement]

_CONTAINERS = ("ACCOUNT", "DATABASE", "SCHEMA")


# --- the scope -------------------------------------------------------------------------------------------------------


def _parse_scope(parser: Parser, *kinds: str) -> Scope | None:
    """Take [IN { ACCOUNT | DATABASE [<name>] | SCHEMA [<name>] | <kind> [<name>] | <name> }].

    Args:
        kinds: TABLE, and VIEW where views count as well.
    """
    if not parser.accept("IN"):
        return None
    if parser.accept("ACCOUNT"):
        return Scope("ACCOUNT")
    for kind, parts in (("DATABASE", 1), ("SCHEMA", 2), *((kind, 3) for kind in kinds)):
        if parser.accept(kind):
            return Scope(kind, None if parser.at_end() else parser.name(parts=parts))
    return Scope("TABLE", parser.name(parts=3))


def _relations(context: Context, scope: Scope | None, *, named: bool) -> list[CatalogObject]:
    """The tables and views of a scope that SHOW lists, by their names."""
    if scope is not None and scope.kind not in _CONTAINERS and scope.name is not None:
        return [context.resolve_relation(scope.name, "SHOW", scope.kind)]
    if scope is None or scope.name is None:
        # Without a name, what is current; a scope of tables or views is the schema's.
        inner = "DATABASE" if scope is None else scope.kind
        kinds = _CONTAINERS[: _CONTAINERS.index(inner) + 1] if inner in _CONTAINERS else _CONTAINERS
        root = root_of(context, kinds, None)
    else:
        root = root_of(context, _CONTAINERS, scope, named=named)
    kinds_of_relation = [object_type for object_type in context.types.values() if object_type.relation]
    found = [obj for object_type in kinds_of_relation for obj in objects_in(context, object_type, root)]
    return sorted((obj for obj in found if context.lists(obj)), key=context.catalog.path)


@dataclass(frozen=True)
class ShowParts:
    """SHOW { COLUMNS | PRIMARY KEYS | … } [LIKE …] [IN …].

    Attributes:
        pattern: LIKE, which looks at the names of columns.
        named: Whether the error about a container that is missing names it.
    """

    what: str
    columns: tuple[ResultColumn, ...]
    rows: _Rows
    scope: Scope | None
    named: bool = False
    pattern: str | None = None

    @property
    def form(self) -> Form:
        like_detail = "" if self.pattern is None else f"LIKE {self.pattern}"
        scope = "" if self.scope is None else f"IN {self.scope.kind} {print_name(self.scope.name or ())}".strip()
        return Form("SHOW", self.what, (), " ".join(filter(None, (like_detail, scope))))

    def execute(self, context: Context) -> Result:
        relations = _relations(context, self.scope, named=self.named)
        rows = self.rows(context, relations)
        if self.pattern is not None:
            matcher = like(self.pattern)
            rows = (row for row in rows if matcher.fullmatch(str(row[_COLUMN_NAME])))
        return Result(self.columns, list(islice(rows, ROW_LIMIT)))


# --- SHOW COLUMNS ----------------------------------------------------------------------------------------------------

_COLUMN_NAME = 2
_COLUMN_COLUMNS = tuple(
    map(
        text,
        (
            "table_name", "schema_name", "column_name", "data_type", "null?", "default", "kind", "expression",
            "comment", "database_name", "autoincrement", "schema_evolution_record",
        ),
    )
)  # fmt: skip
_MAX_BYTES = 16_777_216


def _data_type(data_type: DataType, *, nullable: bool) -> str:
    """The JSON that SHOW COLUMNS prints."""
    details: dict[str, Scalar] = {}
    match data_type.base, data_type.arguments:
        case "NUMBER", (precision, scale):
            name, details = "FIXED", {"precision": precision, "scale": scale}
        case "VARCHAR", (length,):
            name, details = "TEXT", {"length": length, "byteLength": max(length, min(4 * length, _MAX_BYTES))}
        case "BINARY", (length,):
            name, details = "BINARY", {"length": length, "byteLength": length}
        case "FLOAT", _:
            name = "REAL"
        case base, (digits,) if base.startswith("TIME"):
            name, details = base, {"precision": 0, "scale": digits}
        case base, _:
            name = base
    fixed = {"fixed": name == "BINARY"} if name in {"TEXT", "BINARY"} else {}
    return json.dumps({"type": name, **details, "nullable": nullable, **fixed}, separators=(",", ":"))


def _column_row(context: Context, relation: CatalogObject, column: Column) -> Row:
    database, schema, table = context.catalog.path(relation)
    default = None if column.identity is not None else printed_default(context, column)
    return (
        table, schema, column.name, _data_type(column.type, nullable=column.nullable),
        "true" if column.nullable else "NOT_NULL", default or "",
        "COLUMN" if column.expression is None else "VIRTUAL_COLUMN", column.expression or "", column.comment or "",
        database, "" if column.identity is None else str(column.identity), None,
    )  # fmt: skip


def _column_rows(context: Context, relations: Sequence[CatalogObject]) -> Iterable[Row]:
    return (_column_row(context, relation, column) for relation in relations for column in columns_of(relation))


def parse_show_columns(parser: Parser) -> Statement:
    """Take the rest of SHOW COLUMNS."""
    pattern = parser.string() if parser.accept("LIKE") else None
    scope = _parse_scope(parser, "TABLE", "VIEW")
    return ShowParts("COLUMNS", _COLUMN_COLUMNS, _column_rows, scope, named=True, pattern=pattern)


# --- SHOW … KEYS -----------------------------------------------------------------------------------------------------

_KEY_COLUMNS = (
    timestamp("created_on"), text("database_name"), text("schema_name"), text("table_name"), text("column_name"),
    number("key_sequence"), text("constraint_name"), text("rely"), text("comment"),
)  # fmt: skip
_REFERENCE_COLUMNS = (
    timestamp("created_on"), text("pk_database_name"), text("pk_schema_name"), text("pk_table_name"),
    text("pk_column_name"), text("fk_database_name"), text("fk_schema_name"), text("fk_table_name"),
    text("fk_column_name"), number("key_sequence"), text("update_rule"), text("delete_rule"), text("fk_name"),
    text("pk_name"), text("deferrability"), text("rely"), text("comment"),
)  # fmt: skip


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _key_rows(kind: str) -> _Rows:
    def rows(context: Context, tables: Sequence[CatalogObject]) -> Iterable[Row]:
        for table in tables:
            path: Name = context.catalog.path(table)
            for key in (each for each in constraints_of(table) if each.type == kind):
                for sequence, column in enumerate(key.columns, 1):
                    yield (table.created_on, *path, column, sequence, key.name, _truth(key.rely), key.comment)

    return rows


def _reference_rows(context: Context, found: Iterable[ForeignKey]) -> Iterable[Row]:
    for foreign_key in found:
        own, target = context.catalog.path(foreign_key.table), context.catalog.path(foreign_key.target)
        constraint, key = foreign_key.constraint, foreign_key.key
        for sequence, (referenced, column) in enumerate(zip(constraint.referenced, constraint.columns, strict=True), 1):
            yield (
                foreign_key.table.created_on, *target, referenced, *own, column, sequence, constraint.update_rule,
                constraint.delete_rule, constraint.name, key.name, constraint.deferrability, _truth(constraint.rely),
                constraint.comment,
            )  # fmt: skip


def _imported(context: Context, tables: Sequence[CatalogObject]) -> Iterable[Row]:
    return _reference_rows(context, (found for table in tables for found in foreign_keys(context, table)))


def _exported(context: Context, tables: Sequence[CatalogObject]) -> Iterable[Row]:
    order = {table.id: index for index, table in enumerate(tables)}
    return _reference_rows(context, sorted(references(context, *tables), key=lambda found: order[found.target.id]))


def _show_keys(what: str, columns: tuple[ResultColumn, ...], rows: _Rows) -> Iterable[tuple[str, _Parse]]:
    def parse(parser: Parser) -> Statement:
        return ShowParts(what, columns, rows, _parse_scope(parser, "TABLE"))

    # TERSE is taken and changes nothing.
    return ((what, parse), (f"TERSE {what}", parse))


SHOWS: tuple[tuple[str, _Parse], ...] = (
    ("COLUMNS", parse_show_columns),
    *_show_keys("PRIMARY KEYS", _KEY_COLUMNS, _key_rows(PRIMARY_KEY)),
    *_show_keys("UNIQUE KEYS", _KEY_COLUMNS, _key_rows(UNIQUE)),
    *_show_keys("IMPORTED KEYS", _REFERENCE_COLUMNS, _imported),
    *_show_keys("EXPORTED KEYS", _REFERENCE_COLUMNS, _exported),
)
"""The words after SHOW, and what reads the rest."""
