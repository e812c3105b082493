"""Policies that are an expression over arguments: their signature and body, and what they are set on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from freehold import bodies, datatypes, sql
from freehold.datatypes import DataType
from freehold.identifiers import needs_quotes, qualified, quote
from freehold.kinds import texts
from freehold.kinds.clauses import clause
from freehold.kinds.columns import column_type
from freehold.kinds.common import Name
from freehold.kinds.content import Content
from freehold.kinds.fields import checked
from freehold.kinds.model import Model
from freehold.kinds.property import Change, Place, Target
from freehold.kinds.values import Codec, Type
from freehold.observation import Row
from freehold.sql import Sql

DETAIL = "describe"
"""Name of DESCRIBE among the details of such a kind."""


class Argument(Model):
    """An argument of a policy."""

    name: Name
    """Its name as it is stored. The body names one in lower case, or with blanks, in double quotes."""
    type: str = checked(column_type, min_length=1, max_length=1024)
    """Its data type."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Arguments with their types, in order."""

    arguments: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return f"({', '.join(f'{name} {type_}' for name, type_ in self.arguments)})"

    def printed_as(self, text: str) -> bool:
        """Whether DESCRIBE prints it so: names bare or quoted, types mostly without length, precision and scale."""
        pattern = ", ".join(f"(?:{re.escape(quote(name))}|{re.escape(name)}) +(.+?)" for name, _ in self.arguments)
        found = re.fullmatch(rf"\s*\(\s*{pattern}\s*\)\s*", text)
        return found is not None and all(
            type_.signature == datatypes.read(printed).signature
            for (_, type_), printed in zip(self.arguments, found.groups(), strict=True)
        )


class _Signatures(Codec):
    def canonical(self, value: Sequence[Argument]) -> Signature:
        return Signature(tuple((each.name, datatypes.read(each.type)) for each in value))

    def read(self, raw: object) -> str:
        return str(raw)

    def matches(self, desired: Signature, observed: str) -> bool:
        return desired.printed_as(observed)


def signature(returned: str = "") -> Any:
    """The field of a policy's arguments, which no ALTER changes.

    Args:
        returned: the type that every such policy returns; empty where a field of its own says so.
    """

    def write(arguments: Sequence[Argument]) -> Sql:
        declared = [sql.join((sql.identifier(each.name), sql.words(column_type(each.type).ddl))) for each in arguments]
        ending = sql.words(f" RETURNS {returned}" if returned else "")
        return sql.sql("AS ({all}){ending}", all=sql.join(declared, ", "), ending=ending)

    return clause(
        "AS",
        write=write,
        change=Change.RECREATE,
        codec=_Signatures(),
        observe=texts.detail(DETAIL, "signature"),
        source="describe.signature",
        place=Place.AFTER_NAME,
        details=(DETAIL,),
        required=True,
        min_length=1,
        max_length=100,
    )


def returns() -> Any:
    """The field of the type that a policy returns, by default that of its first argument. No ALTER changes it."""
    codec = Type()
    return clause(
        "RETURNS",
        write=lambda value: sql.sql("RETURNS {type}", type=codec.render(value)),
        change=Change.RECREATE,
        codec=codec,
        observe=texts.detail(DETAIL, "return_type"),
        source="describe.return_type",
        place=Place.AFTER_NAME,
        details=(DETAIL,),
        check=column_type,
        derived=lambda spec: spec.return_data_type or spec.signature[0].type,
        min_length=1,
        max_length=1024,
    )


def body(*clauses: str) -> Any:
    """The field of a policy's body.

    Args:
        clauses: keywords of what may follow it in CREATE as `KEYWORD = value`.
    """
    return texts.text(
        "->",
        check=partial(bodies.expression, clauses=clauses),
        observe=texts.detail(DETAIL, "body"),
        source="describe.body",
        alter="SET BODY ->",
        details=(DETAIL,),
        required=True,
        # Salts and keys of tokens stand in such.
        quotable=False,
        max_length=65_536,
    )


class Signed(Protocol):
    """A spec with a signature."""

    @property
    def signature(self) -> list[Argument]: ...


def faults(spec: Signed) -> tuple[str, ...]:
    """What is wrong with a signature."""
    names = [each.name for each in spec.signature]
    return tuple(
        f"spec.signature[{at}].name: {name} is another argument's name, too"
        for at, name in enumerate(names)
        if name in names[:at]
    )


def advice(spec: Signed) -> tuple[str, ...]:
    """What is legal in a signature, and likely wrong."""
    return tuple(
        f"spec.signature[{at}].name {each.name!r} is stored as written: the body must put it in double quotes"
        for at, each in enumerate(spec.signature)
        if needs_quotes(each.name)
    )


def _uses(target: Target) -> Sql:
    return sql.sql(
        "SELECT * FROM TABLE({database}.INFORMATION_SCHEMA.POLICY_REFERENCES(POLICY_NAME => {name}))",
        database=sql.identifier(target.parts[0]),
        name=sql.literal(target.name.text),
    )


def _use(row: Row) -> str:
    parts = (row.get(f"ref_{part}_name") for part in ("database", "schema", "entity"))
    column = row.get("ref_column_name")
    entity = f"{str(row.get('ref_entity_domain')).lower()} {qualified(str(each) for each in parts if each)}"
    return f"column {quote(str(column))} of {entity}" if column else entity


USES = Content(_uses, name=_use, remedy="take it off these first, then it is dropped", refused=True, forced=False)
"""What a policy is set on, which keeps Snowflake from dropping it."""
