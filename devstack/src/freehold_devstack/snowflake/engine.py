"""Runs statements: in the order of arrival, each with its journal entry, its faults, its time limit and its effect."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.auth import Authenticator
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Change, Scalar
from freehold_devstack.snowflake.context import AccountIdentity, Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.faults import Faults
from freehold_devstack.snowflake.journal import OK, Entry, Journal
from freehold_devstack.snowflake.objects import load
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.seed import Seed, SeedAccount, plant
from freehold_devstack.snowflake.sessions import Session
from freehold_devstack.snowflake.state import Line, StateFile
from freehold_devstack.snowflake.statements import execute

_REMEMBERED_QUERIES = 10_000


class Account:
    """One account: who it is, what it holds and who may log in."""

    def __init__(self, identity: AccountIdentity) -> None:
        self.identity = identity
        self.catalog = Catalog()
        self.authenticator = Authenticator(identity, self.catalog)

    def is_called(self, name: str) -> bool:
        """Whether clients mean this account: by its locator or as ORGANIZATION-NAME, hyphens for underscores or not."""
        identity = self.identity
        names = {identity.locator, f"{identity.organization}-{identity.name}"}
        return name.upper().replace("_", "-") in {known.replace("_", "-") for known in names}

    def role(self, name: str) -> CatalogObject:
        """A role by its name.

        Raises:
            KeyError: There is none.
        """
        role = self.catalog.find("ROLE", name)
        if role is None:
            raise KeyError(name)
        return role


@dataclass
class Query:
    """A statement that was received, and its answer once there is one."""

    id: str
    session: Session
    text: str
    task: "asyncio.Task[None] | None" = None
    result: Result | None = None
    error: SqlError | None = None

    @property
    def done(self) -> bool:
        return self.result is not None or self.error is not None

    def cancel(self) -> None:
        """Stop it before it takes effect; a query that is done stays as it is."""
        if self.task is not None:
            self.task.cancel()


@dataclass(frozen=True)
class Request:
    """What came with a statement.

    Attributes:
        id: The client's idempotency key; a repeated one is answered with the first one's query.
        parameters: Session parameters for this statement alone.
        refusal: Why it is refused whatever its text says.
    """

    text: str
    id: str = ""
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    refusal: SqlError | None = None


class Engine:
    """All accounts of an endpoint and what they were asked.

    Args:
        seed: What new accounts start with.
        clock: Seconds since 1970.
        state: Where effects and journal are kept; None keeps them in memory.
    """

    def __init__(self, seed: Seed, *, clock: Callable[[], float], state: StateFile | None = None) -> None:
        self.journal = Journal()
        self.faults = Faults()
        self._clock = clock
        self._state = state
        self._types = load()
        self._queries: OrderedDict[str, Query] = OrderedDict()
        self._requests: OrderedDict[tuple[int, str], Query] = OrderedDict()
        self.accounts = {account.name: Account(account.identity()) for account in seed.accounts}
        if state is not None:
            state.replay(self._restore)
        for account in seed.accounts:
            self._plant(account)

    def now(self) -> int:
        """Milliseconds since 1970."""
        return int(self._clock() * 1000)

    # --- state ---------------------------------------------------------------------------------------------------

    def _restore(self, line: Line) -> None:
        catalog = self.accounts[line.account].catalog
        for obj in line.objects:
            catalog.apply(Change(catalog.get(obj.id), obj))
        for grant in line.revoked:
            catalog.apply(Change(grant, None))
        for grant in line.grants:
            catalog.apply(Change(catalog.get_grant(grant.key), grant))
        if line.entry is not None:
            self.journal.restore(line.entry)

    def _save(self, account: str, entry: Entry | None, changes: list[Change]) -> None:
        if self._state is not None:
            self._state.append(Line.of(account, entry, changes))

    def _plant(self, seed: SeedAccount) -> None:
        catalog = self.accounts[seed.name].catalog
        if catalog.next_id:
            return
        with catalog.transaction() as changes:
            plant(catalog, seed, self.now())
            session = self.session_as(role="ACCOUNTADMIN", account=seed.name)
            for statement in seed.statements:
                execute(statement, self.context(session))
        self._save(seed.name, None, changes)

    # --- statements ----------------------------------------------------------------------------------------------

    def query(self, session: Session, query_id: str) -> Query:
        """A query of the session's user, from this session or another.

        Raises:
            SqlError: 000709 when it is unknown, forgotten or somebody else's.
        """
        query = self._queries.get(query_id)
        if query is None or (query.session.account, query.session.user) != (session.account, session.user):
            raise errors.unknown_query(query_id)
        return query

    def query_of(self, session: Session, request_id: str) -> Query | None:
        """The query that a request has already started."""
        return self._requests.get((session.id, request_id))

    def submit(self, session: Session, request: Request) -> Query:
        """Start a statement, or find the query that an earlier attempt of the same request started."""
        if request.id and (known := self.query_of(session, request.id)):
            return known
        query = Query(str(uuid.uuid4()), session, request.text)
        _remember(self._queries, query.id, query)
        _remember(self._requests, (session.id, request.id), query)
        query.task = asyncio.create_task(self._run(query, request))
        return query

    def run_as(self, sql: str, *, role: str, user: str | None = None, account: str | None = None) -> Result:
        """Run a statement at once, as if somebody else did: no log-in, no faults.

        Args:
            role: The primary role; it need not be granted to the user.
            user: Whose secondary roles and CURRENT_USER() apply; nobody's by default.
            account: The account's name; the first account by default.

        Raises:
            SqlError: The refusal.
            KeyError: There is no such role, user or account.
        """
        return self.run(self.session_as(role=role, user=user, account=account), sql)

    def session_as(self, *, role: str, user: str | None = None, account: str | None = None) -> Session:
        """A session without a log-in; the arguments are those of `run_as`."""
        target = self.accounts[account] if account is not None else next(iter(self.accounts.values()))
        known_user = None if user is None else target.catalog.find("USER", user)
        if user is not None and known_user is None:
            raise KeyError(user)
        return Session(
            id=0,
            account=target.identity.name,
            user=None if known_user is None else known_user.id,
            role=target.role(role).id,
            secondary="NONE" if known_user is None else "ALL",
        )

    def run(self, session: Session, sql: str) -> Result:
        """Run a statement at once, without faults.

        Raises:
            SqlError: The refusal.
        """
        query, request = Query(str(uuid.uuid4()), session, sql), Request(sql)
        self._execute(query, request, self._begin(query, request))
        if query.result is None:
            raise query.error or errors.canceled()
        return query.result

    async def _run(self, query: Query, request: Request) -> None:
        entry = self._begin(query, request)
        context = self.context(query.session, request.parameters)
        try:
            async with asyncio.timeout(context.time_limit()):
                await self._suffer(request)
        except SqlError as error:
            self._fail(query, entry, error)
        except TimeoutError:
            self._fail(query, entry, errors.timed_out(context.time_limit() or 0))
        except asyncio.CancelledError:
            self._fail(query, entry, errors.canceled())
        else:
            self._execute(query, request, entry)

    async def _suffer(self, request: Request) -> None:
        """Let the fault happen that is due for this text, if there is one."""
        if request.refusal is not None:
            raise request.refusal
        fault = self.faults.take(request.text, "error", "delay", "hang")
        if fault is None:
            return
        match fault.action:
            case "error":
                raise fault.error()
            case "delay":
                await asyncio.sleep(fault.seconds)
            case _:
                await asyncio.Event().wait()

    def _execute(self, query: Query, request: Request, entry: Entry) -> None:
        context = self.context(query.session, request.parameters)
        changes: list[Change] = []
        try:
            with context.catalog.transaction() as changes:
                query.result = execute(request.text, context)
        except SqlError as error:
            self._fail(query, entry, error, changes)
        else:
            self._save(query.session.account, self.journal.finish(entry, OK), changes)

    def _fail(self, query: Query, entry: Entry, error: SqlError, changes: list[Change] | None = None) -> None:
        query.error = error
        self._save(query.session.account, self.journal.finish(entry, error.code), changes or [])

    def context(self, session: Session, parameters: Mapping[str, Scalar] | None = None) -> Context:
        """What a statement of a session works with now; `parameters` are set for that statement alone."""
        account = self.accounts[session.account]
        return Context(self._types, account.identity, account.catalog, session, self.now(), parameters or {})

    def _begin(self, query: Query, request: Request) -> Entry:
        session = query.session
        context = self.context(session, request.parameters)
        return self.journal.begin(
            Entry(
                sequence=self.journal.next_sequence,
                kind="statement",
                time=self.now(),
                account=session.account,
                session=session.id,
                user=None if session.user is None else context.catalog[session.user].name,
                role=context.catalog[session.role].name,
                query_tag=str(context.session_parameter("QUERY_TAG").value),
                request_id=request.id,
                query_id=query.id,
                text=request.text,
            )
        )

    def record_login(
        self, account: str, login_name: str, session: Session | None, error: errors.LoginError | None
    ) -> None:
        """Journal an attempt to log in."""
        catalog = self.accounts[account].catalog
        entry = self.journal.begin(
            Entry(
                sequence=self.journal.next_sequence,
                kind="login",
                time=self.now(),
                account=account,
                session=session.id if session else 0,
                user=login_name,
                role=catalog[session.role].name if session else None,
                query_tag="",
                request_id="",
                query_id="",
                text=f"LOGIN {login_name}",
            )
        )
        finished = self.journal.finish(entry, error.code if error else OK, error.cause if error else "")
        self._save(account, finished, [])

    async def close(self) -> None:
        """End what still runs."""
        running = [query.task for query in self._queries.values() if query.task is not None and not query.task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


_Key = TypeVar("_Key")


def _remember(memory: OrderedDict[_Key, Query], key: _Key, query: Query) -> None:
    memory[key] = query
    while len(memory) > _REMEMBERED_QUERIES:
        memory.popitem(last=False)
