"""What is suspended while an object is changed, and runs again afterwards whatever comes of the change: the claim names
it before it stands still."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from freehold.identifiers import split
from freehold.kinds.steps import Step
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.remote import Remote

_log = logging.getLogger(__name__)


def of(steps: Iterable[Step]) -> tuple[str, ...]:
    """Quoted names of what the steps suspend meanwhile, in the order in which it is resumed."""
    return tuple(step.resumes.name.text for step in steps if step.resumes)


async def end(remote: Remote, holding: Holding) -> None:
    """Let run what an earlier pass has left suspended, because it died or was refused.

    Args:
        remote: the object that was changed.
        holding: its claim.

    Raises:
        SnowflakeError: something can't be resumed; the claim still names it.
    """
    if not holding.spec.suspended or remote.kind.resume is None:
        return
    for name in holding.spec.suspended:
        try:
            await remote.send(remote.kind.resume(remote.kind.target(split(name))))
        except SnowflakeError as error:
            if error.error_class is not ErrorClass.MISSING:
                raise
            # Whoever dropped it in the meantime doesn't want it to run.
            _log.warning("%s was not resumed: %s", name, error)
    await holding.suspend(())
