"""AdmissionReview (admission.k8s.io/v1): what the API server asks, and what it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import orjson

from freehold.kube.objects import Object

API_VERSION = "admission.k8s.io/v1"


class MalformedReview(ValueError):
    """A body that is no AdmissionReview; an API server never sends one."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request that is to be admitted.

    Attributes:
        uid: of this review.
        operation: CREATE, UPDATE, DELETE or CONNECT.
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
    operation: str
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a request.

    Attributes:
        outcome: how it was decided.
        message: why it is denied, or what was not checked.
        warnings: what the user should know beside.
    """

    outcome: Outcome
    message: str = ""
    warnings: tuple[str, ...] = ()

    def warn(self, *warnings: str) -> Verdict:
        return replace(self, warnings=(*self.warnings, *warnings))


ALLOWED = Verdict(Outcome.ALLOWED)


def denied(message: str) -> Verdict:
    return Verdict(Outcome.DENIED, message)


def undecided(message: str) -> Verdict:
    return Verdict(Outcome.UNDECIDED, message)


def read(body: bytes) -> Request:
    """The request in an AdmissionReview.

    Raises:
        MalformedReview: the body is none.
    """
    try:
        review = orjson.loads(body)
        if review["apiVersion"] != API_VERSION or review["kind"] != "AdmissionReview":
            raise MalformedReview(f"not an AdmissionReview of {API_VERSION}")
        request = review["request"]
        return Request(
            uid=request["uid"],
            operation=request["operation"],
            group=request["kind"]["group"],
            kind=request["kind"]["kind"],
            namespace=request.get("namespace", ""),
            sub_resource=request.get("subResource", ""),
            user=(request.get("userInfo") or {}).get("username", ""),
            dry_run=bool(request.get("dryRun")),
            object=_object(request.get("object")),
            old=_object(request.get("oldObject")),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise MalformedReview(f"not an AdmissionReview: {error!r}") from error


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


def _object(raw: Mapping[str, Any] | None) -> Object | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise MalformedReview("an object of the review is none")
    return Object(raw)


def _line(text: str) -> str:
    """One line: a warning travels in an HTTP header."""
    return " ".join(text.split())
