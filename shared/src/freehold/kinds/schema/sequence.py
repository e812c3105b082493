"""Sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from freehold import sql
from freehold.kinds.fields import comment, custom, prop
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.property import KEEP, Target, set_to
from freehold.kinds.resource import Rule
from freehold.kinds.values import Word
from freehold.sql import Sql


def _switch_order(target: Target, desired: str | None, _observed: object) -> Sequence[Sql]:
    return (target.alter(sql.sql("SET {order}", order=sql.words(desired))),) if desired else ()


class SequenceSpec(InSchemaSpec):
    """A counter that hands out numbers, each once, for example to a column's default."""

    start: int | None = prop("START", create_only=True, recreate_when=lambda _old, _new: True)
    """The first number. Acts at creation only: nothing tells it afterwards. By default 1."""
    increment: int | None = prop("INCREMENT", show="interval", reset=set_to(1), own_statement=True)
    """From one number to the next. What was handed out already to running statements is used first."""
    ordering: Literal["ORDER", "NOORDER"] | None = custom(
        alter=_switch_order,
        observe=column("ordered"),
        source="show.ordered",
        codec=Word(quoted=False, spellings={"Y": "ORDER", "N": "NOORDER"}),
        clause=sql.words,
        reset=KEEP,
        recreate_when=lambda old, new: old == "NOORDER" and new == "ORDER",
    )
    """Whether numbers grow in the order of time. No change leads from NOORDER to ORDER. By default the account's
    parameter NOORDER_SEQUENCE_AS_DEFAULT decides."""
    comment: str | None = comment(reset=set_to(""))
    """A note for people."""


SEQUENCE = Kind(
    spec=SequenceSpec,
    domain=Domain.SCHEMA,
    object_type="SEQUENCE",
    level=Level.SCHEMA,
    holds_data=True,
    rules=(*IN_SCHEMA_RULES, Rule("!has(self.increment) || self.increment != 0", "increment can't be 0", "increment")),
    short_names=("seq",),
    volatile=frozenset({"next_value"}),
)
