"""The admin side of the endpoint over HTTP: journal, faults, and statements of strangers; guarded by a token."""

import dataclasses
import hmac
from collections.abc import Awaitable, Callable

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.faults import Fault


class _Statement(BaseModel):
    """The body of POST /devstack/sql."""

    model_config = ConfigDict(extra="forbid")

    sql: str
    role: str
    user: str | None = None
    account: str | None = None


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json", status=status)


class Control:
    """The routes below /devstack.

    Args:
        token: What `Authorization: Bearer …` has to carry.
    """

    def __init__(self, engine: Engine, token: str) -> None:
        self._engine = engine
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/devstack/journal", self._guarded(self._journal)),
            web.post("/devstack/faults", self._guarded(self._add_fault)),
            web.delete("/devstack/faults", self._guarded(self._clear_faults)),
            web.post("/devstack/sql", self._guarded(self._sql)),
        ]

    def _guarded(
        self, handler: Callable[[web.Request], Awaitable[web.Response]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            if not hmac.compare_digest(request.headers.get("Authorization", ""), f"Bearer {self._token}"):
                raise web.HTTPUnauthorized
            try:
                return await handler(request)
            except (ValidationError, ValueError) as error:
                return _json({"message": str(error)}, 400)

        return handle

    async def _journal(self, request: web.Request) -> web.Response:
        since = int(request.query.get("since", "0"))
        return _json([dataclasses.asdict(entry) for entry in self._engine.journal.since(since)])

    async def _add_fault(self, request: web.Request) -> web.Response:
        self._engine.faults.add(Fault.model_validate_json(await request.read()))
        return _json({})

    async def _clear_faults(self, _request: web.Request) -> web.Response:
        self._engine.faults.clear()
        return _json({})

    async def _sql(self, request: web.Request) -> web.Response:
        body = _Statement.model_validate_json(await request.read())
        try:
            result = self._engine.run_as(body.sql, role=body.role, user=body.user, account=body.account)
        except SqlError as error:
            return _json({"number": error.code, "sqlstate": error.sqlstate, "message": error.message}, 422)
        except KeyError as error:
            return _json({"message": f"There is no {error.args[0]!r} here."}, 400)
        return _json({"columns": [column.name for column in result.columns], "rows": result.rows})
