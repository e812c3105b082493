"""Claiming what a request asks for: etcd decides who owns it, and whoever asks second is told of the first."""

from __future__ import annotations

from collections.abc import Iterable

from freehold import conflicts
from freehold.claim_contest import Awaiting, Held, Refused, Undecided, acquire_all
from freehold.claim_store import ClaimStore
from freehold.claims import Holder, new_claim
from freehold.conflicts import Detail
from freehold.identity import Identity
from freehold_webhook import messages
from freehold_webhook.metrics import CLAIMS
from freehold_webhook.review import ALLOWED, Cause, Verdict, denied, undecided


async def claim(
    store: ClaimStore,
    identities: Iterable[Identity],
    account_name: str,
    asker: Holder,
    detail: Detail,
    *,
    dry_run: bool,
) -> Verdict:
    """Have all of several identities, or none.

    Args:
        store: the claims.
        identities: what is asked for, in one account.
        account_name: ORGANIZATION.ACCOUNT, for people.
        asker: who asks.
        detail: what is told of an owner.
        dry_run: read the same, write nothing.
    """
    asked = [new_claim(each, account_name, asker) for each in identities]
    outcome = await acquire_all(store, asked, dry_run=dry_run)
    if not dry_run:
        _count(outcome)
    if isinstance(outcome, Refused):
        return denied(Cause.CONFLICT, conflicts.owned(outcome.claim, asker, detail))
    if isinstance(outcome, Undecided):
        why = conflicts.contested(outcome.claim, asker, detail)
        return undecided(Cause.CONFLICT, messages.not_checked(asker, why))
    awaited = [each.claim for each in outcome if isinstance(each, Awaiting)]
    return ALLOWED.warn(*(conflicts.awaited(each, asker, detail) for each in awaited))


def _count(outcome: tuple[Held | Awaiting, ...] | Refused | Undecided) -> None:
    for each in outcome if isinstance(outcome, tuple) else (outcome,):
        CLAIMS.labels(each.how.value if isinstance(each, Held) else type(each).__name__.lower()).inc()
