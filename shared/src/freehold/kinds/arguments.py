"""Arguments of functions and procedures: how a spec declares them, how CREATE writes them and how they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from freehold import bodies, datatypes, overloads, sql
from freehold.identifiers import quote
from freehold.kinds.common import Name
from freehold.kinds.described import described
from freehold.kinds.fields import checked
from freehold.kinds.model import Model
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql


class Argument(Model):
    """An argument."""

    name: Name
    """Its name as it is stored. SQL sources fold bare words to upper case, so that X is easiest to refer to."""
    type: str = checked(datatypes.parse, min_length=1, max_length=1024)
    """Its data type. Length, precision and scale don't count: Snowflake leaves them out."""
    default_value: str | None = checked(bodies.expression, default=None, min_length=1, max_length=4096)
    """Makes it optional: the expression that stands in for it. Texts have their own single quotes."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Arguments as Snowflake prints them.

    Attributes:
        signature: names and types, `(X VARCHAR, I NUMBER)`.
        optional: which of them have a default.
    """

    signature: str
    optional: tuple[bool, ...]

    def __str__(self) -> str:
        return self.signature


class Arguments(Codec):
    """A list of arguments. Whether one has a default is shown, which one isn't."""

    def canonical(self, value: Sequence[Argument]) -> tuple[tuple[str, str, str | None], ...]:
        return tuple((each.name, datatypes.read(each.type).signature, each.default_value) for each in value)

    def read(self, raw: object) -> object:
        return raw

    def matches(self, desired: Any, observed: Any) -> bool:
        if not isinstance(observed, Printed) or observed.optional != tuple(each is not None for *_, each in desired):
            return False
        # A name may hold any mark itself, so that the whole is compared.
        pattern = ", ".join(f"(?:{re.escape(name)}|{re.escape(quote(name))}) +(.+?)" for name, *_ in desired)
        found = re.fullmatch(rf"\(\s*{pattern}\s*\)", observed.signature)
        return found is not None and [type_ for _, type_, _ in desired] == [
            datatypes.read(each).signature for each in found.groups()
        ]


def observed(observation: Observation) -> object:
    """The arguments in DESCRIBE, with what SHOW says of their defaults; None where there are none."""
    signature, optional = described("signature")(observation), overloads.optional(observation.row)
    if signature is UNKNOWN or optional is None:
        return UNKNOWN
    return Printed(str(signature), optional) if optional else None


def declared(arguments: Sequence[Argument]) -> Sql:
    """The arguments in the parentheses of CREATE."""
    return sql.join(map(_declared, arguments), ", ")


def _declared(argument: Argument) -> Sql:
    typed = sql.join((sql.identifier(argument.name), sql.words(datatypes.parse(argument.type).ddl)))
    if argument.default_value is None:
        return typed
    return sql.sql("{typed} DEFAULT {value}", typed=typed, value=bodies.written(argument.default_value))


def faults(arguments: Sequence[Argument]) -> Iterator[str]:
    """What is wrong with them, for people."""
    folded = [each.name.upper() for each in arguments]
    optional = False
    for at, each in enumerate(arguments):
        if folded[at] in folded[:at]:
            yield f"spec.arguments[{at}].name: {each.name} is another argument's name, too; case doesn't count"
        if optional and each.default_value is None:
            yield f"spec.arguments[{at}]: it needs a defaultValue, for it follows an argument that has one"
        optional = optional or each.default_value is not None
