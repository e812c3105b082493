"""Updating an object that is ours: by ALTER, or as a whole where the user wants that and the account can."""

from __future__ import annotations

import re

from freehold import altering, create_or_alter
from freehold.kinds.steps import Step
from freehold.lifecycle import lock_out
from freehold.lifecycle.decision import Stop, Update
from freehold.lifecycle.foresight import as_a_whole
from freehold.observation import Observation
from freehold.snowflake.credentials import KeyPair
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler import standstill
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped, require
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.services import Services

_LACKS = frozenset({ErrorClass.SYNTAX, ErrorClass.UNSUPPORTED})


_STATEMENT = re.compile(r"CREATE OR ALTER|unexpected '(?:OR|ALTER)'", re.IGNORECASE)


def _tells_of_lack(error: SnowflakeError, decided: Update) -> bool:
    """Whether an account has no CREATE OR ALTER. What redefines an object may be refused for what it says of it."""
    return error.error_class in _LACKS and (
        not create_or_alter.redefines(decided.differences) or _STATEMENT.search(error.message) is not None
    )


def lock_out_by(remote: Remote, decided: Update) -> Stop | None:
    """What of an update would shut us out of the account."""
    credential = remote.settings.credential
    fingerprint = credential.fingerprint if isinstance(credential, KeyPair) else None
    return lock_out.by_update(remote.kind, remote.target, decided.differences, remote.user, fingerprint)


async def update(
    services: Services, managed: Managed, remote: Remote, holding: Holding, seen: Observation, decided: Update
) -> None:
    """Send what mends an object.

    Should the object vanish right before a CREATE OR ALTER, this makes another one, which is nobody's: it is neither
    altered nor dropped by us.

    Args:
        services: the outside world.
        managed: the resource.
        remote: its object.
        holding: its claim.
        seen: the object as it was when this was decided.
        decided: what differs.

    Raises:
        Stopped: as `Remote.take_all` has it.
        SnowflakeError: likewise.
    """
    kind, spec = managed.kind, managed.spec
    require(lock_out_by(remote, decided))
    account = holding.spec.identity.account.key
    steps = altering.alter(kind, remote.target, spec, seen, decided.differences)
    whole = as_a_whole(kind, remote.target, spec, seen, decided)
    if whole is not None and (account, kind.object_type) not in services.lacking:
        # One that gets no answer counts from now on.
        services.attempts.begin(holding.uid, "CREATE OR ALTER")
        try:
            with remote.as_owner(seen):
                await remote.take_all((Step(whole),), seen)
        except (Stopped, SnowflakeError) as error:
            known = isinstance(error, Stopped) or error.outcome_known
            if known:
                services.attempts.over(holding.uid, "CREATE OR ALTER")
            if isinstance(error, Stopped) or not _tells_of_lack(error, decided):
                raise
            services.lacking.add((account, kind.object_type))
        else:
            services.attempts.over(holding.uid, "CREATE OR ALTER")
            return
    await holding.suspend(standstill.of(steps))
    with remote.as_owner(seen):
        await remote.take_all(steps, seen)
    # Where a step has failed, the next pass sees to it that all runs again.
    await holding.suspend(())
