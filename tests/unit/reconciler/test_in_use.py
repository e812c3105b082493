"""What a log-in needs: held and released in an order in which a death in between is made good by the next process."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Any

import pytest

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.objects import ROLE_BINDINGS, SECRETS, Object
from freehold_controllers.reconciler import finalizer
from freehold_controllers.reconciler.in_use import InUse
from freehold_controllers.reconciler.secret import Secret
from tests.unit.reconciler.world import Api, Died, Fuse

CREDENTIALS = {"credentials": {"secretRef": {"name": "s", "key": "password"}}}
HELD = (("secrets", "n", "s"), ("rolebindings", "n", "freehold-secrets"))


class Namespace:
    """A ProviderConfig with its Secret and RoleBinding, and processes that may die."""

    def __init__(self, fuse: Fuse) -> None:
        self.kube = Api(fuse)
        self.kube.put(
            PROVIDER_CONFIG.path, "p", "n", spec=CREDENTIALS, status={}, metadata={"finalizers": [finalizer.FINALIZER]}
        )
        self.kube.put(SECRETS, "s", "n")
        self.kube.put(ROLE_BINDINGS, "freehold-secrets", "n")

    @property
    def config(self) -> Object | None:
        found = self.kube.objects.get((PROVIDER_CONFIG.path.plural, "n", "p"))
        return Object(found) if found else None

    def finalizers(self) -> list[list[str]]:
        return [self.kube.objects[each]["metadata"].get("finalizers", []) for each in HELD]

    async def hold(self) -> None:
        assert self.config is not None
        head = Object(self.kube.objects[HELD[0]])
        await InUse(self.kube, "m", "freehold").hold(self.config, Secret(head.resource_version, {}, head))

    async def let_go(self) -> None:
        if self.config is not None:
            self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "p"]["metadata"]["deletionTimestamp"] = "now"
            await InUse(self.kube, "m", "freehold").let_go(self.config)


async def survive(work: Any) -> None:
    """Do something by one process after the other, until none has died of it."""
    while True:
        try:
            await work()
        except Died:
            continue
        return


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_at_any_time_leaves_nothing_that_is_held(done: bool) -> None:
    for at in itertools.count(1):
        fuse = Fuse(at, done)
        namespace = Namespace(fuse)
        await survive(namespace.hold)
        assert namespace.finalizers() == [[finalizer.IN_USE], [finalizer.IN_USE]]
        await survive(namespace.let_go)
        assert namespace.finalizers() == [[], []]
        assert namespace.config is None
        if not fuse.blown:
            break
    assert at > 8


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_while_it_is_taken_hold_of_leaves_nothing_that_is_not_known_to_be_held(done: bool) -> None:
    for at in range(1, 5):
        namespace = Namespace(Fuse(at, done))
        with suppress(Died):
            await namespace.hold()
        await survive(namespace.let_go)
        assert namespace.finalizers() == [[], []]


async def test_what_is_held_already_is_not_written_again() -> None:
    namespace = Namespace(Fuse(0, done=False))
    await namespace.hold()
    before = {key: body["metadata"]["resourceVersion"] for key, body in namespace.kube.objects.items()}
    await namespace.hold()
    assert before == {key: body["metadata"]["resourceVersion"] for key, body in namespace.kube.objects.items()}
