"""References of a resource to others: they must be ready, and are replaced by the names that they stand for."""

from __future__ import annotations

from dataclasses import replace

from freehold.kinds.kind import Requested
from freehold.kinds.registry import KINDS
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Object
from freehold.resolve import Get, Unresolved, resolve
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.status import READY, REFERENCES_RESOLVED


async def resolved(managed: Managed, account: str, get: Get) -> Managed:
    """The resource with raw names in place of its references.

    Args:
        managed: the resource.
        account: ORGANIZATION.ACCOUNT that its object lives in.
        get: reads resources.

    Raises:
        Stopped: a resource that it refers to isn't there, isn't ready for its own generation, or lives in another
            account.
    """
    namespace = managed.object.namespace
    names: dict[str, str] = {}
    fields = {each.name: each for each in managed.kind.fields}
    for requested in managed.kind.references(managed.spec, namespace):
        found = await get(KINDS[requested.kind].resource.path, requested.namespace, requested.name)
        _require_usable(requested, found, account)
        raw = fields[requested.field].facts.instead_of
        if found is not None and raw is not None:
            names[raw] = await _name(requested, found, get)
    return replace(managed, spec=managed.spec.model_copy(update=names))


async def _name(requested: Requested, found: Object, get: Get) -> str:
    """The stored name of a resource's object."""
    kind = KINDS[requested.kind]
    outcome = await resolve(kind, found.namespace, kind.spec.model_validate(found.spec), get)
    if isinstance(outcome, Unresolved):
        raise unresolved(str(outcome))
    return outcome.parts[-1]


def _require_usable(requested: Requested, found: Object | None, account: str) -> None:
    what = f"{requested.kind} {requested.namespace}/{requested.name} in spec.{requested.field}"
    if found is None:
        raise unresolved(f"{what} doesn't exist")
    if found.deleting:
        raise unresolved(f"{what} is being deleted")
    ready = next((each for each in conditions_of(found) if each.type == READY), None)
    if ready is None or ready.observed_generation != found.generation:
        raise unresolved(f"{what} isn't reconciled yet")
    if ready.status != "True":
        raise unresolved(f"{what} isn't ready: {ready.reason}")
    if found.status.get("account") != account:
        # A name in another account would be taken for the object of the same name in ours.
        raise unresolved(f"{what} lives in account {found.status.get('account')}, not in {account}")


def unresolved(message: str) -> Stopped:
    """A stop at a reference; the resource is woken when what it refers to changes."""
    return Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, condition=REFERENCES_RESOLVED))
