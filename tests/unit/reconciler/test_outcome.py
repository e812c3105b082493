"""What an error means for a resource."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from freehold.kube.objects import Object
from freehold.snowflake import errors
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import ConfigurationError, LoginFailed, OutcomeUnknown, SnowflakeError
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.managed import foreign_provider
from freehold_controllers.reconciler.outcome import deletion_stop_for, stop_for
from freehold_controllers.reconciler.reasons import PASSING, Reason

REPORTED = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, LoginFailed | ConfigurationError)
]


@pytest.mark.parametrize("error", REPORTED, ids=lambda each: each.__name__)
def test_every_failure_on_the_way_into_an_account_has_its_reason(error: type[LoginFailed | ConfigurationError]) -> None:
    assert stop_for(error("why"), "database").reason == error.reason


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (1003, Reason.TERMINAL_ERROR),
        (2003, Reason.DEPENDENCY_NOT_READY),
        (3001, Reason.RECONCILE_ERROR),
        (2140, Reason.TERMINAL_ERROR),
        (603, Reason.RECONCILE_ERROR),
        (None, Reason.RECONCILE_ERROR),
    ],
)
def test_an_answer_stops_by_its_class(number: int | None, reason: Reason) -> None:
    stop = stop_for(SnowflakeError("text", number=number), 'database "X"')
    assert stop.reason is reason
    assert stop.message.startswith('database "X": Snowflake says')
    assert "text" in stop.message


@pytest.mark.parametrize(("number", "passing"), [(390112, True), (610, True), (3001, False), (2003, False)])
def test_what_says_nothing_of_the_object_leaves_it_as_ready_as_it_was(number: int, passing: bool) -> None:
    assert stop_for(SnowflakeError("text", number=number), "x").passing is passing


def test_an_account_that_can_not_be_reached_leaves_objects_as_ready_as_they_were() -> None:
    assert stop_for(errors.Unreachable("no log-in", error_class=ErrorClass.TRANSIENT), "x").passing
    assert not stop_for(errors.CredentialsRefused("refused", number=390100), "x").passing


@pytest.mark.parametrize(
    ("number", "reason", "soon"),
    [
        (3001, Reason.DELETE_BLOCKED, True),
        (3101, Reason.DELETE_BLOCKED, True),
        (1003, Reason.DELETE_BLOCKED, False),
        (604, Reason.DELETING, True),
    ],
    ids=["permission", "in use", "terminal", "transient"],
)
def test_an_error_on_deletion_names_the_way_out(number: int, reason: Reason, soon: bool) -> None:
    stop = deletion_stop_for(SnowflakeError("text", number=number), "x")
    assert stop.reason is reason
    assert (stop.soon or stop.reason in PASSING) is soon
    assert "freehold.dev/abandon-on-delete" in stop.message


@pytest.mark.parametrize("error", REPORTED, ids=lambda each: each.__name__)
@pytest.mark.parametrize("stops", [stop_for, deletion_stop_for])
def test_what_is_wrong_with_another_namespaces_provider_is_not_told(
    error: type[LoginFailed | ConfigurationError], stops: Callable[..., Stop]
) -> None:
    stop = stops(error("key private_key.pem of user CARL [5d0c9e1a-0000-4000-8000-0123456789ab]"), "x", "other/default")
    assert "CARL" not in stop.message
    assert "ProviderConfig other/default" in stop.message
    assert not stop.trace


@pytest.mark.parametrize(
    ("reference", "foreign"),
    [
        (None, None),
        ({"name": "p"}, None),
        ({"namespace": "n"}, None),
        ({"namespace": "m"}, "m/default"),
        ({"namespace": "m", "name": "p"}, "m/p"),
    ],
)
def test_a_provider_of_another_namespace_is_foreign(reference: dict[str, str] | None, foreign: str | None) -> None:
    spec = {"providerRef": reference} if reference else {}
    assert foreign_provider(Object({"kind": "X", "metadata": {"namespace": "n"}, "spec": spec})) == foreign


def test_an_unknown_outcome_is_tried_again_soon() -> None:
    assert stop_for(OutcomeUnknown("no answer"), "x").reason in PASSING
