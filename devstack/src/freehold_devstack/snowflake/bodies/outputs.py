"""What comes out of a query or an expression: names and types of columns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import OptimizeError, SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies.grouping import check_grouping
from freehold_devstack.snowflake.bodies.reading import DIALECT, Place
from freehold_devstack.snowflake.datatypes import DataType, data_type
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Name


@dataclass(frozen=True, slots=True)
class Output:
    """A column as a relation has it or a query returns it.

    Attributes:
        name: Empty where an expression has none.
        type: None where it can't be told.
    """

    name: str
    type: DataType | None


Relations = Mapping[Name, Sequence[Output]]
"""The columns of tables and views by their fully-qualified names."""


def quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


_UNRESOLVED = re.compile(r"Ambiguous column '(?P<ambiguous>.*?)'|(?:Unknown column: |Column ')(?P<unknown>[^']*)")
_AT = re.compile(r"Line: (\d+), Col: (\d+)")


def outputs_of(tree: exp.Query, relations: Relations, container: Name, place: Place) -> tuple[Output, ...]:
    schema = _schema(relations)
    try:
        qualified = qualify(_qualified(tree.copy(), container), DIALECT, schema=schema, quote_identifiers=False)
        typed = annotate_types(qualified, schema=schema, dialect=DIALECT)
    except OptimizeError as error:
        raise _unresolved(str(error), relations, place) from None
    except SqlglotError as error:
        raise errors.unsupported(str(error)) from None
    check_grouping(qualified, place)
    if any(select.is_star for select in typed.selects):
        raise errors.unsupported("SELECT * from what is neither a table nor a view")
    return tuple(Output(select.alias_or_name, _type(select)) for select in typed.selects)


def _qualified(tree: exp.Query, container: Name) -> exp.Query:
    """Give every table its full name and an alias: the library would fold the case of those that it makes up."""
    for scope in traverse_scope(tree):
        for table in (source for source in scope.sources.values() if isinstance(source, exp.Table)):
            if not isinstance(table.this, exp.Identifier):
                continue
            for level, name in zip(("catalog", "db"), container, strict=True):
                table.set(level, table.args.get(level) or quoted(name))
            if not table.alias:
                table.set("alias", exp.TableAlias(this=quoted(table.name)))
    return tree


def _schema(relations: Relations) -> MappingSchema:
    """The relations as the library takes them."""
    schema = MappingSchema(dialect=DIALECT, normalize=False)
    for path, columns in relations.items():
        *qualifiers, name = map(quoted, path)
        table = exp.Table(this=name, **dict(zip(("db", "catalog"), reversed(qualifiers), strict=False)))
        types = {column.name: str(column.type or "UNKNOWN") for column in columns}
        schema.add_table(table, types, normalize=False, match_depth=False)
    return schema


def _unresolved(message: str, relations: Relations, place: Place) -> SqlError:
    match, at = _UNRESOLVED.match(message), _AT.search(message)
    if match is None:
        return errors.unsupported(message)
    name = match["ambiguous"] or match["unknown"]
    holders = [columns for columns in relations.values() if any(column.name == name for column in columns)]
    if match["ambiguous"] or (len(holders) > 1 and "for table" not in message):
        return errors.ambiguous_column(name)
    line, end = (int(at[1]), int(at[2])) if at else (0, 0)
    return place.invalid_identifier(name, line, end - len(name))


def _type(select: exp.Expr) -> DataType | None:
    found = select.unalias()
    if isinstance(found, exp.Literal):
        return _literal_type(found)
    written = found.type.sql(DIALECT) if found.type else "UNKNOWN"
    try:
        return data_type(written)
    except SqlError:
        return None


def _literal_type(literal: exp.Literal) -> DataType:
    """Of a constant, Snowflake tells the exact length."""
    if literal.is_string:
        return DataType("VARCHAR", (max(len(literal.name), 1),))
    whole, _, fraction = literal.name.partition(".")
    if not (whole + fraction).isdigit():
        return DataType("FLOAT")
    return DataType("NUMBER", (max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction)))
