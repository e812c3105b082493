"""Queries: statements as clients send them, and their answers, which can be fetched again for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.sessions import Session

_REMEMBERED = 10_000
_REMEMBERED_ROWS = 500_000


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

    @property
    def rows(self) -> int:
        """How many rows its answer has."""
        return 0 if self.result is None else len(self.result.rows)

    def cancel(self) -> None:
        """Stop it before it takes effect; a query that is done stays as it is."""
        if self.task is not None:
            self.task.cancel()


class Queries:
    """The latest queries of an endpoint: the older ones make room, and those with many rows make it early."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Query] = OrderedDict()
        self._by_request: dict[tuple[int, str], Query] = {}
        self._running: dict[str, Query] = {}
        self._rows = 0

    def add(self, query: Query) -> None:
        """Remember a query, for its session's user and for repeats of its request."""
        self._by_id[query.id] = query
        if query.request.id:
            self._by_request[query.session.id, query.request.id] = query
        self._make_room()

    def settle(self, query: Query) -> None:
        """Note that a query is done."""
        if query.id in self._by_id:
            self._rows += query.rows
            self._make_room()

    def _make_room(self) -> None:
        while len(self._by_id) > _REMEMBERED or (self._rows > _REMEMBERED_ROWS and len(self._by_id) > 1):
            _, forgotten = self._by_id.popitem(last=False)
            self._by_request.pop((forgotten.session.id, forgotten.request.id), None)
            self._rows -= forgotten.rows

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
