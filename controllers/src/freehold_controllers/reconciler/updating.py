"""Updating an object that is ours: by ALTER, or as a whole where the user wants that and the account can."""

from __future__ import annotations

from freehold import create_or_alter, planning
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind, Step
from freehold.kinds.property import Target
from freehold.observation import Observation
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.sql import Sql
from freehold_controllers.reconciler.decision import Update
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.remote import Remote

Lacking = set[tuple[str, str]]
"""Accounts and object types that have no CREATE OR ALTER, as they have answered. Asked once more by each process."""

_LACKS = frozenset({ErrorClass.SYNTAX, ErrorClass.UNSUPPORTED})


def as_a_whole(kind: Kind, target: Target, spec: SnowflakeSpec, seen: Observation, decided: Update) -> Sql | None:
    """The CREATE OR ALTER that the user wants in place of ALTER; None where it isn't wanted, or would say more than was
    decided, such as drift that is only to be told. Pure."""
    if not (spec.management_policies.create_or_alter and decided.whole):
        return None
    return create_or_alter.statement(kind, target, spec, seen, decided.differences)


async def update(
    managed: Managed, remote: Remote, account: str, seen: Observation, decided: Update, lacking: Lacking
) -> None:
    """Send what mends an object.

    Should the object vanish right before a CREATE OR ALTER, this makes another one, which is nobody's: it is neither
    altered nor dropped by us.

    Args:
        managed: the resource.
        remote: its object.
        account: key of the account.
        seen: the object as it was when this was decided.
        decided: what differs.
        lacking: what is known of accounts; added to.

    Raises:
        Stopped: as `Remote.take_all` has it.
        SnowflakeError: likewise.
    """
    kind, spec = managed.kind, managed.spec
    steps = planning.alter(kind, remote.target, spec, seen, decided.differences)
    whole = as_a_whole(kind, remote.target, spec, seen, decided)
    if whole is not None and (account, kind.object_type) not in lacking:
        try:
            await remote.take_all((Step(whole),), seen.created_on)
        except SnowflakeError as error:
            if error.error_class not in _LACKS:
                raise
            lacking.add((account, kind.object_type))
        else:
            return
    await remote.take_all(steps, seen.created_on)
