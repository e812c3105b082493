"""What the API server refused, or why it could not be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson


class ApiError(Exception):
    """An answer that is no success.

    Attributes:
        status: HTTP status; 0 when there was no answer.
        reason: machine-readable reason of the Status object, for example `AlreadyExists`; empty when none was sent.
        message: for people.
        details: of the Status object.
        retry_after: seconds that the server asks to wait; None when it doesn't.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.reason})" if self.status else self.message


class Unauthorized(ApiError):
    """401: the credentials are not, or no longer, accepted."""


class Forbidden(ApiError):
    """403: RBAC or an admission policy says no."""


class NotFound(ApiError):
    """404 of an object: there is none of that name."""


class NotServed(ApiError):
    """404 of a path: the API server doesn't know the resource type (now); that says nothing of its objects."""


class AlreadyExists(ApiError):
    """409 of a create: the name is taken."""


class Conflict(ApiError):
    """409 of a write: the object changed since it was read, or a precondition failed."""


class Gone(ApiError):
    """410: the resourceVersion or continue token is too old; list again."""


class Invalid(ApiError):
    """422: the object breaks the schema or a rule."""


class TooManyRequests(ApiError):
    """429: the request was not handled; the server asks for less."""


class Unavailable(ApiError):
    """No answer, or a 5xx.

    Attributes:
        unsent: whether the request certainly never reached the server.
    """

    unsent: bool = False


_CLASSES: Mapping[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def refusal(status: int, body: bytes, retry_after: str | None = None) -> ApiError:
    """The error that an answer stands for.

    Args:
        status: HTTP status, 400 or more.
        body: a Status object as JSON, or any text.
        retry_after: value of the header of that name.
    """
    answer = _status_object(body)
    message = answer.get("message") or body[:1024].decode(errors="replace").strip() or f"HTTP status {status}"
    return _class_of(status, answer)(
        status,
        answer.get("reason") or "",
        message,
        answer.get("details"),
        float(retry_after) if retry_after and retry_after.isdecimal() else None,
    )


def unavailable(cause: Exception, *, unsent: bool = False) -> Unavailable:
    """The error for a request without an answer.

    Args:
        cause: what happened to the connection.
        unsent: whether the request certainly never reached the server.
    """
    error = Unavailable(0, "", f"the API server could not be reached: {cause or type(cause).__name__}")
    error.unsent = unsent
    return error


def _class_of(status: int, answer: Mapping[str, Any]) -> type[ApiError]:
    if status == 404 and not answer:
        return NotServed
    if status == 409 and answer.get("reason") == "AlreadyExists":
        return AlreadyExists
    if status >= 500:
        return Unavailable
    return _CLASSES.get(status, ApiError)


def _status_object(body: bytes) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) and answer.get("kind") == "Status" else {}
