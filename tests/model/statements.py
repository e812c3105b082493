"""Statements on their way to the account: what they do, who is told of it, and those that arrive late."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from freehold.kube.objects import Key, Object
from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import Result
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from tests.model.account import FACTS, Account, Wire
from tests.model.objects import Incarnation, Thing

READS = ("SHOW", "SELECT", "DESCRIBE")

_WRITE = re.compile(r'(\w+)(?: OR ALTER)?(?: TRANSIENT)? (WAREHOUSE|DATABASE|SCHEMA|TABLE|ROLE) ("\w+"(?:\."\w+")*)')


@dataclass(frozen=True, slots=True)
class Deed:
    """A statement of ours that writes.

    Attributes:
        verb: CREATE, ALTER or DROP.
        thing: the object.
        sender: the resource that it serves.
        text: the statement.
    """

    verb: str
    thing: Thing
    sender: Key
    text: str

    @classmethod
    def read(cls, text: str, query_tag: str) -> Deed | None:
        """None for what only reads."""
        if text.startswith(READS):
            return None
        found = _WRITE.match(text)
        assert found, f"what is {text}?"
        tag = json.loads(query_tag)
        return cls(found[1], Thing.read(found[2], found[3]), Key(tag["kind"], tag["namespace"], tag["name"]), text)


@dataclass(frozen=True, slots=True)
class Late:
    """A statement whose answer nobody hears any more, and which has yet to arrive.

    Attributes:
        deed: the statement.
        carry_out: has it arrive.
        until: monotonic time by which it has arrived, or never will.
        meant: what was there when it was sent.
    """

    deed: Deed
    carry_out: Callable[[], Coroutine[Any, Any, Result]]
    until: float
    meant: Incarnation | None


class Witness:
    """Is told whatever happens; the model's rules are its methods."""

    def statement(self, deed: Deed) -> None:
        """A statement that writes is about to be carried out."""

    def asked(self, text: str) -> None:
        """Any statement is about to be sent."""

    def created(self, deed: Deed) -> None:
        """A CREATE has succeeded."""

    def arrives(self, late: Late) -> None:
        """A late statement is about to be carried out."""

    def claim(self, before: Object | None, after: Object | None) -> None:
        """A claim is written."""

    def released(self, resource: Object) -> None:
        """Our finalizer is gone."""


Execute = Callable[[Wire, Sql, str], Coroutine[Any, Any, Result]]
"""Has a statement with its query tag go over a connection, whatever happens to it."""


class Watched:
    """A connection to which things happen."""

    lost = False

    def __init__(self, wire: Wire, execute: Execute) -> None:
        self._wire, self._execute = wire, execute

    async def execute(self, statement: Sql, query_tag: str | None = None, _limit: timedelta | None = None) -> Result:
        return await self._execute(self._wire, statement, query_tag or "")

    async def close(self) -> None:
        await self._wire.close()


class Client(Snowflake):
    """The client layer over such connections."""

    def __init__(self, account: Account, execute: Execute, clock: Callable[[], float]) -> None:
        super().__init__("model", clock=clock)
        self._account, self._execute = account, execute

    async def _open(self, settings: ConnectionSettings) -> Session:  # noqa: ARG002  # the parent's own word
        wire = await self._account.connect()
        return Session(Watched(wire, self._execute), FACTS)  # type: ignore[arg-type]  # all that is asked of one
