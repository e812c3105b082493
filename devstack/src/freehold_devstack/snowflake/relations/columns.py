"""The columns of tables and views: how the catalog keeps them, how they are found and described."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Output, Relations
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, data_type
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.tags import TagValues

COLUMNS = "COLUMNS"
"""The property of a table or view that holds its columns."""


@dataclass(frozen=True, slots=True)
class Identity:
    """AUTOINCREMENT of a column; as text it is what DESCRIBE prints."""

    start: int = 1
    increment: int = 1
    order: bool = False

    def __str__(self) -> str:
        order = "ORDER" if self.order else "NOORDER"
        return f"IDENTITY START {self.start} INCREMENT {self.increment} {order}"


@dataclass(frozen=True, slots=True)
class Masking:
    """The masking policy on a column.

    Attributes:
        policy: Its id; its name until the statement that sets it is executed.
        using: The columns that it is given, the masked one first.
    """

    policy: int | Name
    using: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        default: The expression as DESCRIBE prints it.
        sequence: Whose NEXTVAL is the default; a name until the statement is executed.
        added: Whether ALTER TABLE added the column with its default, which it then keeps.
        collation: None where the statement leaves it to what is in force.
        expression: What a virtual column is computed by.
        uses: The columns that the expression uses.
        projection_policy: The one that the statement names; none stays on a column.
        tags: Values by tag id.
        tagging: The tags that the statement sets, by name.
    """

    name: str
    type: DataType
    nullable: bool = True
    default: str | None = None
    sequence: int | Name | None = None
    identity: Identity | None = None
    added: bool = False
    collation: str | None = None
    comment: str | None = None
    expression: str | None = None
    uses: tuple[str, ...] = ()
    masking_policy: Masking | None = None
    projection_policy: Name = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    tagging: TagValues = ()

    @property
    def has_default(self) -> bool:
        return not (self.default is None and self.sequence is None and self.identity is None)

    @property
    def printed_type(self) -> str:
        """The type with the collation, if there is one."""
        return f"{self.type} COLLATE '{self.collation}'" if self.collation else str(self.type)


# --- keeping ---------------------------------------------------------------------------------------------------------

_NOTHING: tuple[Value, ...] = (None, False, (), {})


def keep(column: Column) -> Mapping[str, Value]:
    """The column as the catalog keeps it: without what says nothing, and the same ones once, for there may be many."""
    identity, masking = column.identity, column.masking_policy
    values: dict[str, Value] = {
        "default": column.default,
        "sequence": column.sequence,
        "identity": None if identity is None else asdict(identity),
        "added": column.added,
        "collation": column.collation,
        "comment": column.comment,
        "expression": column.expression,
        "uses": column.uses,
        "masking_policy": None if masking is None else asdict(masking),
        "projection_policy": column.projection_policy,
        "tags": column.tags,
        "tagging": column.tagging,
    }
    said = {name: value for name, value in values.items() if value not in _NOTHING}
    if said.keys() <= {"comment"}:
        return _keep_plain(column.name, str(column.type), column.nullable, column.comment)
    return {"name": column.name, "type": str(column.type), "nullable": column.nullable, **said}


@lru_cache(maxsize=10_000)
def _keep_plain(name: str, data_type: str, nullable: bool, comment: str | None) -> Mapping[str, Value]:
    said: dict[str, Value] = {} if comment is None else {"comment": comment}
    return {"name": name, "type": data_type, "nullable": nullable, **said}


def _recall(values: Mapping[str, Any]) -> Column:
    identity, masking = values.get("identity"), values.get("masking_policy")
    typed = {
        "type": data_type(values["type"]),
        "identity": identity and Identity(**identity),
        "masking_policy": masking and Masking(masking["policy"], tuple(masking["using"])),
        "projection_policy": tuple(values.get("projection_policy", ())),
    }
    return Column(**{**values, **typed})


def columns_of(relation: CatalogObject) -> tuple[Column, ...]:
    """The columns of a table or view, in order."""
    values: Any = relation.properties[COLUMNS]
    return tuple(map(_recall, values))


