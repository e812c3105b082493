"""A column as it is declared beside the one that is there, be it of a table or a view, and the policies on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from freehold import sql
from freehold.identifiers import qualified
from freehold.kinds import policies
from freehold.kinds.columns import MASKING, PROJECTION, Live, policy_clause
from freehold.kinds.policies import Policy
from freehold.kinds.property import NOT_OURS, Action, Change, Deviation
from freehold.kinds.spec_fields import item_name
from freehold.observation import Unknown
from freehold.sql import Sql

ALTER = "ALTER"


class Declared(Protocol):
    """A column as a spec declares it."""

    @property
    def name(self) -> str: ...

    @property
    def previous_name(self) -> str | None: ...

    @property
    def masking(self) -> Policy | None: ...

    @property
    def projection(self) -> Policy | None: ...


C_co = TypeVar("C_co", bound=Declared, covariant=True)


@dataclass(frozen=True, slots=True)
class Pair(Generic[C_co]):
    """A column as it is declared and as it is.

    Attributes:
        column: the former.
        live: the latter.
        tracked: names under which fields, columns and their attributes were ever sent.
        loads_alter: whether loads add columns and take NOT NULL away.
    """

    column: C_co
    live: Live
    tracked: Collection[str]
    loads_alter: bool = False

    def sent(self, attribute: str) -> bool:
        """Whether an attribute was ever sent, under this name or the one before."""
        names = (self.column.name, self.column.previous_name)
        return any(name is not None and item_name("columns", name, attribute) in self.tracked for name in names)

    def sent_policy(self, attribute: str, policy: Policy) -> bool:
        """Whether it was we who put a policy there."""
        return self.sent(item_name(attribute, qualified(policy.parts)))

    def differs(self, attribute: str, desired: object, observed: object, change: Change, remedy: str = "") -> Deviation:
        """A difference that nothing mends."""
        return Deviation(self.place(attribute), desired, observed, change, remedy=remedy)

    def alters(
        self, attribute: str, desired: object, observed: object, clause: Sql, *, alone: bool = False
    ) -> Deviation:
        """A difference that ALTER COLUMN mends."""
        clause = sql.sql("COLUMN {name} {clause}", name=sql.identifier(self.column.name), clause=clause)
        return Deviation(self.place(attribute), desired, observed, actions=(Action(ALTER, clause, alone=alone),))

    def place(self, attribute: str) -> str:
        return item_name("", self.column.name, attribute)


def governed(pair: Pair[Declared]) -> Iterator[Deviation]:
    """What isn't as it should be in the policies on a column."""
    yield from _policy(pair, "maskingPolicy", MASKING, pair.column.masking, pair.live.masking)
    yield from _policy(pair, "projectionPolicy", PROJECTION, pair.column.projection, pair.live.projection)


def _policy(
    pair: Pair[Declared], attribute: str, words: str, desired: Policy | None, observed: Policy | Unknown | None
) -> Iterator[Deviation]:
    """One policy replaces another by FORCE, so that no value is bare in between; unless that is somebody else's."""
    if isinstance(observed, Unknown):
        return
    have = str(observed) if observed else None
    if desired is None:
        if observed and pair.sent_policy(attribute, observed):
            yield pair.alters(attribute, None, have, sql.words(f"UNSET {words}"), alone=True)
    elif observed and not policies.same(desired, observed) and not pair.sent_policy(attribute, observed):
        yield pair.differs(attribute, str(desired), have, Change.TOLD, NOT_OURS)
    elif not policies.same(desired, observed):
        policy = policy_clause(words, pair.column.name, desired)
        clause = sql.sql("SET {policy}{force}", policy=policy, force=sql.words(" FORCE" if observed else ""))
        yield pair.alters(attribute, str(desired), have, clause, alone=True)
