"""What an error means for a resource."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest

from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import PASSING, Reason
from freehold.snowflake import errors
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import ConfigurationError, LoginFailed, OutcomeUnknown, SnowflakeError
from freehold_controllers.reconciler.managed import foreign_provider
from freehold_controllers.reconciler.outcome import deletion_stop_for, stop_for, undeletable

REPORTED = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, LoginFailed | ConfigurationError)
]


@pytest.mark.parametrize("error", REPORTED, ids=lambda each: each.__name__)
def test_every_failure_on_the_way_into_an_account_has_its_reason(error: type[LoginFailed | ConfigurationError]) -> None:
    assert stop_for(error("why"), "database").reason == error.reason


@dataclass(frozen=True)
class Meant:
    """What an answer of Snowflake means for a resource.

    Attributes:
        reason: of its conditions.
        again: when it is tried again: soon, later (not at once, but on the same growing delays) or rarely.
        blocks: whether it is the reason why an object isn't dropped, and not merely a delay.
        passing: whether the object is as ready as it was.
    """

    reason: Reason
    again: Literal["soon", "later", "rarely"]
    blocks: bool = False
    passing: bool = False


MEANT = {
    ErrorClass.TERMINAL: Meant(Reason.TERMINAL_ERROR, "rarely", blocks=True),
    ErrorClass.SYNTAX: Meant(Reason.TERMINAL_ERROR, "rarely", blocks=True),
    ErrorClass.UNSUPPORTED: Meant(Reason.TERMINAL_ERROR, "rarely", blocks=True),
    ErrorClass.PERMISSION: Meant(Reason.RECONCILE_ERROR, "soon", blocks=True),
    ErrorClass.MISSING: Meant(Reason.DEPENDENCY_NOT_READY, "soon"),
    ErrorClass.EXISTS: Meant(Reason.RESOURCE_ALREADY_EXISTS, "rarely", blocks=True),
    ErrorClass.CONFLICT: Meant(Reason.RECONCILE_ERROR, "soon", blocks=True),
    ErrorClass.AUTHENTICATION: Meant(Reason.RECONCILE_ERROR, "soon"),
    ErrorClass.SESSION: Meant(Reason.RECONCILE_ERROR, "soon", passing=True),
    ErrorClass.THROTTLED: Meant(Reason.RECONCILE_ERROR, "later", passing=True),
    ErrorClass.TRANSIENT: Meant(Reason.RECONCILE_ERROR, "soon", passing=True),
    ErrorClass.UNKNOWN: Meant(Reason.RECONCILE_ERROR, "later"),
}


def again(stop: Stop) -> Literal["soon", "later", "rarely"]:
    """When the reconciler tries again after a stop."""
    if not (stop.soon or stop.reason in PASSING):
        return "rarely"
    return "later" if stop.slowly else "soon"


@pytest.mark.parametrize("kind", ErrorClass, ids=lambda kind: kind.name)
def test_an_answer_stops_by_its_class(kind: ErrorClass) -> None:
    error = SnowflakeError("text", number=999999, error_class=kind)
    stop, deletion = stop_for(error, 'database "X"'), deletion_stop_for(error, 'database "X"')

    found = Meant(stop.reason, again(stop), deletion.reason is Reason.DELETE_BLOCKED, stop.passing)
    assert found == MEANT[kind]
    assert deletion.reason in (Reason.DELETE_BLOCKED, Reason.DELETING)
    assert again(deletion) == again(stop)
    deletion = undeletable(deletion, read_only=False)
    assert not deletion.passing
    assert stop.message == 'database "X": Snowflake says 999999: text'
    assert deletion.message.startswith('not dropped yet: database "X": Snowflake says 999999: text. To delete')


def test_an_account_that_can_not_be_reached_leaves_objects_as_ready_as_they_were() -> None:
    assert stop_for(errors.Unreachable("no log-in", error_class=ErrorClass.TRANSIENT), "x").passing
    assert not stop_for(errors.CredentialsRefused("refused", number=390100), "x").passing


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
