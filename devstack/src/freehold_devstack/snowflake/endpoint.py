"""The endpoint as a whole: an async context manager for tests, and what the command line runs."""

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.control import Control
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.faults import Faults
from freehold_devstack.snowflake.issuer import PATH, Issuer
from freehold_devstack.snowflake.journal import Entry, Journal
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.seed import Seed, SeedAccount
from freehold_devstack.snowflake.server import Server
from freehold_devstack.snowflake.sessions import Session, SessionStore
from freehold_devstack.snowflake.state import StateFile
from freehold_devstack.snowflake.tls import Certificate

MAX_BODY = 16 * 1024**2
WATCH_SECONDS = 0.25
"""How often the endpoint looks for queries that have lost their clients."""


class SkewedClock:
    """A clock that may go wrong: what the endpoint takes for the time.

    Attributes:
        skew: Seconds that it is fast; negative where it is slow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.skew: float = 0
        self._clock = clock

    def __call__(self) -> float:
        return self._clock() + self.skew


class SnowflakeEndpoint:
    """Serves while it is entered.

    Args:
        seed: The accounts and what is in them at the start.
        certificate: What it proves its name with.
        host, port: Where it listens; port 0 picks a free one.
        state: File that outlives it; a file that is not empty wins over the seed.
        control_token: Guards /devstack; a random one by default.
        clock: Seconds since 1970.
        session_validity: Seconds that a session token lives.
        master_validity: Seconds that a session lives without a word from its client.
        answer_within: Seconds after which a statement that still runs is answered as in progress.
        detached_after: Seconds after which a query without a client is aborted, where ABORT_DETACHED_QUERY says so.

    Raises:
        ValueError: The seed's accounts share a name, one of its statements is refused, or the file is no state.

    Attributes:
        clock: What it takes for the time; it can be put wrong.
        issuer: The test issuer that it serves; None where the seed has none.
    """

    def __init__(
        self,
        seed: Seed,
        certificate: Certificate,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        state: Path | None = None,
        control_token: str | None = None,
        clock: Callable[[], float] = time.time,
        session_validity: float = 3600,
        master_validity: float = 14400,
        answer_within: float = 45,
        detached_after: float = 300,
    ) -> None:
        self.host = host
        self.certificate = certificate
        self.control_token = control_token or secrets.token_urlsafe(32)
        self.clock = SkewedClock(clock)
        self._port = port
        self._state = None if state is None else StateFile(state)
        issuers = Issuers({url: map(jws.read_jwk, known.keys) for url, known in seed.issuers.items()})
        self.issuer = None if seed.issuer is None else Issuer(seed.issuer.url, seed.issuer.clients_by_id(), clock=clock)
        if self.issuer is not None:
            issuers.trust(self.issuer.url, self.issuer.public_key)
        self._engine = Engine(clock=self.clock, issuers=issuers, state=self._state, detached_after=detached_after)
        try:
            self._engine.add_accounts(*seed.accounts)
        except ValueError:
            if self._state is not None:
                self._state.close()
            raise
        self._sessions = SessionStore(self.clock, validity=session_validity, master_validity=master_validity)
        server = Server(self._engine, self._sessions, clock=self.clock, answer_within=answer_within)
        control = Control(self._engine, self.clock, self.control_token)
        app = web.Application(client_max_size=MAX_BODY)
        app.add_routes([*server.routes(), *control.routes(), *(self.issuer.routes(PATH) if self.issuer else ())])
        # A handler ends with its connection, so that it is known which queries have lost their clients.
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1, handler_cancellation=True)
        self._watch: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on, once it is entered."""
        address: tuple[str, int] = self._runner.addresses[0]
        return address[1]

    @property
    def journal(self) -> Journal:
        return self._engine.journal

    @property
    def faults(self) -> Faults:
        return self._engine.faults

    def effects(self, entry: Entry) -> list[str]:
        """What a statement has changed; see `freehold_devstack.snowflake.effects`."""
        return self._engine.effects(entry)

    def sql(self, sql: str, *, role: str, user: str | None = None, account: str | None = None) -> Result:
        """Run a statement as a stranger would; see `Engine.run_as`."""
        return self._engine.run_as(sql, role=role, user=user, account=account)

    def add_account(self, account: SeedAccount) -> None:
        """Open a further account.

        Raises:
            ValueError: There is one of this name already.
        """
        self._engine.add_accounts(account)

    def session(self, session_id: int) -> Session:
        """The server's side of a connection, whose role, secondary roles and parameters can be changed.

        Raises:
            KeyError: There is no such session, or it has ended.
        """
        return self._sessions.by_id(session_id)

    async def _watch_queries(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            self._engine.abort_detached()

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self._port, ssl_context=self.certificate.server_context())
        try:
            await site.start()
        except OSError:
            await self.__aexit__(None, None, None)
            raise
        self._watch = asyncio.create_task(self._watch_queries())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        await self._engine.close()
        await self._hang_up()
        if self._state is not None:
            self._state.close()

    async def _hang_up(self) -> None:
        """Close all connections without waiting for their clients to do the same: nobody would be left to hear it."""
        connections = () if self._runner.server is None else self._runner.server.connections
        transports = [connection.transport for connection in connections if connection.transport is not None]
        await self._runner.cleanup()
        for transport in transports:
            transport.abort()
        await asyncio.sleep(0)
