"""References of a resource to others: they must be ready, and are replaced by the names that they stand for."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from freehold.kinds.common import Condition
from freehold.kinds.names import Requested
from freehold.kinds.references import references_of, secrets_of, with_names
from freehold.kinds.registry import KINDS
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Key, Object
from freehold.lifecycle.decision import Stop, listed
from freehold.lifecycle.reasons import LOST, Reason
from freehold.resolve import Get, Unresolved, astray, resolve
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.status import READY, REFERENCES_RESOLVED, Verdict, Verdicts


async def resolved(managed: Managed, account: str, get: Get) -> Managed:
    """The resource with raw names beside its references, one to itself among them.

    Args:
        managed: the resource.
        account: ORGANIZATION.ACCOUNT that its object lives in.
        get: reads resources.

    Raises:
        Stopped: a resource that it refers to isn't there, isn't ready for its own generation, or lives in another
            account or where it can't be meant.
    """
    if stray := await astray(managed.kind, managed.object.namespace, managed.spec, get):
        raise unresolved(stray)
    names: dict[str, tuple[str, ...]] = {}
    for requested in references_of(managed.spec, managed.object.namespace):
        # Of itself a name is all that it takes, and its own readiness would be waited for in vain.
        own = _key(requested) == managed.key
        found = managed.object if own else await _usable(managed.key, requested, account, get)
        names[requested.field] = await _parts(found, get)
    return replace(managed, spec=with_names(managed.spec, names)) if names else managed


def verdicts(managed: Managed) -> Verdicts:
    """What is to be told of references that are resolved; nothing of a resource that has none."""
    here = managed.object.namespace
    referred = [f"{each.kind} {each.namespace}/{each.name}" for each in references_of(managed.spec, here)]
    referred += [f"Secret {here}/{each.name}" for each in secrets_of(managed.spec)]
    if not referred:
        return {}
    named = listed(tuple(dict.fromkeys(referred)))
    return {REFERENCES_RESOLVED: Verdict("True", Reason.AVAILABLE, f"what it refers to is ready: {named}")}


async def _parts(found: Object, get: Get) -> tuple[str, ...]:
    """The stored name parts of a resource's object."""
    kind = KINDS[found.kind]
    outcome = await resolve(kind, found.namespace, kind.spec.model_validate(found.spec), get)
    if isinstance(outcome, Unresolved):
        raise unresolved(str(outcome))
    return outcome.parts


async def _usable(asker: Key, requested: Requested, account: str, get: Get) -> Object:
    found = await _get(requested, get)
    if found is None:
        raise unresolved(f"{requested} doesn't exist")
    if requested.by_name and found.status.get("account") in (None, account):
        return found
    if found.deleting:
        raise unresolved(f"{requested} is being deleted: delete this resource, too, or refer to another one")
    ready = ready_now(found)
    if ready is None or ready.status != "True":
        if circle := await _circle(asker, found, get):
            raise unresolved(
                f"{requested} waits for this resource in turn ({' -> '.join(map(str, circle))}): leave one of these "
                "references out of its manifest until all are ready"
            )
        if ready is None:
            raise unresolved(f"{requested} isn't reconciled yet", passing=True, brief=True)
        # Of those that wait in a row, the first one says what for.
        waits = ready.reason == Reason.DEPENDENCY_NOT_READY
        passing = not waits and ready.reason not in LOST
        raise unresolved(f"{requested} isn't ready: {ready.reason}", passing=passing, brief=waits)
    if found.status.get("account") != account:
        # A name in another account would be taken for the object of the same name in ours.
        raise unresolved(f"{requested} lives in account {found.status.get('account')}, not in {account}")
    return found


async def _circle(asker: Key, first: Object, get: Get) -> tuple[Key, ...]:
    """The resources by which one that isn't ready refers back to the one that waits for it; none when it doesn't."""
    seen = {first.key}
    ways: list[tuple[Object, tuple[Key, ...]]] = [(first, (asker, first.key))]
    while ways:
        found, way = ways.pop()
        for requested in _references_in(found):
            key = _key(requested)
            if key == asker:
                return (*way, key)
            if key not in seen and (further := await _get(requested, get)) is not None:
                seen.add(key)
                ways.append((further, (*way, key)))
    return ()


def _references_in(found: Object) -> tuple[Requested, ...]:
    """The references of a resource that isn't ready; a ready one waits for nobody."""
    ready = ready_now(found)
    if ready is not None and ready.status == "True":
        return ()
    try:
        spec = KINDS[found.kind].spec.model_validate(found.spec)
        return tuple(each for each in references_of(spec, found.namespace) if not each.by_name)
    except ValidationError:
        return ()


def ready_now(found: Object) -> Condition | None:
    """Whether a resource is ready, as far as that was told of its present generation."""
    told = (each for each in conditions_of(found) if each.type == READY)
    return next((each for each in told if each.observed_generation == found.generation), None)


async def _get(requested: Requested, get: Get) -> Object | None:
    return await get(KINDS[requested.kind].resource.path, requested.namespace, requested.name)


def _key(requested: Requested) -> Key:
    return Key(requested.kind, requested.namespace, requested.name)


def unresolved(message: str, *, passing: bool = False, brief: bool = False) -> Stopped:
    """A stop at a reference; the resource is woken when what it refers to changes.

    Args:
        message: what is wrong with it.
        passing: it is there all the same, and tells nothing new of an object that was made with it.
        brief: it is being made ready.
    """
    stop = Stop(Reason.DEPENDENCY_NOT_READY, message, passing=passing, brief=brief, condition=REFERENCES_RESOLVED)
    return Stopped(stop)
