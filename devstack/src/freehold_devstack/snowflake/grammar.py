"""What a declaration of an object type says of the grammar of CREATE and ALTER: properties, clauses, further forms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.parameters import Parameter
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.values import ValueType

if TYPE_CHECKING:
    from freehold_devstack.snowflake.context import Context


@dataclass(frozen=True)
class Refused:
    """As a property's `unset`: there is no UNSET of it.

    Attributes:
        text: The error, with the names of property and object where {property} and {name} stand; 000002 without it.
    """

    text: str = ""


REFUSED = Refused()


@dataclass(frozen=True)
class Property:
    """A property that CREATE and ALTER … SET give.

    Attributes:
        default: What CREATE stores without it.
        unset: What UNSET stores, which is not always the default.
        only: The one statement that takes it; None for CREATE and ALTER alike.
        privilege: What SET and UNSET of it need on the object; None for what ALTER of the type needs.
        only_role: System role without which it can't be given at all.
        feature: What has to be enabled by the edition for it.
    """

    name: str
    type: ValueType
    default: Value = None
    unset: Value | Refused = None
    only: Literal["CREATE", "ALTER"] | None = None
    privilege: str | None = None
    only_role: str | None = None
    feature: str | None = None


Setting = Property | Parameter


@dataclass(frozen=True)
class Clause:
    """Words of CREATE that set a property without a value, before the object type or after the name.

    Attributes:
        alterable: Whether CREATE OR ALTER can change it where it stands before the object type.
    """

    words: str
    property: str
    value: Scalar = True
    alterable: bool = False


Given = Mapping[str, Value]
"""Properties with the values that a statement gives them."""


@dataclass(frozen=True)
class Part:
    """Words of CREATE that a grammar of their own follows.

    Attributes:
        parse: Reads what follows the words.
        unsaid: The properties where the words are left out.
    """

    words: str
    parse: Callable[[Parser], Given]
    unsaid: Given = field(default_factory=dict)


Act = Callable[["Context", CatalogObject], Result | None]
"""Does something to an object; without a result of its own the statement just succeeds."""


@dataclass(frozen=True)
class Action:
    """A form of ALTER that is peculiar to the type.

    Attributes:
        words: What follows the name.
        parse: Reads what follows the words.
        privilege: What it needs on the object; None where the act itself asks.
    """

    words: str
    parse: Callable[[Parser], Act]
    privilege: str | None = OWNERSHIP


def uncovered(feature: str) -> Callable[[Parser], NoReturn]:
    """The grammar of what Snowflake documents and is not covered here: refused by its name, not as unknown."""

    def parse(_parser: Parser) -> NoReturn:
        raise errors.unsupported(feature)

    return parse
