"""How a pass ends early: a stop with its reason, and what an error of Snowflake or of the configuration means. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import PASSING, Reason
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import ConfigurationError, LoginFailed, RoleNotGranted, SnowflakeError
from freehold_controllers.reconciler.status import DELETE_BLOCKED


class Stopped(Exception):
    """A pass can't go on.

    Attributes:
        stop: why, as the status is to say it.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


def require(stop: Stop | None) -> None:
    """End a pass where something is in the way.

    Raises:
        Stopped: something is.
    """
    if stop is not None:
        raise Stopped(stop)


_REASONS: Mapping[ErrorClass, Reason] = {
    ErrorClass.TERMINAL: Reason.TERMINAL_ERROR,
    ErrorClass.SYNTAX: Reason.TERMINAL_ERROR,
    ErrorClass.UNSUPPORTED: Reason.TERMINAL_ERROR,
    ErrorClass.MISSING: Reason.DEPENDENCY_NOT_READY,
    ErrorClass.EXISTS: Reason.RESOURCE_ALREADY_EXISTS,
}
"""Reason by class; all other classes may go by themselves."""

_BLOCKING = frozenset(
    {
        *(ErrorClass.TERMINAL, ErrorClass.SYNTAX, ErrorClass.UNSUPPORTED),
        *(ErrorClass.PERMISSION, ErrorClass.EXISTS, ErrorClass.CONFLICT),
    }
)
"""Classes of answers to a DROP that somebody has to do something about."""

_PASSING = frozenset({ErrorClass.SESSION, ErrorClass.THROTTLED, ErrorClass.TRANSIENT})
"""Classes that say nothing of the object: it may be as ready as it was."""

_SLOW = frozenset({ErrorClass.THROTTLED, ErrorClass.UNKNOWN})
"""Classes of which another try at once makes nothing better."""


def stop_for(error: SnowflakeError | ConfigurationError, subject: object, foreign: str | None = None) -> Stop:
    """What an error means for a resource.

    Args:
        error: what happened.
        subject: the object, for people.
        foreign: the ProviderConfig, if it is another namespace's: what is wrong with it in detail, such as its user and
            its Secret, is not for those who read the resource.
    """
    kind, trace = (error.error_class, error.trace) if isinstance(error, SnowflakeError) else (None, "")
    if isinstance(error, LoginFailed | ConfigurationError):
        reason, message = Reason(error.reason), str(error)
        if foreign:
            message, trace = f"ProviderConfig {foreign} can't be used now: ask who runs it", ""
    else:
        reason = _REASONS.get(error.error_class, Reason.RECONCILE_ERROR)
        message = f"{subject}: Snowflake says {error}"
    return Stop(
        reason,
        message,
        passing=kind in _PASSING,
        # A role is granted in Snowflake, of which nothing tells us.
        soon=isinstance(error, RoleNotGranted),
        slowly=kind in _SLOW,
        trace=trace,
    )


def deletion_stop_for(error: SnowflakeError | ConfigurationError, subject: object, foreign: str | None = None) -> Stop:
    """The same for a resource that is being deleted."""
    blocks = isinstance(error, SnowflakeError) and error.error_class in _BLOCKING
    reason = Reason.DELETE_BLOCKED if blocks else Reason.DELETING
    stop = stop_for(error, subject, foreign)
    return replace(stop, reason=reason, soon=stop.soon or stop.reason in PASSING)


def undeletable(stop: Stop, *, read_only: bool) -> Stop:
    """A stop of a deletion, with the way out for who can't wait.

    Args:
        stop: why the object isn't dropped.
        read_only: whether the controllers let nothing go, so that there is none.
    """
    message = f"not dropped yet: {stop.message}"
    if not read_only:
        message = (
            f"{message.removesuffix('.')}. To delete the resource and leave the object behind, set the annotation "
            'freehold.dev/abandon-on-delete: "true"'
        )
    return replace(stop, message=message, passing=False, condition=DELETE_BLOCKED)
