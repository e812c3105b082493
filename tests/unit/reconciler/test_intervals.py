"""A ProviderConfig's intervals: its resources come back after the one, and all of an object is read after the other."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from freehold.observation import Depth
from freehold_controllers.reconciler.provider import Intervals
from freehold_controllers.reconciler.reconcile import Reconciler
from freehold_controllers.runtime.work import Done
from tests.unit.reconciler.world import Access, Fuse, World

HOUR = 3600.0


async def settled(intervals: Intervals) -> tuple[World, Reconciler]:
    world = World(Fuse(0, done=False))
    await world.settle()
    process = world.process()
    access = process._services.providers
    assert isinstance(access, Access)
    access.given = intervals
    return world, process


async def test_a_resource_comes_back_at_its_providers_interval() -> None:
    world, process = await settled(Intervals(resync=timedelta(minutes=1)))
    assert await process(world.key) == Done(every=timedelta(minutes=1))


@pytest.mark.parametrize(
    ("deep", "ago", "depth"),
    [
        (None, 5.3 * HOUR, "shallow"),
        (None, 6.7 * HOUR, "deep"),
        (timedelta(hours=1), 0.8 * HOUR, "shallow"),
        (timedelta(hours=1), 1.2 * HOUR, "deep"),
        (timedelta(hours=12), 6.7 * HOUR, "shallow"),
    ],
)
async def test_all_of_an_object_is_read_at_its_providers_interval(
    deep: timedelta | None, ago: float, depth: Depth
) -> None:
    world, process = await settled(Intervals(deep=deep))
    process._deep_at[world.key] = time.monotonic() - ago
    found = await world.kube.get(world.path, world.key.name, world.key.namespace)
    assert process._depth(found) == depth
