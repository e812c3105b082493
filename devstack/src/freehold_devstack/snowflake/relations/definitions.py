"""The definitions of a table's columns: read, checked and completed.

https://docs.snowflake.com/en/sql-reference/sql/create-table
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Expression, Place, parse_expression
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, parse_data_type
from freehold_devstack.snowflake.grammar import Given
from freehold_devstack.snowflake.parser import Name, Parser, phrases, print_name
from freehold_devstack.snowflake.relations import columns as columns_module
from freehold_devstack.snowflake.relations import constraints as constraints_module
from freehold_devstack.snowflake.relations.column_governance import attach, parse_attachment
from freehold_devstack.snowflake.relations.columns import COLUMNS, Column, Identity, check_unique, find_column, outputs
from freehold_devstack.snowflake.relations.constraint_definitions import parse_constraint
from freehold_devstack.snowflake.relations.constraints import CONSTRAINTS, Constraint
from freehold_devstack.snowflake.tokens import TokenKind

_NOT_COLUMNS = frozenset({"CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER"})
"""Words that can't name a column, beyond those that can't name any object."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A column with the constraints that its definition holds."""

    column: Column
    constraints: tuple[Constraint, ...]


# --- reading ---------------------------------------------------------------------------------------------------------


def parse_signature(parser: Parser) -> Given:
    """Take the brackets of CREATE TABLE: columns and out-of-line constraints."""
    for words in ("AS", "FROM ARCHIVE OF", "FROM BACKUP SET", "USING TEMPLATE"):
        if parser.accept_phrase(words):
            raise errors.unsupported(f"CREATE TABLE {words}")
    parser.expect("(")
    columns: list[Column] = []
    constraints: list[Constraint] = []
    while not (columns or constraints) or parser.accept(","):
        if (constraint := parse_constraint(parser)) is not None:
            constraints.append(constraint)
            continue
        definition = parse_column(parser)
        columns.append(definition.column)
        constraints.extend(definition.constraints)
    if not columns:
        raise parser.unexpected()
    parser.expect(")")
    check_unique(column.name for column in columns)
    return {
        COLUMNS: tuple(map(columns_module.keep, columns)),
        CONSTRAINTS: tuple(map(constraints_module.keep, constraints)) or None,
    }


def parse_column(parser: Parser) -> Definition:
    """Take one column.

    Raises:
        SqlError: As `parse_data_type`; 001003; 002023 and 002263 for a default, 011201 to 011207 for a virtual column.
    """
    if parser.token.kind is TokenKind.WORD and parser.token.value in _NOT_COLUMNS:
        raise parser.unexpected()
    name = parser.identifier()
    column = Column(name, parse_data_type(parser))
    constraints: list[Constraint] = []
    taken: set[str] = set()
    while not (parser.at(",") or parser.at(")")):
        token = parser.token
        if (attribute := next((words for words in _ATTRIBUTES if parser.accept_phrase(words)), None)) is not None:
            about, read = _ATTRIBUTES[attribute]
            if about in taken:
                raise parser.unexpected(token)
            taken.add(about)
            column = read(parser, column)
        elif (attached := parse_attachment(parser, column)) is not None:
            column = attached
        elif (constraint := parse_constraint(parser, name)) is not None:
            constraints.append(constraint)
        else:
            break
    _check_virtual(column, constraints)
    return Definition(column, tuple(constraints))


def _read_not_null(_parser: Parser, column: Column) -> Column:
    return replace(column, nullable=False)


def _read_comment(parser: Parser, column: Column) -> Column:
    return replace(column, comment=parser.string())


_COLLATION = re.compile(
    r"(utf8|bin|[a-z]{2,3}(_[a-z0-9]+)*)?"
    r"((^|-)(ci|cs|ai|as|pi|ps|fl|fu|upper|lower|trim|ltrim|rtrim))*",
    re.IGNORECASE,
)  # fmt: skip


def _read_collation(parser: Parser, column: Column) -> Column:
    collation = parser.string()
    check_collation(collation)
    if not column.type.is_text:
        raise errors.unnumbered(f"Collation can't be specified for column '{column.name}' of type {column.type}.")
    return replace(column, collation=collation)


def check_collation(collation: str) -> None:
    """Refuse what is no collation specification: https://docs.snowflake.com/en/sql-reference/collation"""
    if not _COLLATION.fullmatch(collation):
        raise errors.unnumbered(f"Invalid collation specification '{collation}'.")


