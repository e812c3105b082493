"""The types of properties and parameters: which literals they take and what Snowflake stores for them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar, Value
from freehold_devstack.snowflake.parser import Literal, Parser
from freehold_devstack.snowflake.tokens import TokenKind, tokenize


class InvalidValueError(Exception):
    """The literal is of the wrong type or out of range."""


class InvalidFormError(InvalidValueError):
    """The literal is none that the type can be written with, which is told before the object is looked at."""


class ValueType(Protocol):
    """One type of value."""

    @property
    def sql_name(self) -> str:
        """The column `type` of SHOW PARAMETERS."""

    def read(self, literal: Literal) -> Value:
        """The value to store.

        Raises:
            InvalidValueError: The type does not take this literal.
        """


class ScalarType(ValueType, Protocol):
    """A type whose values are no lists and no groups, as parameters have it."""

    def read(self, literal: Literal) -> Scalar:
        """As `ValueType.read`."""


@dataclass(frozen=True)
class Integer:
    """A whole number between two bounds, both included."""

    low: int = 0
    high: int | None = None
    null: bool = False
    """Whether the keyword NULL is taken too."""
    sql_name: str = "NUMBER"

    def read(self, literal: Literal) -> Scalar:
        if self.null and literal.kind is TokenKind.WORD and literal.value == "NULL":
            return None
        if literal.kind is not TokenKind.NUMBER or not re.fullmatch(r"-?\d+", literal.value):
            raise InvalidValueError
        number = int(literal.value)
        if number < self.low or (self.high is not None and number > self.high):
            raise InvalidValueError
        return number


@dataclass(frozen=True)
class Boolean:
    """TRUE or FALSE, as bare words."""

    sql_name: str = "BOOLEAN"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is not TokenKind.WORD or literal.value not in {"TRUE", "FALSE"}:
            raise InvalidValueError
        return literal.value == "TRUE"


@dataclass(frozen=True)
class Text:
    """A string literal."""

    max_length: int | None = None
    check: Callable[[str], bool] = field(default=lambda _: True, repr=False)
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is not TokenKind.STRING or not self.check(literal.value):
            raise InvalidValueError
        if self.max_length is not None and len(literal.value) > self.max_length:
            raise InvalidValueError
        return literal.value


@dataclass(frozen=True)
class Choice:
    """One of several words, bare or as a string, in any case.

    Attributes:
        spellings: Accepted spelling in capitals to what is stored and printed.
    """

    spellings: Mapping[str, str]
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind not in {TokenKind.WORD, TokenKind.STRING, TokenKind.NUMBER} or len(literal.name) > 1:
            raise InvalidValueError
        try:
            return self.spellings[literal.value.upper()]
        except KeyError:
            raise InvalidValueError from None


def choice(*words: str) -> Choice:
    """A choice of words that are stored as they are written here."""
    return Choice({word.upper(): word for word in words})


@dataclass(frozen=True)
class Reference:
    """The name of an account-level object, as an identifier or as a string that holds one.

    Attributes:
        kind: Object type that the name must resolve to; an empty one stands for a name that nobody looks up.
        built_in: Names that Snowflake provides.
        privilege: What it takes on the object; None for nothing but to see it.
        null: Whether the keyword NULL is taken too.
    """

    kind: str
    built_in: frozenset[str] = frozenset()
    privilege: str | None = "USAGE"
    null: bool = False
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is TokenKind.STRING:
            parser = Parser(tokenize(literal.value))
            name = parser.identifier()
            parser.end()
            return name
        is_null = literal.kind is TokenKind.WORD and literal.value == "NULL"
        if len(literal.name) != 1 or (is_null and not self.null):
            raise InvalidValueError
        return None if is_null else literal.value


@dataclass(frozen=True)
class Names:
    """The name of a schema's object, as an identifier or as a string that holds one: its parts as far as written."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        if literal.kind is TokenKind.STRING:
            parser = Parser(tokenize(literal.value), source=literal.value)
            name = parser.name(parts=3)
            parser.end()
            return name
        if not literal.name or (literal.kind is TokenKind.WORD and literal.value == "NULL"):
            raise InvalidValueError
        return literal.name


@dataclass(frozen=True)
class ListOf:
    """Values in brackets.

    Attributes:
        low, high: How many there have to and may be.
        single: Whether one value without brackets stands for a list of one.
    """

    item: ValueType
    low: int = 0
    high: int | None = None
    single: bool = False
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        if literal.kind is not TokenKind.OPERATOR:
            if not self.single:
                raise InvalidValueError
            return (self.item.read(literal),)
        if literal.group is not None or len(literal.items) < self.low:
            raise InvalidValueError
        if self.high is not None and len(literal.items) > self.high:
            raise InvalidValueError
        return tuple(self.item.read(item) for item in literal.items)


@dataclass(frozen=True)
class Group:
    """Assignments in brackets: `(NAME = value …)`.

    Attributes:
        required: Those that must be there.
    """

    fields: Mapping[str, ValueType]
    required: frozenset[str] = frozenset()
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        """As `ValueType.read`.

        Raises:
            SqlError: 001420 for an unknown name, 001422 for a value, 002029 for what is missing.
        """
        given = dict(literal.group or ())
        if literal.kind is not TokenKind.OPERATOR or literal.items:
            raise InvalidValueError
        for name in given.keys() - self.fields.keys():
            raise errors.invalid_property(name, "options")
        if missing := sorted(self.required - given.keys()):
            raise errors.missing_options(missing)
        return {name: self._field(name, value) for name, value in given.items()}

    def _field(self, name: str, literal: Literal) -> Value:
        try:
            return self.fields[name].read(literal)
        except InvalidValueError:
            raise errors.invalid_property_value(literal.value or literal.text, name) from None


def _warehouse_sizes() -> dict[str, str]:
    sizes = {"XSMALL": "X-Small", "X-SMALL": "X-Small", "SMALL": "Small", "MEDIUM": "Medium", "LARGE": "Large"}
    sizes |= {"XLARGE": "X-Large", "X-LARGE": "X-Large", "XXLARGE": "2X-Large", "XXXLARGE": "3X-Large"}
    for number in range(2, 7):
        sizes |= {f"X{number}LARGE": f"{number}X-Large", f"{number}X-LARGE": f"{number}X-Large"}
    return sizes


SIZES = _warehouse_sizes()
"""Accepted spellings of a warehouse's size to the one that SHOW prints; 2XLARGE and the like are none of them."""

SIZE_ORDER = tuple(dict.fromkeys(SIZES.values()))
"""The printed sizes from small to large."""
