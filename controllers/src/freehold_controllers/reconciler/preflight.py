"""Preflight: a first CREATE isn't tried where what is to contain the object is certainly not there."""

from __future__ import annotations

from dataclasses import replace

from freehold import sql
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler.decision import Absence, Stop
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.remote import Remote

_CONTAINERS = ("Database", "Schema")
"""Kinds of containers, outermost first."""


def raw_parents(kind: Kind, spec: SnowflakeSpec) -> tuple[Kind, ...]:
    """The kinds of the containers that a spec gives by name, outermost first.

    What is given by reference, and what contains that, is known to be there: the resource referred to is ready.
    """
    raw = []
    for name in reversed(_CONTAINERS[: kind.level.value - 1]):
        if getattr(spec, f"{name.lower()}_ref", None) is not None:
            break
        raw.append(KINDS[name])
    return tuple(reversed(raw))


async def require_parents(remote: Remote, spec: SnowflakeSpec) -> None:
    """Look for the containers of an object that are given by name.

    Args:
        remote: the object.
        spec: what declares it.

    Raises:
        Stopped: one is proved to be absent. Whether one is absent or invisible is Snowflake's to answer.
        SnowflakeError: they can't be looked for, for a cause that the CREATE would meet as well.
    """
    for kind in raw_parents(remote.kind, spec):
        target = kind.target(remote.target.parts[: kind.level.value])
        if await _absent(replace(remote, kind=kind, target=target, details=frozenset())):
            field = f"spec.{kind.name.lower()}"
            raise Stopped(
                Stop(
                    Reason.DEPENDENCY_NOT_READY,
                    f"{target} isn't there, so that {remote.target} can't be created: create it, correct {field}Name, "
                    f"or declare a {kind.name} and name that in {field}Ref",
                )
            )


async def require_sight(remote: Remote) -> None:
    """Look for the privilege without which the role doesn't see what it creates, and could neither keep nor drop it.

    Raises:
        Stopped: the role hasn't got it.
    """
    privilege = remote.kind.shown_with
    if privilege and not await remote.holds_on_account(privilege):
        raise Stopped(
            Stop(
                Reason.NOT_VISIBLE,
                f"{remote.target} isn't created, since role {remote.role} wouldn't see it: run GRANT {privilege} ON "
                f"ACCOUNT TO ROLE {sql.identifier(remote.role)}",
                soon=True,
            )
        )


async def _absent(container: Remote) -> bool:
    """Whether a container is certainly not there."""
    try:
        return await container.view_anyway() is Absence.PROVED
    except SnowflakeError as error:
        if error.error_class is not ErrorClass.PERMISSION:
            raise
        # The CREATE may be allowed all the same.
        return False
