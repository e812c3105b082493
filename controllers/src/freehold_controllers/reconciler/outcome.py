"""How a pass ends early: a stop with its reason, and what an error of Snowflake or of the configuration means. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from freehold.snowflake.errors import ConfigurationError, ErrorClass, LoginFailed, RoleNotGranted, SnowflakeError
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.reasons import Reason


class Stopped(Exception):
    """A pass can't go on.

    Attributes:
        stop: why, as the status is to say it.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


_REASONS: Mapping[ErrorClass, Reason] = {
    ErrorClass.TERMINAL: Reason.TERMINAL_ERROR,
    ErrorClass.SYNTAX: Reason.TERMINAL_ERROR,
    ErrorClass.UNSUPPORTED: Reason.TERMINAL_ERROR,
    ErrorClass.MISSING: Reason.DEPENDENCY_NOT_READY,
}
"""Reason by class; all other classes may go by themselves."""

_BLOCKING = frozenset(
    {ErrorClass.TERMINAL, ErrorClass.SYNTAX, ErrorClass.UNSUPPORTED, ErrorClass.PERMISSION, ErrorClass.CONFLICT}
)
"""Classes of answers to a DROP that somebody has to do something about."""

_PASSING = frozenset({ErrorClass.SESSION, ErrorClass.THROTTLED, ErrorClass.TRANSIENT})
"""Classes that say nothing of the object: it may be as ready as it was."""


def stop_for(error: SnowflakeError | ConfigurationError, subject: object) -> Stop:
    """What an error means for a resource.

    Args:
        error: what happened.
        subject: the object, for people.
    """
    if isinstance(error, LoginFailed | ConfigurationError):
        # A role is granted in Snowflake, of which nothing tells us.
        passing = isinstance(error, SnowflakeError) and error.error_class in _PASSING
        return Stop(Reason(error.reason), str(error), passing=passing, soon=isinstance(error, RoleNotGranted))
    reason = _REASONS.get(error.error_class, Reason.RECONCILE_ERROR)
    return Stop(reason, f"{subject}: Snowflake says {error}", passing=error.error_class in _PASSING)


def deletion_stop_for(error: SnowflakeError | ConfigurationError, subject: object) -> Stop:
    """The same for a resource that is being deleted.

    Args:
        error: what happened.
        subject: the object, for people.
    """
    blocks = isinstance(error, SnowflakeError) and error.error_class in _BLOCKING
    return undeletable(Stop(Reason.DELETE_BLOCKED if blocks else Reason.DELETING, stop_for(error, subject).message))


def undeletable(stop: Stop) -> Stop:
    """A stop with the way out for who can't wait."""
    way_out = (
        'To delete the resource and leave the object behind, set the annotation freehold.dev/abandon-on-delete: "true"'
    )
    return Stop(stop.reason, f"not dropped yet: {stop.message}. {way_out}")
