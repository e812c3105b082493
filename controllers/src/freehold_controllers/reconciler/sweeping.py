"""Sweeping: claims that bind nobody and tell of no object are removed, slowly; who holds nothing, and what is held by
nobody, is counted. One process does it for the installation."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from prometheus_client import Gauge

from freehold.claim_liveness import sweep
from freehold.claims import CLAIM
from freehold.kinds.resources import DECLARED
from freehold.kube.errors import ApiError
from freehold.kube.objects import Object
from freehold.metrics import REGISTRY
from freehold_controllers.reconciler.inventory import Inventory
from freehold_controllers.reconciler.services import Services

PACE = timedelta(seconds=0.2)
"""Least time between two claims that are looked at, each by a few live reads."""

_UNCLAIMED = Gauge(
    "freehold_unclaimed_resources",
    "Resources that hold no claim, although they ask for an object, by kind.",
    ["kind"],
    registry=REGISTRY,
)
_WITHOUT_HOLDER = Gauge(
    "freehold_claims_without_holder",
    "Claims that stay without their resource, since they tell whose an object is, by kind.",
    ["kind"],
    registry=REGISTRY,
)

_log = logging.getLogger(__name__)


def _everywhere(_namespace: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Census:
    """What the live copies show.

    Attributes:
        unclaimed: resources that hold nothing, by kind.
        without_holder: claims that tell of an object and whose resource isn't there, by kind.
        suspects: names of the claims that tell of no object: these may bind nobody.
    """

    unclaimed: Mapping[str, int]
    without_holder: Mapping[str, int]
    suspects: Sequence[str]


def census(
    inventory: Inventory, resources: Mapping[str, Collection[Object]], covers: Callable[[str], bool] = _everywhere
) -> Census:
    """Count.

    Args:
        inventory: the claims.
        resources: all resources by kind; kinds of which not all are known yet aren't counted.
        covers: whether a namespace is ours to work in; what is in others, and whose claims, doesn't count.
    """
    unclaimed, without_holder = Counter(dict.fromkeys(resources, 0)), Counter(dict.fromkeys(resources, 0))
    holders = {holder: claims for holder, claims in inventory.holders.items() if covers(holder[2])}
    there = set()
    for kind, of_kind in resources.items():
        group = DECLARED[kind].resource.path.group
        for each in filter(lambda resource: covers(resource.namespace), of_kind):
            key = (group, kind, each.namespace, each.name)
            there.add(key)
            unclaimed[kind] += key not in holders and _asks(each)
    for holder, claims in holders.items():
        if holder[1] in resources and holder not in there:
            without_holder[holder[1]] += sum(claims.values())
    suspects = [name for claims in holders.values() for name, telling in claims.items() if not telling]
    return Census(unclaimed, without_holder, suspects)


def _asks(resource: Object) -> bool:
    """Whether a resource should own something."""
    policies: Mapping[str, object] = resource.spec.get("managementPolicies") or {}
    return not resource.deleting and not policies.get("observeOnly")


async def sweeping(
    services: Services, interval: timedelta, covers: Callable[[str], bool] = _everywhere, pace: timedelta = PACE
) -> None:
    """Go round after round, until cancelled.

    Args:
        services: the outside world.
        interval: that a round is spread over.
        covers: whether a namespace is ours to work in.
        pace: least time between two claims; a round of many takes longer.
    """
    try:
        while True:
            await go_round(services, interval, covers, pace)
    finally:
        # Who is not the active one any more must not go on telling what was true then.
        _UNCLAIMED.clear()
        _WITHOUT_HOLDER.clear()


async def go_round(
    services: Services, interval: timedelta, covers: Callable[[str], bool] = _everywhere, pace: timedelta = PACE
) -> None:
    """Count, then look at one suspect after the other. The arguments are those of `sweeping`."""
    reflectors = services.reflectors
    suspects: Sequence[str] = ()
    if reflectors[CLAIM.kind].synced.is_set():
        listed = {kind: reflectors[kind].store.values() for kind in DECLARED if reflectors[kind].synced.is_set()}
        found = census(services.inventory, listed, covers)
        for kind in listed:
            _UNCLAIMED.labels(kind).set(found.unclaimed[kind])
            _WITHOUT_HOLDER.labels(kind).set(found.without_holder[kind])
        suspects = found.suspects
    pause = max(pace, interval / (len(suspects) + 1)).total_seconds()
    for name in suspects:
        await asyncio.sleep(pause)
        await _sweep(services, name)
    await asyncio.sleep(pause)


async def _sweep(services: Services, name: str) -> None:
    try:
        if await sweep(services.store, name):
            _log.info("claim %s bound nobody, and told of no object: it was removed", name)
    except (ApiError, ValueError) as error:
        _log.info("claim %s can't be looked at now: %s", name, error)
