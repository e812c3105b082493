"""References of a resource to others: they must be ready, and are replaced by the names that they stand for."""

from __future__ import annotations

from dataclasses import replace

from freehold.kinds.kind import Requested
from freehold.kinds.references import references_of, with_names
from freehold.kinds.registry import KINDS
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Key, Object
from freehold.resolve import Get, Unresolved, resolve
from freehold_controllers.reconciler.decision import Stop, listed
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.status import READY, REFERENCES_RESOLVED, Verdict, Verdicts


async def resolved(managed: Managed, account: str, get: Get) -> Managed:
    """The resource with raw names beside its references, one to itself among them.

    Args:
        managed: the resource.
        account: ORGANIZATION.ACCOUNT that its object lives in.
        get: reads resources.

    Raises:
        Stopped: a resource that it refers to isn't there, isn't ready for its own generation, or lives in another
            account.
    """
    names: dict[str, tuple[str, ...]] = {}
    for requested in references_of(managed.spec, managed.object.namespace):
        if Key(requested.kind, requested.namespace, requested.name) == managed.key:
            # A name is all that it takes, and its own readiness would be waited for in vain.
            found = managed.object
        else:
            path = KINDS[requested.kind].resource.path
            found = _usable(requested, await get(path, requested.namespace, requested.name), account)
        names[requested.field] = await _parts(found, get)
    return replace(managed, spec=with_names(managed.spec, names)) if names else managed


def verdicts(managed: Managed) -> Verdicts:
    """What is to be told of references that are resolved; nothing of a resource that has none."""
    referred = references_of(managed.spec, managed.object.namespace)
    if not referred:
        return {}
    named = listed(tuple(dict.fromkeys(f"{each.kind} {each.namespace}/{each.name}" for each in referred)))
    return {REFERENCES_RESOLVED: Verdict("True", Reason.AVAILABLE, f"what it refers to is ready: {named}")}


async def _parts(found: Object, get: Get) -> tuple[str, ...]:
    """The stored name parts of a resource's object."""
    kind = KINDS[found.kind]
    outcome = await resolve(kind, found.namespace, kind.spec.model_validate(found.spec), get)
    if isinstance(outcome, Unresolved):
        raise unresolved(str(outcome))
    return outcome.parts


def _usable(requested: Requested, found: Object | None, account: str) -> Object:
    if found is None:
        raise unresolved(f"{requested} doesn't exist")
    if found.deleting:
        raise unresolved(f"{requested} is being deleted: delete this resource, too, or refer to another one")
    ready = next((each for each in conditions_of(found) if each.type == READY), None)
    if ready is None or ready.observed_generation != found.generation:
        raise unresolved(f"{requested} isn't reconciled yet", passing=True)
    if ready.status != "True":
        raise unresolved(f"{requested} isn't ready: {ready.reason}", passing=True)
    if found.status.get("account") != account:
        # A name in another account would be taken for the object of the same name in ours.
        raise unresolved(f"{requested} lives in account {found.status.get('account')}, not in {account}")
    return found


def unresolved(message: str, *, passing: bool = False) -> Stopped:
    """A stop at a reference; the resource is woken when what it refers to changes.

    Args:
        message: what is wrong with it.
        passing: it is there all the same, and tells nothing new of an object that was made with it.
    """
    return Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, passing=passing, condition=REFERENCES_RESOLVED))
