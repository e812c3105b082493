"""Preflight: a first CREATE isn't tried where what is to contain the object is certainly not there."""

from __future__ import annotations

from freehold import sql
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.lifecycle.decision import Absence, Stop
from freehold.lifecycle.reasons import Reason
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.sight import Sight

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


async def missing_parent(sight: Sight, spec: SnowflakeSpec) -> Stop | None:
    """Look for the containers of an object that are given by name.

    Args:
        sight: the object.
        spec: what declares it.

    Returns:
        What to do about the first that is proved to be absent. Whether one is absent or invisible is Snowflake's to
        answer.

    Raises:
        SnowflakeError: they can't be looked for, for a cause that the CREATE would meet as well.
    """
    for kind in raw_parents(sight.kind, spec):
        target = kind.target(sight.target.parts[: kind.level.value])
        looks = Sight(sight.snowflake, sight.settings, sight.role, kind, target, sight.tag)
        if await _absent(looks):
            field = f"spec.{kind.name.lower()}"
            return Stop(
                Reason.DEPENDENCY_NOT_READY,
                f"{target} isn't there, so that {sight.target} can't be created: create it, correct {field}Name, "
                f"or declare a {kind.name} and name that in {field}Ref",
            )
    return None


async def missing_sight(sight: Sight) -> Stop | None:
    """Look for the privilege without which the role doesn't see what it creates, and could neither keep nor drop it.

    Returns:
        What to do where the role hasn't got it.
    """
    privilege = sight.kind.shown_with
    if not privilege or await sight.holds_on_account(privilege):
        return None
    return Stop(
        Reason.NOT_VISIBLE,
        f"{sight.target} isn't created, since role {sight.role} wouldn't see it: run GRANT {privilege} ON "
        f"ACCOUNT TO ROLE {sql.identifier(sight.role)}",
        soon=True,
    )


async def _absent(container: Sight) -> bool:
    """Whether a container is certainly not there."""
    try:
        return await container.view_anyway() is Absence.PROVED
    except SnowflakeError as error:
        if error.error_class is not ErrorClass.PERMISSION:
            raise
        # The CREATE may be allowed all the same.
        return False
