"""The HTTP protocol of Snowflake's drivers: log-in, sessions, queries; the part that the Python connector 5 uses."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from aiohttp import web

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.context import CURRENT, Context
from freehold_devstack.snowflake.engine import Account, Engine, Query, Request
from freehold_devstack.snowflake.errors import LoginError, SqlError
from freehold_devstack.snowflake.logins import (
    Login,
    authenticate,
    make_named_current,
    open_session,
    refusal,
    wire_values,
)
from freehold_devstack.snowflake.parameters import PARAMETERS
from freehold_devstack.snowflake.sessions import Session, SessionStore, TokenPair

IN_PROGRESS = "333333"
IN_PROGRESS_ASYNC = "333334"

_LOGIN_PARAMETERS = ("AUTOCOMMIT", "CLIENT_SESSION_KEEP_ALIVE", "CLIENT_TELEMETRY_ENABLED", "TIMEZONE")
"""Session parameters that the answer to a log-in tells the driver. Without telemetry = false it sends telemetry."""

_OK = {"data": None, "code": None, "message": None, "success": True}


def _json(body: Mapping[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def _refused(error: SqlError, data: Mapping[str, Any] | None = None) -> web.Response:
    return _json({"data": data, "code": error.code, "message": error.message, "success": False, "headers": None})


class Server:
    """The routes of the protocol.

    Args:
        answer_within: Seconds after which a statement that still runs is answered as in progress.
        clock: Seconds since 1970.
    """

    def __init__(
        self, engine: Engine, sessions: SessionStore, *, clock: Callable[[], float], answer_within: float
    ) -> None:
        self._engine = engine
        self._sessions = sessions
        self._clock = clock
        self._answer_within = answer_within

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/session/v1/login-request", self._login),
            web.post("/session/token-request", self._renew),
            web.post("/session/heartbeat", self._in_session(self._heartbeat)),
            web.post("/session", self._close),
            web.post("/queries/v1/query-request", self._in_session(self._query)),
            web.post("/queries/v1/abort-request", self._in_session(self._abort_request)),
            web.post("/queries/{query}/abort-request", self._in_session(self._abort_query)),
            web.get("/queries/{query}/result", self._in_session(self._result)),
            web.get("/monitoring/queries/{query}", self._in_session(self._monitor)),
            web.get("/monitoring/queries//{query}", self._in_session(self._monitor)),
            web.post("/telemetry/send", self._telemetry),
        ]

    # --- sessions ------------------------------------------------------------------------------------------------

    async def _login(self, request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        login = Login.parse(body["data"], request.query)
        account = self._account(login.account)
        if account is None:
            # Wrong account names never reach the service: the front end has no such host.
            raise web.HTTPForbidden
        name = account.identity.name
        try:
            await self._suffer(request, f"LOGIN {login.login_name}")
            user = authenticate(login, account, self._clock())
            session = open_session(login, account, user, self._sessions.next_id())
            make_named_current(login, self._engine.context(session))
        except SqlError as error:
            self._engine.record_login(name, login.login_name, None, refusal(error))
            return _refused(error)
        self._engine.record_login(name, login.login_name, session, None)
        return _json({**_OK, "data": self._login_data(session, self._sessions.open(session))})

    def _account(self, name: str) -> Account | None:
        return next((account for account in self._engine.accounts.values() if account.is_called(name)), None)

    async def _suffer(self, request: web.Request, text: str) -> None:
        """Let a fault happen to a log-in."""
        fault = self._engine.faults.take(text, "error", "delay", "hang", "drop-before", "drop-after")
        if fault is None:
            return
        match fault.action:
            case "error":
                raise LoginError(fault.number, fault.message)
            case "delay":
                await asyncio.sleep(fault.seconds)
            case "hang":
                await asyncio.Event().wait()
            case _:
                raise _cut(request)

    def _login_data(self, session: Session, tokens: TokenPair) -> dict[str, Any]:
        parameters = {name: PARAMETERS[name].default for name in _LOGIN_PARAMETERS} | session.parameters
        return {
            "token": tokens.token,
            "masterToken": tokens.master,
            "validityInSeconds": int(self._sessions.validity),
            "masterValidityInSeconds": int(self._sessions.master_validity),
            "sessionId": session.id,
            "parameters": [{"name": name, "value": value} for name, value in parameters.items()],
            "sessionInfo": _currents(self._engine.context(session)),
        }

    async def _renew(self, request: web.Request) -> web.Response:
        try:
            tokens = self._sessions.renew(_token(request))
        except LoginError as error:
            return _refused(error)
        data = {
            "sessionToken": tokens.token,
            "validityInSecondsST": int(self._sessions.validity),
            "masterToken": tokens.master,
            "validityInSecondsMT": int(self._sessions.master_validity),
            "sessionId": tokens.session.id,
        }
        return _json({**_OK, "data": data})

    async def _close(self, request: web.Request) -> web.Response:
        if request.query.get("delete") != "true":
            raise web.HTTPBadRequest
        try:
            self._sessions.close(_token(request))
        except LoginError as error:
            return _refused(error)
        return _json(_OK)

    async def _heartbeat(self, _request: web.Request, _session: Session) -> web.Response:
        return _json(_OK)

    async def _telemetry(self, _request: web.Request) -> web.Response:
        return _json(_OK)

    def _in_session(
        self, handler: Callable[[web.Request, Session], Awaitable[web.Response]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler for requests that carry a good session token; others are refused."""

        async def handle(request: web.Request) -> web.Response:
            try:
                return await handler(request, self._sessions.session(_token(request)))
            except SqlError as error:
                return _refused(error)

        return handle

    # --- queries -------------------------------------------------------------------------------------------------

    async def _query(self, request: web.Request, session: Session) -> web.Response:
        body = orjson.loads(await request.read())
        text = str(body["sqlText"])
        if self._engine.faults.take(text, "drop-before"):
            raise _cut(request)
        drop_after = self._engine.faults.take(text, "drop-after")
        query = self._engine.submit(
            session, Request(text, request.query.get("requestId", ""), self._parameters(body), self._refusal(body))
        )
        if body.get("asyncExec") and not drop_after:
            return _in_progress(query, IN_PROGRESS_ASYNC)
        response = await self._answer(query)
        if drop_after:
            raise _cut(request)
        return response

    def _parameters(self, body: Mapping[str, Any]) -> dict[str, Scalar]:
        return wire_values(body.get("parameters") or {})

    def _refusal(self, body: Mapping[str, Any]) -> SqlError | None:
        """Why a request is refused whatever its statement says."""
        if body.get("bindings"):
            return errors.unsupported("BIND VARIABLES")
        if body.get("describeOnly"):
            return SqlError(7, "0A000", "Statement provided can not be prepared.")
        return None

    async def _answer(self, query: Query) -> web.Response:
        """The outcome, or that there is none yet."""
        if query.task is not None and not query.done:
            await asyncio.wait({query.task}, timeout=self._answer_within)
        if query.error is not None:
            return _failed(query, query.error)
        if query.result is None:
            return _in_progress(query, IN_PROGRESS)
        return _json({**_OK, "data": self._data(query)})

    def _data(self, query: Query) -> dict[str, Any]:
        assert query.result is not None  # noqa: S101 - the caller has looked
        currents = _currents(self._engine.context(query.session))
        finals = {f"final{name[0].upper()}{name[1:]}": value for name, value in currents.items()}
        return {
            "parameters": [],
            "rowtype": query.result.rowtype(),
            "rowset": query.result.rowset(),
            "total": len(query.result.rows),
            "returned": len(query.result.rows),
            "queryId": query.id,
            "queryResultFormat": "json",
            **finals,
        }

    async def _result(self, request: web.Request, session: Session) -> web.Response:
        return await self._answer(self._engine.query(session, request.match_info["query"]))

    async def _monitor(self, request: web.Request, session: Session) -> web.Response:
        query = self._engine.query(session, request.match_info["query"])
        status = "FAILED_WITH_ERROR" if query.error else "SUCCESS" if query.done else "RUNNING"
        details = {"errorCode": query.error.code, "errorMessage": query.error.message} if query.error else {}
        return _json(
            {**_OK, "data": {"queries": [{"id": query.id, "status": status, "sqlText": query.text, **details}]}}
        )

    async def _abort_request(self, request: web.Request, session: Session) -> web.Response:
        body = orjson.loads(await request.read())
        return self._abort(self._engine.query_of(session, str(body.get("requestId", ""))))

    async def _abort_query(self, request: web.Request, session: Session) -> web.Response:
        return self._abort(self._engine.query(session, request.match_info["query"]))

    def _abort(self, query: Query | None) -> web.Response:
        if query is None or query.done:
            return _refused(SqlError(605, "57014", "Identified SQL statement is not currently executing."))
        query.cancel()
        return _json(_OK)


