"""The bodies of the protocol's requests. What drivers say beyond them is let be; what is in them has to fit."""

from collections.abc import Mapping
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from freehold_devstack.snowflake import errors

_Parameters = Mapping[str, str | int | float | bool]

_STRICT = ConfigDict(strict=True, frozen=True, extra="ignore")


class Payload(BaseModel):
    """A body in JSON, whose fields are spelt in camel case."""

    model_config = ConfigDict(**_STRICT, alias_generator=to_camel)


class Credentials(BaseModel):
    """The `data` of a log-in, whose fields are spelt in capitals."""

    model_config = ConfigDict(**_STRICT, alias_generator=str.upper)

    account_name: str = ""
    login_name: str = ""
    authenticator: str | None = None
    password: str | None = None
    token: str | None = None
    provider: str | None = None
    session_parameters: _Parameters | None = None


class LoginPayload(Payload):
    """The body of /session/v1/login-request."""

    data: Credentials


class QueryPayload(Payload):
    """The body of /queries/v1/query-request."""

    sql_text: str
    parameters: _Parameters | None = None
    bindings: dict[str, Any] | list[Any] | None = None
    async_exec: bool = False
    describe_only: bool = False


class AbortPayload(Payload):
    """The body of /queries/v1/abort-request."""

    request_id: str


_P = TypeVar("_P", bound=Payload)


async def read(request: web.Request, payload: type[_P]) -> _P:
    """The body of a request.

    Raises:
        SqlError: 390142 for what is not encoded as it says, no JSON, or not of this form.
    """
    try:
        return payload.model_validate_json(await request.read())
    except (web.RequestPayloadError, ValidationError):
        raise errors.invalid_payload() from None
