"""Queries: statements as clients send them, and their answers, which can be fetched again for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.sessions import Session

_REMEMBERED = 10_000


@dataclass(frozen=True)
class Request:
    """What came with a statement.

    Attributes:
        id: The client's idempotency key; a repeated one is answered with the first one's query.
        parameters: Session parameters for this statement alone.
        asynchronous: Whether the client goes away and comes back for the result.
        describe_only: Whether it asks for the columns alone.
        refusal: Why it is refused whatever its text says.
        delay: Seconds that it waits before it runs on, whatever becomes of its client.
    """

    text: str
    id: str = ""
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    asynchronous: bool = False
    describe_only: bool = False
    refusal: SqlError | None = None
    delay: float = 0


@dataclass
class Query:
    """A statement that was received, and its answer once there is one.

    Attributes:
        task: What runs it; None once it ran without having to wait for anything.
        children: The queries of a request with several statements.
        listeners: HTTP requests that wait for it now.
    """

    id: str
    session: Session
    request: Request
    form: Form | None = None
    task: "asyncio.Task[None] | None" = None
    result: Result | None = None
    error: SqlError | None = None
    children: tuple["Query", ...] = ()
    listeners: int = 0

    @property
    def done(self) -> bool:
        return self.result is not None or self.error is not None

    def cancel(self) -> None:
        """Stop it before it takes effect; a query that is done stays as it is."""
        if self.task is not None:
            self.task.cancel()


_Key = TypeVar("_Key")


class Queries:
    """The latest queries of an endpoint."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Query] = OrderedDict()
        self._by_request: OrderedDict[tuple[int, str], Query] = OrderedDict()
        self._running: dict[str, Query] = {}

    def add(self, query: Query) -> None:
        """Remember a query, for its session's user and for repeats of its request."""
        _remember(self._by_id, query.id, query)
        if query.request.id:
            _remember(self._by_request, (query.session.id, query.request.id), query)

    def start(self, query: Query, task: "asyncio.Task[None]") -> None:
        """Note what runs a query that has to wait."""
        query.task = task
        self._running[query.id] = query
        task.add_done_callback(lambda _: self._running.pop(query.id))

    def get(self, session: Session, query_id: str) -> Query:
        """A query of the session's user, from this session or another.

        Raises:
            SqlError: 000709 when it is unknown, forgotten or somebody else's.
        """
        query = self._by_id.get(query_id)
        if query is None or (query.session.account, query.session.user) != (session.account, session.user):
            raise errors.unknown_query(query_id)
        return query

    def of_request(self, session: Session, request_id: str) -> Query | None:
        """The query that a request has already started."""
        return self._by_request.get((session.id, request_id))

    @property
    def running(self) -> list[Query]:
        return list(self._running.values())


def _remember(memory: OrderedDict[_Key, Query], key: _Key, query: Query) -> None:
    memory[key] = query
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