def _read_identity(parser: Parser, column: Column) -> Column:
    if not column.type.is_numeric:
        raise errors.unnumbered(f"Column '{column.name}' of type {column.type} can't be an identity column.")
    start, increment = 1, 1
    if parser.accept("("):
        start = _signed(parser)
        parser.expect(",")
        increment = _signed(parser)
        parser.expect(")")
    elif parser.accept("START"):
        start = _signed(parser)
        parser.expect("INCREMENT")
        increment = _signed(parser)
    if not increment:
        raise errors.invalid_property_value("0", "INCREMENT")
    order = parser.accept("ORDER")
    if not order:
        parser.accept("NOORDER")
    return replace(column, identity=Identity(start, increment, order))


def _signed(parser: Parser) -> int:
    return -parser.integer() if parser.accept("-") else parser.integer()


# --- defaults --------------------------------------------------------------------------------------------------------

_ENDS = phrases("""
    AUTOINCREMENT, CHECK, COLLATE, COMMENT, CONSTRAINT, DEFAULT, FOREIGN, IDENTITY, MASKING, NOT NULL, PRIMARY,
    PROJECTION, REFERENCES, TAG, UNIQUE, WITH
""")
"""Words that end the expression of a default."""


def _read_default(parser: Parser, column: Column) -> Column:
    place = Place(parser.token.line, parser.token.position)
    expression = parse_expression(parser.expression(*_ENDS), place, fold_quoted=parser.fold_quoted)
    sequence = _sequence(expression)
    if sequence is not None:
        if column.type.base != "NUMBER":
            raise errors.default_type(str(column.type), "NUMBER(38,0)", column.name)
        return replace(column, sequence=sequence)
    _check_default(column, expression)
    return replace(column, default=_printed(expression))


def _sequence(expression: Expression) -> Name | None:
    """The sequence of `<sequence>.NEXTVAL`."""
    named = expression.identifiers[0] if len(expression.identifiers) == 1 and expression.is_plain else ()
    is_next = len(named) > 1 and named[-1] == "NEXTVAL" and expression.text.upper().endswith("NEXTVAL")
    return named[:-1] if is_next else None


def _check_default(column: Column, expression: Expression) -> None:
    """Refuse a default that is no scalar expression of constants, or not of the column's type."""
    if expression.functions:
        raise errors.unknown_function(print_name(expression.functions[0]))
    if not expression.is_scalar:
        raise errors.invalid_default(expression.text)
    found = expression.type(())
    if found is None or expression.text.upper() == "NULL":
        return
    fits = found.base == column.type.base or (
        _family(found) == _family(column.type) and not (expression.is_literal and found.is_text)
    )
    too_long = expression.is_literal and found.is_text and fits and found.arguments > column.type.arguments
    if not fits or too_long:
        raise errors.default_type(str(column.type), str(found), column.name)


def _family(data_type: DataType) -> str:
    """What Snowflake converts into each other by itself."""
    if data_type.base in {"NUMBER", "FLOAT", "DECFLOAT"}:
        return "number"
    return "moment" if data_type.base == "DATE" or data_type.base.startswith("TIMESTAMP") else data_type.base


def _printed(expression: Expression) -> str:
    """The default as DESCRIBE prints it: words in capitals, functions with their brackets."""
    if expression.is_literal:
        return expression.text if "'" in expression.text else expression.text.upper()
    call = re.fullmatch(r"(\w+)\s*(\(\s*\))?", expression.text)
    return f"{call[1].upper()}()" if call else expression.text


# --- virtual columns -------------------------------------------------------------------------------------------------


def _read_virtual(parser: Parser, column: Column) -> Column:
    """https://docs.snowflake.com/en/sql-reference/virtual-columns"""
    start = parser.token
    text = parser.bracketed()
    parser.accept("VIRTUAL")
    expression = parse_expression(text, Place(start.line, start.position + 1), fold_quoted=parser.fold_quoted)
    where = f"in {column.name} virtual column definition."
    if expression.unstable is not None:
        function = expression.unstable
        raise errors.virtual_column(11201, f"Invalid usage of non-deterministic {function} function {where}")
    if expression.functions:
        raise errors.unknown_function(print_name(expression.functions[0]))
    if not expression.is_scalar:
        raise errors.virtual_column(11202, f"Invalid usage of subquery {where}")
    return replace(column, expression=text, uses=tuple(name[-1] for name in expression.identifiers))


