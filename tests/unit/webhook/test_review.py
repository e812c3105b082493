"""AdmissionReview on the wire."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from freehold_webhook.review import (
    ALLOWED,
    LONGEST,
    Cause,
    MalformedReview,
    Request,
    Verdict,
    answer,
    denied,
    read,
    undecided,
)


def review(**request: Any) -> bytes:
    return orjson.dumps(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "7",
                "kind": {"group": "snowflake.freehold.dev", "version": "v1alpha1", "kind": "Database"},
                "operation": "CREATE",
                "namespace": "a",
                "userInfo": {"username": "jane"},
                "object": {"metadata": {"name": "analytics"}},
                "oldObject": None,
                **request,
            },
        }
    )


def answered(verdict: Verdict, *, strict: bool = False) -> dict[str, Any]:
    body = orjson.loads(answer(read(review()), verdict, strict=strict))
    assert (body["apiVersion"], body["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = body["response"]
    assert response["uid"] == "7"
    return response


def test_a_request_is_read() -> None:
    request = read(review(dryRun=True))
    assert isinstance(request, Request)
    assert request.object is not None
    assert (request.operation, request.kind, request.namespace, request.object.name) == (
        "CREATE",
        "Database",
        "a",
        "analytics",
    )
    assert (request.user, request.dry_run, request.old) == ("jane", True, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        orjson.dumps({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "request": {}}),
        orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}),
        review(object="no object"),
        review(kind="Database"),
        review(kind={"group": 1, "kind": "Database"}),
        review(uid=7),
        review(operation="PATCH"),
        review(dryRun="no"),
        review(userInfo=[]),
        review(object=[]),
        review(object={"metadata": []}),
        review(object={"metadata": {"name": 1}}),
        review(object={"metadata": {"name": "x"}, "spec": "text"}),
        review(oldObject={"metadata": {"name": "x"}, "spec": [1]}),
        review().replace(b"analytics", rb"\ud800"),
    ],
)
def test_what_is_no_review_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedReview):
        read(body)


def test_an_allowed_request_is_allowed_with_its_warnings() -> None:
    assert answered(ALLOWED.warn("mind\nthe gap")) == {"uid": "7", "allowed": True, "warnings": ["mind the gap"]}


def test_a_denied_request_says_why_in_one_line() -> None:
    assert answered(denied(Cause.CONFLICT, "no,\nnever")) == {
        "uid": "7",
        "allowed": False,
        "status": {"code": 403, "reason": "Forbidden", "message": "no, never"},
    }


def test_a_message_is_one_short_line_of_printable_text_whatever_it_quotes() -> None:
    message = answered(denied(Cause.INVALID, "no\0\x1b[31m\n" + "x" * 10_000))["status"]["message"]
    assert message.startswith("no\\x00\\x1b[31m xxx")
    assert len(message.encode()) <= LONGEST


def test_what_could_not_be_checked_is_allowed_with_a_warning() -> None:
    response = answered(undecided(Cause.NO_ANSWER, "not checked"))
    assert response["allowed"] is True
    assert response["warnings"] == ["not checked. Freehold decides later: see the condition Ready"]


def test_what_could_not_be_checked_is_denied_in_strict_mode() -> None:
    response = answered(undecided(Cause.NO_ANSWER, "not checked"), strict=True)
    assert response["allowed"] is False
    assert response["status"]["message"].startswith("not checked. This installation denies what can't be checked")


@pytest.mark.parametrize("strict", [False, True])
def test_strict_mode_changes_no_clear_answer(*, strict: bool) -> None:
    assert answered(ALLOWED, strict=strict)["allowed"] is True
    assert answered(denied(Cause.CONFLICT, "no"), strict=strict)["allowed"] is False
