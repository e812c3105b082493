"""The types of a user's properties."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar, Value
from freehold_devstack.snowflake.parser import Literal, name_in
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import (
    Group,
    InvalidFormError,
    InvalidValueError,
    ListOf,
    Text,
    choice,
    whole_number,
)

_LARGEST = 2**31 - 1


def _is_word(literal: Literal, *words: str) -> bool:
    return literal.kind is TokenKind.WORD and literal.value in words


@dataclass(frozen=True)
class Words:
    """A text: a string, what stands in double quotes, or a bare word; the word NULL is none."""

    max_length: int | None = None
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if _is_word(literal, "NULL"):
            return None
        if literal.kind not in {TokenKind.STRING, TokenKind.QUOTED, TokenKind.WORD} or len(literal.name) > 1:
            raise InvalidFormError
        if _is_word(literal, "TRUE", "FALSE"):
            raise InvalidFormError
        words = literal.text if literal.kind is TokenKind.WORD else literal.value
        if self.max_length is not None and len(words) > self.max_length:
            raise InvalidValueError
        return words


@dataclass(frozen=True)
class Countdown:
    """A whole number of days or minutes that run down from now; the word NULL stops them."""

    high: int
    sql_name: str = "NUMBER"

    def read(self, literal: Literal) -> Scalar:
        if _is_word(literal, "NULL"):
            return None
        number = whole_number(literal)
        if not -_LARGEST - 1 <= number <= _LARGEST:
            raise InvalidFormError
        if number > self.high:
            raise InvalidValueError
        return number


@dataclass(frozen=True)
class Namespace:
    """The name of a database or of a schema in one, which nobody looks up; a database's is printed in capitals."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if _is_word(literal, "NULL"):
            return None
        name = name_in(literal.value, parts=2) if literal.kind is TokenKind.STRING else literal.name
        if not 1 <= len(name) <= 2:
            raise InvalidFormError
        return name[0].upper() if len(name) == 1 else ".".join(name)


_AWS_IDENTITY = re.compile(r"arn:aws[a-z-]*:(iam::\d{12}:(user|role)/\S+|sts::\d{12}:assumed-role/[^/\s]+/\S+)")

_WORKLOADS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "AWS": (frozenset({"ARN"}), frozenset({"ISSUER"})),
    "AZURE": (frozenset({"ISSUER", "SUBJECT"}), frozenset()),
    "GCP": (frozenset({"SUBJECT"}), frozenset()),
    "OIDC": (frozenset({"ISSUER", "SUBJECT"}), frozenset({"OIDC_AUDIENCE_LIST"})),
}
"""Who attests a workload: what has to be given then, and what may be."""

_IDENTITY = Group(
    {
        "TYPE": choice(*_WORKLOADS),
        "ARN": Text(check=lambda arn: bool(_AWS_IDENTITY.fullmatch(arn))),
        "ISSUER": Text(check=lambda issuer: issuer.startswith("https://")),
        "SUBJECT": Text(check=bool),
        "OIDC_AUDIENCE_LIST": ListOf(Text()),
    },
    required=frozenset({"TYPE"}),
)


@dataclass(frozen=True)
class WorkloadIdentity:
    """Who a workload is: `(TYPE = … …)`."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        """As `ValueType.read`.

        Raises:
            SqlError: 001420 for what the type of identity doesn't have, 002029 for what it lacks.
        """
        identity = _IDENTITY.read(literal)
        if not isinstance(identity, Mapping):
            raise InvalidFormError
        required, allowed = _WORKLOADS[str(identity["TYPE"])]
        for name in identity.keys() - {"TYPE", *required, *allowed}:
            raise errors.invalid_property(name, f"WORKLOAD_IDENTITY TYPE = {identity['TYPE']}")
        if missing := sorted(required - identity.keys()):
            raise errors.missing_options(missing)
        return identity
