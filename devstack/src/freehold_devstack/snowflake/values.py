"""The types of properties and parameters: which literals they take and what Snowflake stores for them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar, Value
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Literal, name_in
from freehold_devstack.snowflake.tokens import TokenKind

_WHOLE = re.compile(r"-?\d{1,38}")


class InvalidValueError(Exception):
    """The literal is out of range, or none of the words that there are."""

    def refusal(self, name: str, literal: Literal) -> SqlError:
        """What the server answers where a property was given this literal."""
        whole = literal.kind is TokenKind.NUMBER and _WHOLE.fullmatch(literal.value)
        shown = f"{int(literal.value):,}" if whole else literal.value or literal.text
        return errors.invalid_property_value(shown, name)


class InvalidFormError(InvalidValueError):
    """The literal is of another type, which is told before the object is looked at."""

    def refusal(self, name: str, literal: Literal) -> SqlError:
        written = ", ".join(item.text for item in literal.items) or literal.text
        return errors.invalid_parameter_value(written, name)


class NoListError(InvalidFormError):
    """The literal is a single value where a list is due."""

    def refusal(self, name: str, literal: Literal) -> SqlError:
        return errors.invalid_property_type(literal.text, name)


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


def read_value(name: str, type_: ValueType, literal: Literal) -> Value:
    """The value of a property.

    Raises:
        SqlError: 001008 or 999999 for a literal of another type, 001422 for any other that the type does not take.
    """
    try:
        return type_.read(literal)
    except InvalidValueError as error:
        raise error.refusal(name, literal) from None


def check_form(name: str, type_: ValueType, literal: Literal) -> None:
    """Refuse a literal of another type, as `read_value` does."""
    try:
        type_.read(literal)
    except InvalidFormError as error:
        raise error.refusal(name, literal) from None
    except InvalidValueError:
        pass


class ScalarType(ValueType, Protocol):
    """A type whose values are no lists and no groups, as parameters have it."""

    def read(self, literal: Literal) -> Scalar:
        """As `ValueType.read`."""


def whole_number(literal: Literal) -> int:
    """The whole number that a literal is; one with more digits than any number has is none.

    Raises:
        InvalidFormError: It is something else.
    """
    if literal.kind is not TokenKind.NUMBER or not _WHOLE.fullmatch(literal.value):
        raise InvalidFormError
    return int(literal.value)


@dataclass(frozen=True)
class Integer:
    """A whole number between two bounds, both included."""

    low: int = 0
    high: int = 2**63 - 1
    null: bool = False
    """Whether the keyword NULL is taken too."""
    sql_name: str = "NUMBER"

    def read(self, literal: Literal) -> Scalar:
        if self.null and literal.kind is TokenKind.WORD and literal.value == "NULL":
            return None
        number = whole_number(literal)
        if not self.low <= number <= self.high:
            raise InvalidValueError
        return number


@dataclass(frozen=True)
class Boolean:
    """TRUE or FALSE, as bare words."""

    sql_name: str = "BOOLEAN"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is not TokenKind.WORD or literal.value not in {"TRUE", "FALSE"}:
            raise InvalidFormError
        return literal.value == "TRUE"


@dataclass(frozen=True)
class Text:
    """A string literal."""

    max_length: int | None = None
    check: Callable[[str], bool] = field(default=lambda _: True, repr=False)
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is not TokenKind.STRING:
            raise InvalidFormError
        if self.max_length is not None and len(literal.value) > self.max_length:
            raise InvalidValueError
        if not self.check(literal.value):
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
            raise InvalidFormError
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
            return name_in(literal.value, parts=1)[0]
        is_null = literal.kind is TokenKind.WORD and literal.value == "NULL"
        if len(literal.name) != 1 or (is_null and not self.null):
            raise InvalidFormError
        return None if is_null else literal.value


@dataclass(frozen=True)
class Names:
    """The name of a schema's object, as an identifier or as a string that holds one: its parts as far as written."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        if literal.kind is TokenKind.STRING:
            return name_in(literal.value, parts=3)
        if not literal.name or (literal.kind is TokenKind.WORD and literal.value == "NULL"):
            raise InvalidFormError
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
                raise NoListError
            return (self.item.read(literal),)
        if literal.group is not None:
            raise NoListError
        if len(literal.items) < self.low:
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
            SqlError: 001420 for an unknown name, 002029 for what is missing, as `read_value` for a value.
        """
        given = dict(literal.group or ())
        if literal.kind is not TokenKind.OPERATOR or literal.items:
            raise InvalidFormError
        for name in given.keys() - self.fields.keys():
            raise errors.invalid_property(name, "options")
        if missing := sorted(self.required - given.keys()):
            raise errors.missing_options(missing)
        return {name: read_value(name, self.fields[name], value) for name, value in given.items()}


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
