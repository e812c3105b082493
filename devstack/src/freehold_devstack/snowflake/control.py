"""The admin side of the endpoint over HTTP: journal, faults, clock, and statements of strangers; guarded by a token."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Protocol

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from freehold_devstack.snowflake.accounts import UnknownNameError
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.journal import entry_facts


class Clock(Protocol):
    """What can be put wrong."""

    skew: float


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Statement(_Body):
    """The body of POST /devstack/sql."""

    sql: str
    role: str
    user: str | None = None
    account: str | None = None


class _Skew(_Body):
    """The body of PUT /devstack/clock: seconds, at most some decades."""

    skew: float = Field(ge=-1e9, le=1e9)


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body, default=str), content_type="application/json", status=status)


def _sequence(text: str) -> int:
    """A number of the journal, or 0.

    Raises:
        ValueError: It is none.
    """
    if not text.isdecimal():
        raise ValueError(f"{text!r} is no number of the journal")
    return int(text)


class Control:
    """The routes below /devstack.

    Args:
        token: What `Authorization: Bearer …` has to carry.
    """

    def __init__(self, engine: Engine, clock: Clock, token: str) -> None:
        self._engine = engine
        self._clock = clock
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/devstack/journal", self._guarded(self._journal)),
            web.get("/devstack/journal/latest", self._guarded(self._latest)),
            web.get("/devstack/journal/{sequence}/effects", self._guarded(self._effects)),
            web.post("/devstack/faults", self._guarded(self._add_fault)),
            web.delete("/devstack/faults", self._guarded(self._clear_faults)),
            web.put("/devstack/frozen/{account}", self._guarded(self._freeze)),
            web.delete("/devstack/frozen/{account}", self._guarded(self._thaw)),
            web.put("/devstack/clock", self._guarded(self._skew)),
            web.post("/devstack/sql", self._guarded(self._sql)),
        ]

    def _guarded(
        self, handler: Callable[[web.Request], Awaitable[web.Response]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
                raise web.HTTPUnauthorized
            try:
                return await handler(request)
            except ValueError as error:
                return _json({"message": str(error)}, 400)
            except UnknownNameError as error:
                return _json({"message": f"There is no {error.args[0]} here."}, 400)

        return handle

    async def _journal(self, request: web.Request) -> web.Response:
        entries = self._engine.journal.since(_sequence(request.query.get("since", "0")))
        return _json([entry_facts(entry) for entry in entries])

    async def _latest(self, _request: web.Request) -> web.Response:
        return _json(self._engine.journal.next_sequence - 1)

    async def _effects(self, request: web.Request) -> web.Response:
        entries = self._engine.journal.since(_sequence(request.match_info["sequence"]) - 1)
        if not entries:
            raise UnknownNameError(f"entry {request.match_info['sequence']}")
        return _json(self._engine.effects(entries[0]))

    async def _add_fault(self, request: web.Request) -> web.Response:
        fault = Fault.model_validate_json(await request.read())
        if fault.account is not None:
            fault = fault.model_copy(update={"account": self._engine.account(fault.account).identity.name})
        self._engine.faults.add(fault)
        return _json({})

    async def _clear_faults(self, _request: web.Request) -> web.Response:
        self._engine.faults.clear()
        return _json({})

    async def _freeze(self, request: web.Request) -> web.Response:
        self._engine.faults.freeze(self._engine.account(request.match_info["account"]).identity.name)
        return _json({})

    async def _thaw(self, request: web.Request) -> web.Response:
        self._engine.faults.thaw(self._engine.account(request.match_info["account"]).identity.name)
        return _json({})

    async def _skew(self, request: web.Request) -> web.Response:
        self._clock.skew = _Skew.model_validate_json(await request.read()).skew
        return _json({})

    async def _sql(self, request: web.Request) -> web.Response:
        body = _Statement.model_validate_json(await request.read())
        try:
            result = self._engine.run_as(body.sql, role=body.role, user=body.user, account=body.account)
        except SqlError as error:
            return _json({"number": error.code, "sqlstate": error.sqlstate, "message": error.message}, 422)
        return _json({"columns": [column.name for column in result.columns], "rows": result.rows})