def _token(request: web.Request) -> str:
    """The token of `Authorization: Snowflake Token="…"`."""
    scheme, _, token = request.headers.get("Authorization", "").partition("=")
    return token.strip('"') if scheme == "Snowflake Token" else ""


def _currents(context: Context) -> dict[str, str | None]:
    """What is current in a session, by the names of the protocol."""
    return {f"{kind.lower()}Name": context.current_name(kind) for kind in CURRENT}


def _failed(query: Query, error: SqlError) -> web.Response:
    data = {
        "internalError": False,
        "unredactedFromSecureObject": False,
        "errorCode": error.code,
        "age": 0,
        "sqlState": error.sqlstate,
        "queryId": query.id,
        "line": error.line,
        "pos": error.position,
        "type": "COMPILATION" if error.message.startswith(errors.COMPILATION) else "EXECUTION",
    }
    return _refused(error, data)


def _in_progress(query: Query, code: str) -> web.Response:
    data = {"queryId": query.id, "getResultUrl": f"/queries/{query.id}/result", "queryAbortsAfterSecs": 300}
    return _json({"data": data, "code": code, "message": "Query execution in progress.", "success": True})


def _cut(request: web.Request) -> Exception:
    """Cut the connection under a request; what the handler does with it no longer matters to anybody."""
    if request.transport is not None:
        request.transport.abort()
    return web.HTTPServiceUnavailable()
