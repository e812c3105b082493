"""The endpoint as a whole: an async context manager for tests, and what the command line runs."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from freehold_devstack.snowflake.control import Control
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.faults import Faults
from freehold_devstack.snowflake.journal import Journal
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.seed import Seed
from freehold_devstack.snowflake.server import Server
from freehold_devstack.snowflake.sessions import SessionStore
from freehold_devstack.snowflake.state import StateFile
from freehold_devstack.snowflake.tls import Certificate

MAX_BODY = 16 * 1024**2


class SnowflakeEndpoint:
    """Serves while it is entered.

    Args:
        seed: The accounts and what is in them at the start.
        certificate: What it proves its name with.
        host, port: Where it listens; port 0 picks a free one.
        state: File that outlives it; a file that is not empty wins over the seed.
        control_token: Guards /devstack; a random one by default.
        clock: Seconds since 1970.
        session_validity, master_validity: Seconds that session and master tokens live.
        answer_within: Seconds after which a statement that still runs is answered as in progress.
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
    ) -> None:
        self.host = host
        self.certificate = certificate
        self.control_token = control_token or secrets.token_urlsafe(32)
        self._port = port
        self._state = None if state is None else StateFile(state)
        self._engine = Engine(seed, clock=clock, state=self._state)
        sessions = SessionStore(clock, validity=session_validity, master_validity=master_validity)
        server = Server(self._engine, sessions, clock=clock, answer_within=answer_within)
        app = web.Application(client_max_size=MAX_BODY)
        app.add_routes([*server.routes(), *Control(self._engine, self.control_token).routes()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)

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

    def sql(self, sql: str, *, role: str, user: str | None = None, account: str | None = None) -> Result:
        """Run a statement as a stranger would; see `Engine.run_as`."""
        return self._engine.run_as(sql, role=role, user=user, account=account)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self._port, ssl_context=self.certificate.server_context())
        await site.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._engine.close()
        await self._runner.cleanup()
        if self._state is not None:
            self._state.close()
