"""AdmissionReview (admission.k8s.io/v1): what the API server asks, and what it is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from freehold.kube.objects import Object
from freehold.kube.text import shortened
from freehold.resolve import describe

API_VERSION = "admission.k8s.io/v1"

LONGEST = 1024
"""Bytes of a message or warning: the API server drops warnings that exceed its own limits, and people don't read on."""

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


class MalformedReview(ValueError):
    """A body that is no AdmissionReview; an API server never sends one."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request that is to be admitted.

    Attributes:
        uid: of this review.
        operation: what is done to the object.
        group: API group of the object.
        kind: kind of the object.
        namespace: namespace of the object.
        sub_resource: empty for the object itself.
        user: who asks the API server.
        dry_run: whether nothing must be written.
        object: the object as it would be stored; None on DELETE.
        old: the object as it is stored; None on CREATE.
    """

    uid: str
    operation: Operation
    group: str
    kind: str
    namespace: str
    sub_resource: str
    user: str
    dry_run: bool
    object: Object | None
    old: Object | None


class Outcome(Enum):
    """What became of a request."""

    ALLOWED = "allowed"
    DENIED = "denied"
    UNDECIDED = "undecided"
    """Something could not be checked; whether that admits or denies is the installation's choice."""


class Cause(StrEnum):
    """Why a request isn't simply allowed, in one word for programs. What a ProviderConfig or the installation doesn't
    allow has the words of `freehold.permissions` beside these, and all mean what they mean in conditions."""

    NONE = ""
    CONFLICT = "ConflictDetected"
    IDENTITY_CHANGED = "IdentityChanged"
    IMMUTABLE_FIELD = "ImmutableField"
    INVALID = "ValidationFailed"
    HOST = "HostNotAllowed"
    WORKLOAD_IDENTITY = "WorkloadIdentityNotAllowed"
    DEPENDENCY = "DependencyNotReady"
    UNREADABLE_SPEC = "UnreadableSpec"
    NO_ANSWER = "NoAnswer"
    FAULT = "InternalError"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a request.

    Attributes:
        outcome: how it was decided.
        cause: why, in a word for programs: one of `Cause`, or a reason of `freehold.permissions`.
        message: why it is denied, or what was not checked.
        warnings: what the user should know beside.
    """

    outcome: Outcome
    cause: str = Cause.NONE
    message: str = ""
    warnings: tuple[str, ...] = ()

    def warn(self, *warnings: str) -> Verdict:
        return replace(self, warnings=(*self.warnings, *warnings)) if warnings else self


ALLOWED = Verdict(Outcome.ALLOWED)


def denied(cause: str, message: str) -> Verdict:
    return Verdict(Outcome.DENIED, cause, message)


def undecided(cause: str, message: str) -> Verdict:
    return Verdict(Outcome.UNDECIDED, cause, message)


class _Wire(BaseModel):
    """A part of the review: what is looked at must have its type, the rest may be anything."""

    model_config = ConfigDict(strict=True)


class _Metadata(_Wire):
    name: str = ""
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Resource(_Wire):
    metadata: _Metadata = _Metadata()
    spec: dict[str, Any] | None = None


class _Kind(_Wire):
    group: str
    kind: str


class _User(_Wire):
    username: str = ""


def _stored(raw: Any) -> Object:
    _Resource.model_validate(raw)
    return Object(raw)


_Stored = Annotated[Object, PlainValidator(_stored)]
"""Kept as it came: checked, and not copied."""


class _Request(_Wire):
    uid: str
    kind: _Kind
    operation: Operation
    namespace: str = ""
    sub_resource: str = Field(default="", alias="subResource")
    user: _User | None = Field(default=None, alias="userInfo")
    dry_run: bool | None = Field(default=None, alias="dryRun")
    object: _Stored | None = None
    old: _Stored | None = Field(default=None, alias="oldObject")


class _Review(_Wire):
    api_version: Literal["admission.k8s.io/v1"] = Field(alias="apiVersion")
    kind: Literal["AdmissionReview"]
    request: _Request


def read(body: bytes) -> Request:
    """The request in an AdmissionReview.

    Raises:
        MalformedReview: the body is none.
    """
    try:
        request = _Review.model_validate(orjson.loads(body)).request
    except orjson.JSONDecodeError as error:
        raise MalformedReview(f"not JSON: {error}") from error
    except ValidationError as error:
        raise MalformedReview(f"not an AdmissionReview of {API_VERSION}: {describe(error)}") from error
    return Request(
        uid=request.uid,
        operation=request.operation,
        group=request.kind.group,
        kind=request.kind.kind,
        namespace=request.namespace,
        sub_resource=request.sub_resource,
        user=request.user.username if request.user else "",
        dry_run=bool(request.dry_run),
        object=request.object,
        old=request.old,
    )


def answer(request: Request, verdict: Verdict, *, strict: bool) -> bytes:
    """The AdmissionReview that answers a request.

    Args:
        request: the request.
        verdict: how it was decided.
        strict: whether what could not be checked is denied.
    """
    refusals, warnings = [], list(verdict.warnings)
    match verdict.outcome, strict:
        case Outcome.DENIED, _:
            refusals.append(verdict.message)
        case Outcome.UNDECIDED, True:
            refusals.append(f"{verdict.message}. This installation denies what can't be checked: try again")
        case Outcome.UNDECIDED, False:
            warnings.append(f"{verdict.message}. Freehold decides later: see the condition Ready")
    response: dict[str, Any] = {"uid": request.uid, "allowed": not refusals}
    if refusals:
        # 403 as from RBAC: kubectl would repeat a 409 by itself, and print a 422 as a schema violation.
        response["status"] = {"code": 403, "reason": "Forbidden", "message": _line(refusals[0])}
    if warnings:
        response["warnings"] = [_line(warning) for warning in warnings]
    return orjson.dumps({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})


def _line(text: str) -> str:
    """One line of printable text: a warning travels in an HTTP header, and anything may be in a name."""
    line = " ".join(text.split())
    printable = line if line.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return shortened(printable, LONGEST)
