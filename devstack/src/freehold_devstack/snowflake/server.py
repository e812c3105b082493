"""The HTTP protocol of Snowflake's drivers: log-in, sessions, queries; the part that the Python connector 5 uses."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from aiohttp import web

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.accounts import Account
from freehold_devstack.snowflake.auth.login import Login
from freehold_devstack.snowflake.catalog import Change
from freehold_devstack.snowflake.context import CURRENT, Context
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import LoginError, SqlError
from freehold_devstack.snowflake.faults import Fault, Subject
from freehold_devstack.snowflake.journal import SEVERAL
from freehold_devstack.snowflake.logins import make_named_current, open_session, refusal, wire_values
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.parameters import PARAMETERS
from freehold_devstack.snowflake.payloads import AbortPayload, LoginPayload, QueryPayload, read
from freehold_devstack.snowflake.queries import Query, Request
from freehold_devstack.snowflake.redaction import redact
from freehold_devstack.snowflake.sessions import Session, SessionStore, TokenPair

IN_PROGRESS = "333333"
IN_PROGRESS_ASYNC = "333334"

_LOGIN_PARAMETERS = ("AUTOCOMMIT", "CLIENT_SESSION_KEEP_ALIVE", "CLIENT_TELEMETRY_ENABLED", "TIMEZONE")
"""Session parameters that the answer to a log-in tells the driver. Without telemetry = false it sends telemetry."""

_STATEMENT_TYPES = {"SELECT": 0x1000, "USE": 0x4300, "SHOW": 0x4400, "DESCRIBE": 0x4500, SEVERAL.verb: 0xA000}
_ALTER_SESSION_TYPE, _DDL_TYPE = 0x4100, 0x6000
"""What drivers know statements by: by their verbs, else as definitions."""

_OK = {"data": None, "code": None, "message": None, "success": True}

_STATUSES = {429: web.HTTPTooManyRequests, 503: web.HTTPServiceUnavailable}

_Handler = Callable[[web.Request, Session], Awaitable[web.Response]]


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
            web.post("/session", self._in_session(self._close)),
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
        try:
            payload = await read(request, LoginPayload)
        except SqlError as error:
            return _refused(error)
        login = Login.parse(payload.data, request.query, request.remote or "")
        account = self._account(login.account)
        if account is None:
            # Wrong account names never reach the service: the front end has no such host.
            raise web.HTTPForbidden
        name = account.identity.name
        await self._engine.faults.thawed(name)
        changes: list[Change] = []
        try:
            await self._suffer(request, Subject(f"LOGIN {login.login_name}", name, login.login_name, login.role))
            with account.catalog.transaction() as changes:
                session = self._open(login, account)
        except SqlError as error:
            self._engine.record_login(name, login.login_name, None, refusal(error), changes)
            return _refused(error)
        self._engine.record_login(name, login.login_name, session, None, changes)
        return _json({**_OK, "data": self._login_data(session, self._sessions.open(session))})

    def _account(self, name: str) -> Account | None:
        return next((account for account in self._engine.accounts.values() if account.is_called(name)), None)

    def _open(self, login: Login, account: Account) -> Session:
        proof = account.authenticator.authenticate(login, self._clock())
        session = open_session(login, account, proof, self._sessions.next_id())
        make_named_current(login, self._engine.context(session))
        return session

    async def _suffer(self, request: web.Request, subject: Subject) -> None:
        """Let a fault happen to a log-in."""
        fault = self._engine.faults.take(subject, "error", "delay", "hang", "drop-before", "drop-after", "http")
        if fault is None:
            return
        if fault.action in {"error", "delay", "hang"}:
            await fault.happen()
        else:
            raise _instead(request, fault)

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
        await self._engine.faults.thawed(tokens.session.account)
        data = {
            "sessionToken": tokens.token,
            "validityInSecondsST": int(self._sessions.validity),
            "masterToken": tokens.master,
            "validityInSecondsMT": int(self._sessions.master_validity),
            "sessionId": tokens.session.id,
        }
        return _json({**_OK, "data": data})

    async def _close(self, request: web.Request, session: Session) -> web.Response:
        if request.query.get("delete") != "true":
            raise web.HTTPBadRequest
        self._sessions.end(session)
        self._engine.close_session(session)
        return _json(_OK)

    async def _heartbeat(self, _request: web.Request, _session: Session) -> web.Response:
        return _json(_OK)

    async def _telemetry(self, _request: web.Request) -> web.Response:
        return _json(_OK)

    def _in_session(self, handler: _Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler for requests that carry a good session token; others are refused."""

        async def handle(request: web.Request) -> web.Response:
            try:
                token = _token(request)
                await self._engine.faults.thawed(self._sessions.session(token).account)
                # It may have ended while its account was frozen.
                return await handler(request, self._sessions.session(token))
            except SqlError as error:
                return _refused(error)

        return handle

    # --- queries -------------------------------------------------------------------------------------------------

    async def _query(self, request: web.Request, session: Session) -> web.Response:
        payload = await read(request, QueryPayload)
        self._engine.accounts[session.account].authenticator.check_session(session)
        subject = self._engine.subject(session, payload.sql_text)
        self._disturb(request, session, subject)
        during = self._engine.faults.take(subject, "drop-during")
        after = self._engine.faults.take(subject, "drop-after")
        query = self._engine.submit(
            session,
            Request(
                payload.sql_text,
                request.query.get("requestId", ""),
                parameters=wire_values(payload.parameters or {}),
                asynchronous=payload.async_exec,
                describe_only=payload.describe_only,
                refusal=errors.unsupported("BIND VARIABLES") if payload.bindings else None,
                delay=0 if during is None else during.latency(),
            ),
        )
        if during is not None:
            raise _cut(request)
        if query.request.asynchronous and after is None:
            return _in_progress(query, IN_PROGRESS_ASYNC)
        response = await self._answer(query)
        if after is not None:
            raise _cut(request)
        return response

    def _disturb(self, request: web.Request, session: Session, subject: Subject) -> None:
        """Let the fault happen that is due to a request before its statement is looked at.

        Raises:
            SqlError: The session's token has expired, or the session is lost.
            HTTPException: The answer is another one, or none.
        """
        fault = self._engine.faults.take(subject, "drop-before", "http", "expire-token", "lose-session")
        if fault is None:
            return
        match fault.action:
            case "expire-token":
                self._sessions.expire(session)
                raise errors.session_expired()
            case "lose-session":
                self._sessions.end(session)
                raise errors.session_lost()
            case _:
                raise _instead(request, fault)

    async def _answer(self, query: Query) -> web.Response:
        """The outcome, or that there is none yet."""
        if query.task is not None and not query.done:
            await self._listen(query, query.task)
        if query.error is not None:
            return _failed(query, query.error)
        if query.result is None:
            return _in_progress(query, IN_PROGRESS)
        return _json({**_OK, "data": self._data(query)})

    async def _listen(self, query: Query, task: "asyncio.Task[None]") -> None:
        """Wait for a query; while somebody does, it has not lost its client."""
        query.listeners += 1
        try:
            await asyncio.wait({task}, timeout=self._answer_within)
        finally:
            query.listeners -= 1
            query.session.active_at = self._clock()

    def _data(self, query: Query) -> dict[str, Any]:
        assert query.result is not None  # noqa: S101 - the caller has looked
        currents = _currents(self._engine.context(query.session))
        finals = {f"final{name[0].upper()}{name[1:]}": value for name, value in currents.items()}
        children = {
            "resultIds": ",".join(child.id for child in query.children),
            "resultTypes": ",".join(str(_statement_type(child)) for child in query.children),
        }
        return {
            "parameters": [],
            "rowtype": query.result.rowtype(),
            "rowset": query.result.rowset(),
            "total": len(query.result.rows),
            "returned": len(query.result.rows),
            "queryId": query.id,
            "statementTypeId": _statement_type(query),
            "queryResultFormat": "json",
            **finals,
            **(children if query.children else {}),
        }

    async def _result(self, request: web.Request, session: Session) -> web.Response:
        return await self._answer(self._engine.queries.get(session, request.match_info["query"]))

    async def _monitor(self, request: web.Request, session: Session) -> web.Response:
        query = self._engine.queries.get(session, request.match_info["query"])
        status = "FAILED_WITH_ERROR" if query.error else "SUCCESS" if query.done else "RUNNING"
        details = {"errorCode": query.error.code, "errorMessage": query.error.message} if query.error else {}
        told = {"id": query.id, "status": status, "sqlText": redact(query.request.text), **details}
        return _json({**_OK, "data": {"queries": [told]}})

    async def _abort_request(self, request: web.Request, session: Session) -> web.Response:
        payload = await read(request, AbortPayload)
        return self._abort(self._engine.queries.of_request(session, payload.request_id))

    async def _abort_query(self, request: web.Request, session: Session) -> web.Response:
        return self._abort(self._engine.queries.get(session, request.match_info["query"]))

    def _abort(self, query: Query | None) -> web.Response:
        if query is None or query.done:
            return _refused(errors.not_executing())
        query.cancel()
        return _json(_OK)


def _token(request: web.Request) -> str:
    """The token of `Authorization: Snowflake Token="…"`."""
    scheme, _, token = request.headers.get("Authorization", "").partition("=")
    return token.strip('"') if scheme == "Snowflake Token" else ""


def _currents(context: Context) -> dict[str, str | None]:
    """What is current in a session, by the names of the protocol."""
    return {f"{kind.lower()}Name": context.current_name(kind) for kind in CURRENT}


def _statement_type(query: Query) -> int:
    form = query.form or Form("")
    if (form.verb, form.kind) == ("ALTER", "SESSION"):
        return _ALTER_SESSION_TYPE
    return _STATEMENT_TYPES.get(form.verb, _DDL_TYPE)


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


def _instead(request: web.Request, fault: Fault) -> Exception:
    """What a request is answered instead: a status, or nothing."""
    if fault.action != "http":
        return _cut(request)
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return _STATUSES[fault.status](headers=headers)


def _cut(request: web.Request) -> Exception:
    """Cut the connection under a request; what the handler does with it no longer matters to anybody."""
    if request.transport is not None:
        request.transport.abort()
    return web.HTTPServiceUnavailable()