def _check_virtual(column: Column, constraints: Sequence[Constraint]) -> None:
    """Refuse what a virtual column can't have, and two defaults on any column."""
    if column.identity is not None and (column.default is not None or column.sequence is not None):
        text = f"Multiple DEFAULT or AUTOINCREMENT expressions declared for column {column.name}."
        raise errors.unnumbered(text)
    if column.expression is None:
        return
    words = next((constraint.type for constraint in constraints), None) if column.nullable else "NOT NULL"
    if words is not None:
        raise errors.virtual_column(11207, f"Cannot set {words} constraint on virtual column {column.name}.")
    if column.has_default:
        raise errors.unnumbered(f"Virtual column {column.name} can't have a default.")


def _check_expression(column: Column, available: Sequence[Column]) -> None:
    """Refuse a virtual column whose expression uses what it may not, or is of another type."""
    for name in column.uses:
        if find_column(available, name).has_default:
            raise errors.unnumbered(f"Column {name} with a default can't be used in virtual column {column.name}.")
    expression = parse_expression(column.expression or "")
    found = expression.type(outputs(available))
    if found is None or (found == column.type if expression.is_plain else found.base == column.type.base):
        return
    text = (
        f"Data type of virtual column does not match the data type of its expression for column '{column.name}'. "
        f"Expected data type '{column.type}', found '{found}'."
    )
    raise errors.virtual_column(1482, text)


_Reader = Callable[[Parser, Column], Column]

_ATTRIBUTES: Mapping[str, tuple[str, _Reader]] = {
    "GENERATED ALWAYS AS": ("AS", _read_virtual),
    "AS": ("AS", _read_virtual),
    "NOT NULL": ("NOT NULL", _read_not_null),
    "COLLATE": ("COLLATE", _read_collation),
    "DEFAULT": ("DEFAULT", _read_default),
    "AUTOINCREMENT": ("IDENTITY", _read_identity),
    "IDENTITY": ("IDENTITY", _read_identity),
    "COMMENT": ("COMMENT", _read_comment),
}
"""The words of a column's attributes, with what each is about: every such thing can be said once."""


# --- completing ------------------------------------------------------------------------------------------------------


def completed(
    context: Context, table: CatalogObject, new: Sequence[Column], old: Sequence[Column] = ()
) -> tuple[Column, ...]:
    """New columns as the catalog keeps them: with collation, sequence, policies and tags found.

    Args:
        table: The record with its parameters and its owner; its columns don't matter.
        old: Columns that the table has before them.

    Raises:
        SqlError: 002003 or 003001 for a sequence, policy or tag; 000904, 001482 or 999999 for a virtual column.
    """
    collation = str(context.parameter(table, "DEFAULT_DDL_COLLATION").value or "")
    stored = [_stored(context, column, collation) for column in new]
    base = [*old, *(column for column in stored if column.expression is None)]
    virtual = [column for column in stored if column.expression is not None]
    for index, column in enumerate(virtual):
        _check_expression(column, [*base, *virtual[:index]])
    return attach(context, table, stored, (*old, *stored))


def _stored(context: Context, column: Column, collation: str) -> Column:
    if column.type.is_text and column.collation is None:
        column = replace(column, collation=collation)
    if isinstance(column.sequence, tuple):
        column = replace(column, sequence=usable_sequence(context, column.sequence).id)
    return column


def usable_sequence(context: Context, name: Name) -> CatalogObject:
    """The sequence of this name, if the session may use it.

    Raises:
        SqlError: 002003 or 003001.
    """
    sequence = context.resolve_reference("SEQUENCE", name, "CREATE")
    context.require("USAGE", sequence)
    return sequence


def check_constant_defaults(columns: Sequence[Column]) -> None:
    """Refuse with 002263 what ALTER TABLE … ADD COLUMN takes no default of: all but constants."""
    for column in columns:
        if column.sequence is not None:
            name = column.sequence if isinstance(column.sequence, tuple) else ()
            raise errors.invalid_default(f"{print_name(name)}.NEXTVAL")
        if column.default is not None and not parse_expression(column.default).is_literal:
            raise errors.invalid_default(column.default)
