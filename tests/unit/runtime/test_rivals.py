"""Releases in one cluster: where the namespaces of two overlap, one works, and the other says why it doesn't."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from freehold.kube.lease import Lease
from freehold.kube.objects import LEASES
from freehold_controllers.runtime.member import Member
from freehold_controllers.runtime.rivals import WATCHED_ANNOTATION, Rivals
from tests.harness.memory import MemoryKube
from tests.unit.kube.script import until

NAME = "freehold-account"
SHORT = timedelta(seconds=0.6)


def leased(namespace: str = "other", watches: str | None = "", **spec: Any) -> MemoryKube:
    """A cluster with the Lease of one other release."""
    kube = MemoryKube()
    annotations = {} if watches is None else {WATCHED_ANNOTATION: watches}
    held = {"holderIdentity": "them", "leaseDurationSeconds": 15, **spec}
    kube.put(LEASES, NAME, namespace, metadata={"annotations": annotations}, spec=held)
    return kube


@pytest.mark.parametrize(
    ("kube", "ours", "where"),
    [
        (leased(watches="a,b"), {"b", "c"}, "works in namespace b:"),
        (leased(watches="a,b"), {"b", "a"}, "works in namespaces a, b:"),
        (leased(watches="a"), set(), "works in the same namespaces:"),
        (leased(watches=""), {"a"}, "works in the same namespaces:"),
        (leased(watches=None), {"a"}, "works in the same namespaces:"),
        (leased(watches=""), set(), "works in the same namespaces:"),
    ],
)
async def test_a_release_whose_namespaces_overlap_is_named(kube: MemoryKube, ours: set[str], where: str) -> None:
    why = await Rivals(kube, "freehold", NAME, ours).find()
    assert why is not None
    assert f"the release in namespace other {where}" in why


@pytest.mark.parametrize(
    ("kube", "ours"),
    [
        (MemoryKube(), set()),
        (leased(watches="a,b"), {"c"}),
        (leased(watches="", holderIdentity=""), set()),
        (leased("freehold"), set()),
    ],
    ids=["nobody", "elsewhere", "given up", "our own"],
)
async def test_whoever_works_elsewhere_or_not_at_all_is_no_rival(kube: MemoryKube, ours: set[str]) -> None:
    assert await Rivals(kube, "freehold", NAME, ours).find() is None


async def test_a_release_that_has_ceased_to_renew_is_no_rival_any_more() -> None:
    kube = leased(leaseDurationSeconds=0)
    rivals = Rivals(kube, "freehold", NAME, set())
    assert await rivals.find()  # seen for the first time
    assert await rivals.find() is None
    kube.put(LEASES, NAME, "other", spec={"holderIdentity": "them", "leaseDurationSeconds": 0})
    assert await rivals.find()


class Jumbled(MemoryKube):
    """Answers come in any order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)  # noqa: S311  # to be repeated, not a secret

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._delayed(found) if name in ("get", "create", "replace") else found

    def _delayed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        async def later(*arguments: Any, **options: Any) -> Any:
            await asyncio.sleep(self._rng.random() / 80)
            answer = await call(*arguments, **options)
            await asyncio.sleep(self._rng.random() / 80)
            return answer

        return later


@pytest.mark.parametrize("seed", range(3))
async def test_of_releases_that_begin_at_once_one_works_and_never_two(seed: int) -> None:
    kube, stop = Jumbled(seed), asyncio.Event()
    active: list[str] = []
    most = 0

    def release(namespace: str) -> Member:
        rivals = Rivals(kube, namespace, NAME, set())
        lease = Lease(kube, namespace, NAME, namespace, SHORT, annotations=lambda _: rivals.annotations)
        return Member(lease, rival=rivals.find)

    async def lead(namespace: str, stop: asyncio.Event) -> None:
        nonlocal most
        active.append(namespace)
        most = max(most, len(active))
        try:
            await stop.wait()
        finally:
            active.remove(namespace)

    members = {namespace: release(namespace) for namespace in ("a", "b", "c")}
    running = [
        asyncio.create_task(member.run(lambda stop, at=namespace: lead(at, stop), stop))  # type: ignore[misc]
        for namespace, member in members.items()
    ]
    await until(lambda: bool(active), 20)
    (winner,) = active
    hindered = [member for namespace, member in members.items() if namespace != winner]
    await until(lambda: all(f"in namespace {winner} works" in (each.hindrance or "") for each in hindered), 20)
    stop.set()
    await asyncio.gather(*running)
    assert most == 1
