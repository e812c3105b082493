"""What tells a function or procedure from others of its name, and what it returns: read, kept and printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freehold_devstack.snowflake.bodies import parse_expression
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.datatypes import DataType, data_type, parse_data_type
from freehold_devstack.snowflake.grammar import Given
from freehold_devstack.snowflake.parser import Parser

_UNBOUNDED = ("VARCHAR", "BINARY")
"""Types that come back without a length where the statement gives them none."""


@dataclass(frozen=True)
class Argument:
    """One argument.

    Attributes:
        default: The expression as written; None for an argument that every call has to give.
        is_output: Whether a procedure hands it back to its caller.
    """

    name: str
    type: DataType
    default: str | None = None
    is_output: bool = False

    @property
    def shown(self) -> str:
        """As the column `arguments` of SHOW prints it."""
        return "OUT " * self.is_output + "DEFAULT " * (self.default is not None) + self.type.bare

    @property
    def described(self) -> str:
        """As the signature of DESCRIBE prints it."""
        return f"{self.name} {'OUT ' * self.is_output}{self.type.bare}"

    def stored(self) -> Mapping[str, Value]:
        said: dict[str, Value] = {} if self.default is None else {"default": self.default}
        return {"name": self.name, "type": spelled(self.type), **said, **({"output": True} if self.is_output else {})}


@dataclass(frozen=True)
class Returns:
    """What comes back: one value of a type, or the columns of a table, which may be left open."""

    type: DataType | None
    columns: tuple[tuple[str, DataType], ...] = ()
    not_null: bool = False

    @property
    def is_table(self) -> bool:
        return self.type is None

    @property
    def shown(self) -> str:
        """As the column `arguments` of SHOW prints it."""
        if self.type is not None:
            return self.type.bare
        return f"TABLE ({', '.join(f'{name} {column.bare}' for name, column in self.columns)})"

    @property
    def described(self) -> str:
        """As DESCRIBE prints it."""
        columns = ", ".join(f"{name} {spelled(column)}" for name, column in self.columns)
        return (f"TABLE ({columns})" if self.type is None else spelled(self.type)) + " NOT NULL" * self.not_null

    def stored(self) -> Mapping[str, Value]:
        columns = tuple({"name": name, "type": spelled(column)} for name, column in self.columns)
        returned: dict[str, Value] = {"table": columns} if self.type is None else {"type": spelled(self.type)}
        return {**returned, "not_null": True} if self.not_null else returned


def spelled(type_: DataType) -> str:
    """The type as DESCRIBE prints what is returned; read again it is the same type."""
    is_bare = type_.base in _UNBOUNDED and not type_.written and type_ == data_type(type_.base)
    return type_.base if is_bare else str(type_)


# --- what the catalog keeps ------------------------------------------------------------------------------------------


def arguments_of(properties: Mapping[str, Value]) -> tuple[Argument, ...]:
    """The arguments that a routine's properties hold."""
    return tuple(
        Argument(
            str(kept["name"]),
            data_type(str(kept["type"])),
            str(kept["default"]) if "default" in kept else None,
            is_output=bool(kept.get("output")),
        )
        for kept in _mappings(properties["ARGUMENTS"])
    )


def returns_of(properties: Mapping[str, Value]) -> Returns:
    """What a routine returns by its properties."""
    kept = properties["RETURNS"]
    if not isinstance(kept, Mapping):
        raise TypeError(kept)
    not_null = bool(kept.get("not_null"))
    if "type" in kept:
        return Returns(data_type(str(kept["type"])), not_null=not_null)
    columns = tuple((str(column["name"]), data_type(str(column["type"]))) for column in _mappings(kept["table"]))
    return Returns(None, columns, not_null=not_null)


def _mappings(value: Value) -> list[Mapping[str, Value]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, Sequence) else []


def overload(given: Given) -> str:
    """The types of the arguments, as they tell apart routines of one name."""
    return ", ".join(argument.type.bare for argument in arguments_of(given))


def calls(routine: CatalogObject) -> set[tuple[str, ...]]:
    """The types of the arguments of every call that a routine answers to: those with a default can be left out."""
    arguments = arguments_of(routine.properties)
    required = sum(argument.default is None for argument in arguments)
    types = tuple(argument.type.bare for argument in arguments)
    return {types[:count] for count in range(required, len(types) + 1)}


# --- parsing ---------------------------------------------------------------------------------------------------------


def parse_arguments(parser: Parser) -> Given:
    """Take `([<name> <type> [DEFAULT <expression>] [, …]])`, up to RETURNS or to what becomes of grants before it."""
    return _parse_signature(parser, modes=False)


def parse_procedure_arguments(parser: Parser) -> Given:
    """As `parse_arguments`, with IN, INPUT, OUT and OUTPUT before the types."""
    return _parse_signature(parser, modes=True)


def _parse_signature(parser: Parser, *, modes: bool) -> Given:
    parser.expect("(")
    arguments: list[Argument] = []
    while not parser.accept(")"):
        if arguments:
            parser.expect(",")
        arguments.append(_parse_argument(parser, modes=modes))
    if parser.at("RETURNS", "NULL") or not any(
        parser.at(*grants, "RETURNS") for grants in ((), ("COPY", "GRANTS"), ("IGNORE", "GRANTS"))
    ):
        raise parser.unexpected()
    return {"ARGUMENTS": tuple(argument.stored() for argument in arguments)}


def _parse_argument(parser: Parser, *, modes: bool) -> Argument:
    name = parser.identifier()
    mode = next((word for word in ("IN", "INPUT", "OUT", "OUTPUT") if modes and parser.accept(word)), "")
    type_ = parse_data_type(parser)
    default = _parse_default(parser) if parser.accept("DEFAULT") else None
    return Argument(name, type_, default, is_output=mode.startswith("OUT"))


def _parse_default(parser: Parser) -> str:
    text = parser.expression()
    # Nothing can be named there: neither another argument nor a column.
    parse_expression(text, fold_quoted=parser.fold_quoted).type(())
    return text


def parse_returns(parser: Parser) -> Given:
    """Take `{ <type> | TABLE ([<name> <type> [, …]]) } [[NOT] NULL]`."""
    if parser.accept("TABLE"):
        returns = Returns(None, _parse_columns(parser), not_null=_parse_not_null(parser))
    else:
        returns = Returns(parse_data_type(parser), not_null=_parse_not_null(parser))
    return {"RETURNS": returns.stored()}


def _parse_columns(parser: Parser) -> tuple[tuple[str, DataType], ...]:
    parser.expect("(")
    columns: list[tuple[str, DataType]] = []
    while not parser.accept(")"):
        if columns:
            parser.expect(",")
        columns.append((parser.identifier(), parse_data_type(parser)))
    return tuple(columns)


def _parse_not_null(parser: Parser) -> bool:
    if parser.accept("NOT"):
        parser.expect("NULL")
        return True
    parser.accept("NULL")
    return False