def with_columns(relation: CatalogObject, columns: Iterable[Column]) -> CatalogObject:
    """The record with these columns instead."""
    return replace(relation, properties={**relation.properties, COLUMNS: tuple(map(keep, columns))})


def with_column(relation: CatalogObject, changed: Column, name: str | None = None) -> CatalogObject:
    """The record with one column changed, which was called `name` if it has a new one."""
    old = name or changed.name
    return with_columns(relation, (changed if each.name == old else each for each in columns_of(relation)))


# --- finding ---------------------------------------------------------------------------------------------------------


def find_column(columns: Iterable[Column], name: str) -> Column:
    """The column of this name.

    Raises:
        SqlError: 000904 when there is none.
    """
    for column in columns:
        if column.name == name:
            return column
    raise errors.invalid_identifier(name)


def parse_column_names(parser: Parser) -> tuple[str, ...]:
    """Take `(column [, …])`.

    Raises:
        SqlError: 001003 for anything else, 002025 for a column that is named twice.
    """
    names = parser.bracketed_list_of(parser.identifier)
    check_unique(names)
    return tuple(names)


def masked_columns(relation: CatalogObject) -> frozenset[str]:
    """The columns that a masking policy is given, be it to mask them or as a condition."""
    maskings = [column.masking_policy for column in columns_of(relation)]
    return frozenset(name for masking in maskings if masking is not None for name in masking.using)


def outputs(columns: Iterable[Column]) -> tuple[Output, ...]:
    """The columns as a query sees them."""
    return tuple(Output(column.name, column.type) for column in columns)


def read_columns(context: Context, tables: Iterable[Name]) -> Relations:
    """The columns of the tables and views that a definition reads, which the role that makes it must be allowed to.

    Raises:
        SqlError: 002003 or 003001.
    """
    found = [context.resolve_relation(table, "SELECT") for table in tables]
    for relation in found:
        context.require("SELECT", relation, primary_only=True)
    return {context.catalog.path(relation): outputs(columns_of(relation)) for relation in found}


def check_unique(names: Iterable[str]) -> None:
    """Refuse with 002025 two columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise errors.duplicate_column(name)
        seen.add(name)


# --- describing ------------------------------------------------------------------------------------------------------

_DESCRIPTION = tuple(
    map(
        text,
        (
            "name", "type", "kind", "null?", "default", "primary key", "unique key", "check", "expression", "comment",
            "policy name", "privacy domain",
        ),
    )
)  # fmt: skip


def printed_default(context: Context, column: Column) -> str | None:
    """The default as DESCRIBE prints it: a sequence by its full name, but never with quotes."""
    if column.identity is not None:
        return str(column.identity)
    if isinstance(column.sequence, int):
        return ".".join((*context.catalog.path(context.catalog[column.sequence]), "NEXTVAL"))
    return column.default


def policy_of(context: Context, column: Column) -> CatalogObject | None:
    """The masking policy on a column."""
    masking = column.masking_policy
    return context.catalog[masking.policy] if masking is not None and isinstance(masking.policy, int) else None


def _policy_name(context: Context, column: Column) -> str | None:
    policy = policy_of(context, column)
    return None if policy is None else context.print_path(policy)


def describe(
    context: Context,
    columns: Iterable[Column],
    primary: frozenset[str] = frozenset(),
    unique: frozenset[str] = frozenset(),
) -> Result:
    """The answer to DESCRIBE.

    Args:
        primary, unique: Names of the columns of the primary key and of the unique keys.
    """
    rows: list[tuple[Scalar, ...]] = [
        (
            column.name, column.printed_type, "COLUMN" if column.expression is None else "VIRTUAL",
            "Y" if column.nullable else "N", printed_default(context, column), "Y" if column.name in primary else "N",
            "Y" if column.name in unique else "N", None, column.expression, column.comment,
            _policy_name(context, column), None,
        )
        for column in columns
    ]  # fmt: skip
    return Result(_DESCRIPTION, rows)
