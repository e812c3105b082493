"""The decision about a utility: what its declaration says of the spec, and who has what it claims."""

from __future__ import annotations

from pydantic import ValidationError

from freehold.claim_store import ClaimStore
from freehold.claims import Holder
from freehold.conflicts import Detail
from freehold.kinds.model import Model
from freehold.kinds.utility.declaration import Utility
from freehold.kube.objects import Object
from freehold_webhook.claiming import claim
from freehold_webhook.review import Cause, Outcome, Verdict, denied


async def decide(
    utility: Utility,
    new: Object,
    old: Object | None,
    asker: Holder,
    store: ClaimStore,
    detail: Detail,
    *,
    dry_run: bool,
) -> Verdict:
    """Decide about a resource of a utility.

    Args:
        utility: its declaration.
        new: the resource as it would be stored.
        old: as it is stored; None when it is created.
        asker: who would hold its claims.
        store: the claims.
        detail: what is told of an owner.
        dry_run: whether nothing may be written.

    Raises:
        pydantic.ValidationError: this release can't read its spec.
        ApiError: the API server doesn't answer.
    """
    spec, before = new.parsed(utility.resource.spec), _readable(utility, old)
    faults = utility.faults(spec)
    if faults and (before is None or faults != utility.faults(before)):
        return denied(Cause.INVALID, "; ".join(faults))
    had = utility.identities(before, asker.namespace) if before else ()
    added = [each for each in utility.identities(spec, asker.namespace) if each not in had]
    verdict = await claim(store, added, "Kubernetes", asker, detail, dry_run=dry_run)
    # What was wrong before is warned of: whoever mends it step by step must not be held up.
    return verdict.warn(*faults, *utility.advice(spec)) if verdict.outcome is Outcome.ALLOWED else verdict


def _readable(utility: Utility, resource: Object | None) -> Model | None:
    try:
        return resource.parsed(utility.resource.spec) if resource else None
    except ValidationError:
        return None
