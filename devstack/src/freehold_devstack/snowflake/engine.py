"""Runs statements: in the order of arrival, each with its journal entry, its faults, its time limit and its effect."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.accounts import Account, UnknownNameError
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.catalog import Change, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.effects import effects, net
from freehold_devstack.snowflake.errors import LoginError, SqlError
from freehold_devstack.snowflake.faults import Fault, Faults, Subject
from freehold_devstack.snowflake.journal import OK, SEVERAL, Entry, Journal
from freehold_devstack.snowflake.objects import load
from freehold_devstack.snowflake.queries import Queries, Query, Request
from freehold_devstack.snowflake.redaction import redact
from freehold_devstack.snowflake.results import MULTIPLE, Result
from freehold_devstack.snowflake.seed import SeedAccount, plant
from freehold_devstack.snowflake.sessions import Session
from freehold_devstack.snowflake.state import Line, StateFile
from freehold_devstack.snowflake.statements import Piece, divide, execute, parse_in

_LOG = logging.getLogger(__name__)


class Engine:
    """All accounts of an endpoint and what they were asked.

    Args:
        clock: Seconds since 1970.
        issuers: Whose signatures its accounts can check.
        state: Where effects and journal are kept; None keeps them in memory.
        detached_after: Seconds after which a query has lost its client that nobody has asked for.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        issuers: Issuers | None = None,
        state: StateFile | None = None,
        detached_after: float = 300,
    ) -> None:
        self.journal = Journal()
        self.faults = Faults()
        self.queries = Queries()
        self.accounts: dict[str, Account] = {}
        self._clock = clock
        self._issuers = issuers or Issuers()
        self._state = state
        self._detached_after = detached_after
        self._types = load()

    def now(self) -> int:
        """Milliseconds since 1970."""
        return int(self._clock() * 1000)

    # --- accounts and state --------------------------------------------------------------------------------------

    def add_accounts(self, *seeds: SeedAccount) -> None:
        """Open accounts: as the state file has them, else as the seed says.

        Raises:
            ValueError: There is one of this name or locator already, or a statement of the seed is refused.
        """
        for seed in seeds:
            account = Account(seed, self._issuers)
            if any(account.clashes(known) for known in self.accounts.values()):
                raise ValueError(f"there is an account {seed.name}, or one with the locator {seed.locator}, already")
            self.accounts[seed.name] = account
        if self._state is not None:
            names = {seed.name for seed in seeds}
            self._state.replay(lambda line: self._restore(line) if line.account in names else None)
        for seed in seeds:
            self._plant(seed)

    def account(self, name: str) -> Account:
        """An account by its own name, or by what clients call it.

        Raises:
            UnknownNameError: There is none.
        """
        for account in self.accounts.values():
            if name == account.identity.name or account.is_called(name):
                return account
        raise UnknownNameError(f"account {name}")

    def _restore(self, line: Line) -> None:
        catalog = self.accounts[line.account].catalog
        with catalog.transaction() as changes:
            line.apply(catalog)
        if line.entry is not None:
            self.journal.restore(line.entry, net(changes))

    def _save(self, account: str, entry: Entry | None, changes: Iterable[Change]) -> None:
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
                try:
                    execute(statement, self.context(session))
                except SqlError as error:
                    raise ValueError(f"account {seed.name}, {statement}: {error.message}") from error
        self._save(seed.name, None, net(changes))

    def effects(self, entry: Entry) -> list[str]:
        """What a statement has changed, one change a line."""
        return effects(entry.changes, self.accounts[entry.account].catalog)

    # --- statements ----------------------------------------------------------------------------------------------

    def submit(self, session: Session, request: Request) -> Query:
        """Start a statement, or find the query that an earlier attempt of the same request started."""
        if request.id and (known := self.queries.of_request(session, request.id)):
            return known
        query = Query(str(uuid.uuid4()), session, request)
        self.queries.add(query)
        entry = self._begin(query)
        fault = self.faults.take(self.subject(session, request.text), "error", "delay", "hang")
        if fault is None and not request.delay:
            self._finish(query, entry)
        else:
            self.queries.start(query, asyncio.create_task(self._wait(query, entry, fault)))
        return query

    def run_as(self, sql: str, *, role: str, user: str | None = None, account: str | None = None) -> Result:
        """Run a statement at once, as if somebody else did: no log-in, no faults.

        Args:
            role: The primary role; it need not be granted to the user.
            user: Whose secondary roles and CURRENT_USER() apply; nobody's by default.
            account: As `account` finds it; the first one by default.

        Raises:
            SqlError: The refusal.
            UnknownNameError: There is no such role, user or account.
        """
        return self.run(self.session_as(role=role, user=user, account=account), sql)

    def session_as(self, *, role: str, user: str | None = None, account: str | None = None) -> Session:
        """A session without a log-in; the arguments are those of `run_as`."""
        target = next(iter(self.accounts.values())) if account is None else self.account(account)
        return Session(
            id=0,
            account=target.identity.name,
            user=None if user is None else target.user(user).id,
            role=target.role(role).id,
            secondary="NONE" if user is None else "ALL",
        )

    def run(self, session: Session, sql: str) -> Result:
        """Run a statement at once, without faults.

        Raises:
            SqlError: The refusal.
        """
        query = Query(str(uuid.uuid4()), session, Request(sql))
        self._finish(query, self._begin(query))
        if query.result is None:
            raise query.error or errors.canceled()
        return query.result

    async def _wait(self, query: Query, entry: Entry, fault: Fault | None) -> None:
        """Suffer a fault, then run, unless that takes too long or somebody cancels it first."""
        limit = self.context(query.session, query.request.parameters).time_limit()
        try:
            async with asyncio.timeout(limit):
                await asyncio.sleep(query.request.delay)
                if fault is not None:
                    await fault.happen()
        except SqlError as error:
            self._fail(query, entry, error)
        except TimeoutError:
            self._fail(query, entry, errors.timed_out(limit or 0))
        except asyncio.CancelledError:
            self._fail(query, entry, errors.canceled())
        else:
            self._finish(query, entry)

    def _finish(self, query: Query, entry: Entry) -> None:
        """Run a query to its end."""
        changes: list[Change] = []
        context = self.context(query.session, query.request.parameters)
        try:
            pieces = _pieces(query.request, context)
            if len(pieces) > 1:
                query.result = self._run_all(query, pieces)
            else:
                with context.catalog.transaction() as changes:
                    query.result = self._run_one(query, context)
        except SqlError as error:
            self._fail(query, entry, error, changes)
        except RecursionError:
            # How deep statements may be nested is up to the interpreter, here and in the library that reads queries.
            self._fail(query, entry, errors.too_deep(), changes)
        except Exception:
            _LOG.exception("a defect of the endpoint met %s", entry.text)
            self._fail(query, entry, errors.internal(), changes)
        else:
            self._end(query, entry, OK, changes)
            self._abort_all(query.session.account, context.aborted)

    def _run_one(self, query: Query, context: Context) -> Result:
        statement = parse_in(context, query.request.text)
        query.form = statement.form
        if not query.request.describe_only:
            return statement.execute(context)
        if query.form.verb != "SELECT":
            raise errors.not_preparable()
        return Result(statement.execute(context).columns, [])

    def _run_all(self, query: Query, pieces: list[Piece]) -> Result:
        """Run the statements of one request one by one, up to the first that is refused."""
        query.form = SEVERAL
        alone = {**query.request.parameters, "MULTI_STATEMENT_COUNT": 1}
        for piece in pieces:
            child = Query(str(uuid.uuid4()), query.session, Request(piece.text, parameters=alone))
            self.queries.add(child)
            self._finish(child, self._begin(child))
            if child.error is not None:
                raise errors.multi_statement_failed(piece.text, piece.line, piece.position, child.error.message)
            query.children = (*query.children, child)
        return MULTIPLE

    def _fail(self, query: Query, entry: Entry, error: SqlError, changes: list[Change] | None = None) -> None:
        query.error = error
        self._end(query, entry, error.code, changes or [])

    def _end(self, query: Query, entry: Entry, outcome: str, changes: list[Change]) -> None:
        done = net(changes)
        self.queries.settle(query)
        self._save(query.session.account, self.journal.finish(entry, outcome, form=query.form, changes=done), done)

    def context(self, session: Session, parameters: Mapping[str, Scalar] | None = None) -> Context:
        """What a statement of a session works with now; `parameters` are set for that statement alone."""
        account = self.accounts[session.account]
        peers = {each.identity.qualified: each.catalog for each in self.accounts.values() if each is not account}
        return Context(self._types, account.identity, account.catalog, session, self.now(), parameters or {}, peers)

    # --- the journal ---------------------------------------------------------------------------------------------

    def subject(self, session: Session, text: str) -> Subject:
        """What faults are matched with."""
        catalog = self.accounts[session.account].catalog
        user = None if session.user is None else catalog[session.user].name
        return Subject(text, session.account, user, catalog[session.role].name)

    def _begin(self, query: Query) -> Entry:
        session, request = query.session, query.request
        subject = self.subject(session, request.text)
        return self.journal.begin(
            Entry(
                sequence=self.journal.next_sequence,
                kind="statement",
                time=self.now(),
                account=session.account,
                session=session.id,
                user=subject.user,
                role=subject.role,
                query_tag=str(self.context(session, request.parameters).session_parameter("QUERY_TAG").value),
                request_id=request.id,
                query_id=query.id,
                text=redact(request.text),
            )
        )

    def record_login(
        self,
        account: str,
        login_name: str,
        session: Session | None,
        error: LoginError | None,
        changes: Iterable[Change],
    ) -> None:
        """Journal an attempt to log in, and what it has changed in the user."""
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
        outcome, detail, done = error.code if error else OK, error.cause if error else "", net(changes)
        self._save(account, self.journal.finish(entry, outcome, detail=detail, changes=done), done)

    # --- the end -------------------------------------------------------------------------------------------------

    def close_session(self, session: Session) -> None:
        """Abort what a closed session still runs; asynchronous queries go on."""
        for query in self.queries.running:
            if query.session is session and not query.request.asynchronous:
                query.cancel()

    def _abort_all(self, account: str, runners: Collection[int]) -> None:
        """Abort whatever these users run, and whatever runs in these warehouses."""
        for query in self.queries.running if runners else ():
            session = query.session
            if session.account == account and not {session.user, session.warehouse}.isdisjoint(runners):
                query.cancel()

    def abort_detached(self) -> None:
        """Abort what has lost its client long enough ago, in sessions with ABORT_DETACHED_QUERY."""
        limit = self._clock() - self._detached_after
        for query in self.queries.running:
            if query.listeners or query.session.active_at > limit:
                continue
            context = self.context(query.session, query.request.parameters)
            if context.session_parameter("ABORT_DETACHED_QUERY").value:
                query.cancel()

    async def close(self) -> None:
        """End what still runs."""
        running = [query.task for query in self.queries.running if query.task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _pieces(request: Request, context: Context) -> list[Piece]:
    """The statements of a request.

    Raises:
        SqlError: As `divide`, or because the request is refused whatever its text says.
    """
    if request.refusal is not None:
        raise request.refusal
    return divide(request.text, int(context.session_parameter("MULTI_STATEMENT_COUNT").value or 0))
