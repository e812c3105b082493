"""The machine: what may happen at any time. A failing run is printed as the calls that make it up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from freehold.kube.objects import Key
from tests.model.account import Account, InProcess
from tests.model.choices import (
    ALONE,
    EVENTS,
    ID,
    PLACES,
    POLICIES,
    TAKEN,
    THIS,
    Then,
    begins,
    deletions,
    fields,
    moments,
    names,
    notes,
    places,
    rarely,
    replacements,
    specs,
    strangers,
    thens,
    troubles,
    ups,
)
from tests.model.end import settle
from tests.model.objects import FAMILIES, Thing
from tests.model.rules import Rules
from tests.model.trouble import Fault, Trouble, What
from tests.model.world import World


class Machine(RuleBasedStateMachine):
    """Users, strangers, faults and restarts.

    Most steps say what the process does right after them, so that what is done meets what has come of the steps before.
    """

    account: Callable[[], Account] = InProcess

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self.world = World(self.account(), self._loop)
        self.law = Rules(self.world)
        self.world.witness = self.law
        self.family: tuple[str, ...] = ()

    def teardown(self) -> None:
        try:
            if self.family:
                settle(self.world, self.law)
        finally:
            self._loop.close()

    @initialize(family=st.sampled_from(FAMILIES), taken=st.sampled_from((None, None, *TAKEN)), spec=specs, then=begins)
    def begin(self, family: tuple[str, ...], taken: str | None, spec: dict[str, Any], then: Then) -> None:
        self.family = family
        for up in range(len(family) - 1, 0, -1):
            self.apply(up, "a", "W", {}, by_name=False, webhook=True, then=True)
        if taken:
            self.world.stranger(taken, self._thing(0, "W"))
        self.apply(0, "a", "W", spec, by_name=False, webhook=True, then=then)

    # --- users

    @rule(up=ups, place=places, name=names, spec=specs, by_name=st.booleans(), webhook=st.booleans(), then=thens)
    def apply(
        self, up: int, place: str, name: str, spec: dict[str, Any], *, by_name: bool, webhook: bool, then: Then
    ) -> None:
        """kubectl apply of a whole manifest, which names what contains its object, or refers to it."""
        key = self._key(up, place)
        parents = self._parents(key.kind, by_name=by_name)
        self.world.users.apply(key, self._manifest(key.kind, {**spec, **parents, "name": name}), webhook=webhook)
        self._go_on(key, then)

    @rule(up=ups, place=places, field=fields, webhook=st.booleans(), then=thens)
    def edit(self, up: int, place: str, field: tuple[str, Any], webhook: bool, then: Then) -> None:
        """kubectl edit of one field."""
        key = self._key(up, place)
        if found := self.world.users.get(key):
            spec = {**found.spec, **found.spec.get("managementPolicies", {}), field[0]: field[1]}
            self.world.users.apply(key, self._manifest(key.kind, spec), webhook=webhook)
        self._go_on(key, then)

    @rule(up=ups, place=places, annotation=notes, then=thens)
    def annotate(self, up: int, place: str, annotation: tuple[str, str | None], then: Then) -> None:
        key, (name, value) = self._key(up, place), annotation
        if value == THIS:
            self.world.users.order(key)
        else:
            self.world.users.annotate(key, name, value)
        self._go_on(key, then)

    @rule(up=ups, place=places, forced=st.booleans(), then=thens)
    def delete(self, up: int, place: str, forced: bool, then: Then) -> None:
        key = self._key(up, place)
        if forced:
            self.world.users.annotate(key, "force-destroy", "true")
        self.world.users.delete(key)
        self._go_on(key, then)

    @rule(up=ups, at=moments, deed=replacements, going=st.booleans(), comment=st.sampled_from(("a", "b", "c")))
    def interrupt(self, up: int, at: int, deed: str, going: bool, comment: str) -> None:
        """A stranger puts something else in an object's place while it is dropped or altered."""
        then = ((at, What.STRANGER.value, deed),)
        if going:
            self.delete(up, "a", forced=True, then=then)
        else:
            self.edit(up, "a", ("comment", comment), webhook=False, then=then)

    @rule(up=st.sampled_from((1, 1, 2)), then=thens)
    def move(self, up: int, then: Then) -> None:
        """What contains objects is left behind, and another one declared in its place: what refers to it means that."""
        key = self._key(up, "a")
        self.world.users.annotate(key, "abandon-on-delete", "true")
        self.world.users.delete(key)
        self._reconcile(key)
        self.apply(up, "a", "V", {}, by_name=False, webhook=False, then=True)
        self._go_on(self._key(0, "a"), then)

    @rule(up=ups, at=moments, comment=st.sampled_from(("a", "b")))
    def forget(self, up: int, at: int, comment: str) -> None:
        """A process dies of sending a field, which has left the spec when the next one looks."""
        self.edit(up, "a", ("comment", comment), webhook=False, then=((at, What.DEATH_AFTER.value, "alters"),))
        self.edit(up, "a", ("comment", None), webhook=False, then=True)

    @rule(
        up=ups,
        namespace=st.sampled_from(("n", "m")),
        deletion=deletions,
        abandon=rarely,
        kind_goes=rarely,
    )
    def configure(self, up: int, namespace: str, deletion: dict[str, Any], abandon: bool, kind_goes: bool) -> None:
        """Change what a ProviderConfig says of deletion, and have a CustomResourceDefinition deleted or applied."""
        self.world.users.provide(namespace, deletion, abandon=abandon)
        self.world.users.define(self._kind(up), deleting=kind_goes)

    # --- others in the account

    @rule(up=ups, place=places, name=names, deed=strangers, then=thens)
    def stranger(self, up: int, place: str, name: str, deed: str, then: Then) -> None:
        self.world.stranger(deed, self._thing(up, name))
        self._go_on(self._key(up, place), then)

    # --- processes

    @rule(up=ups, place=places, then=troubles)
    def reconcile(self, up: int, place: str, then: Then) -> None:
        self._go_on(self._key(up, place), then)

    @rule()
    def reconcile_all(self) -> None:
        self._go_on(self._key(0, "a"), then=True)

    @rule(event=st.sampled_from(EVENTS), read_only=rarely)
    def meanwhile(self, event: str | int, read_only: bool) -> None:
        if isinstance(event, int):
            self.world.pass_time(event)
        elif event == "arrive":
            self.world.arrive()
        elif event == "sweep":
            self.world.sweep()
        else:
            self.world.read_only = read_only
            self.world.restart()

    # --- what is meant

    def _kind(self, up: int) -> str:
        return self.family[max(len(self.family) - 1 - up, 0)]

    def _key(self, up: int, place: str) -> Key:
        return Key(self._kind(up), *PLACES[place])

    def _thing(self, up: int, name: str) -> Thing:
        kind = self._kind(up)
        return Thing(kind, (*("W",) * self.family.index(kind), name))

    def _parents(self, kind: str, *, by_name: bool) -> dict[str, Any]:
        """Fields by which a manifest says what contains its object."""
        namespace, name = PLACES["a"]
        outer = [each.lower() for each in self.family[: self.family.index(kind)]]
        if by_name:
            return {f"{each}Name": "W" for each in outer}
        return {f"{each}Ref": {"namespace": namespace, "name": name} for each in outer}

    def _manifest(self, kind: str, wanted: dict[str, Any]) -> dict[str, Any]:
        wanted = {"columns": [ID], **wanted}
        known = {name: value for name, value in wanted.items() if kind in ALONE.get(name, self.family)}
        known = {name: value for name, value in known.items() if value is not None and name != "managementPolicies"}
        policies = {name: known.pop(name) for name in POLICIES & known.keys()}
        return {**known, **({"managementPolicies": policies} if policies else {})}

    # --- what the process does

    def _go_on(self, key: Key, then: Then) -> None:
        if isinstance(then, tuple):
            interfere = partial(self._interfere, self._name_of(key))
            self._reconcile(key, Trouble(*(Fault(at, What(what), partial(interfere, deed)) for at, what, deed in then)))
        elif then:
            for each in self.world.users.resources:
                self._reconcile(each.key, resync=True)

    def _name_of(self, key: Key) -> Thing:
        found = self.world.users.get(key)
        thing = self.world.users.thing_of(found) if found else None
        return thing or self._thing(len(self.family) - 1 - self.family.index(key.kind), "W")

    def _interfere(self, thing: Thing, deed: str) -> None:
        self.world.stranger(deed, thing)

    def _reconcile(self, key: Key, trouble: Trouble | None = None, *, resync: bool = False) -> None:
        self.law.begin(key)
        self.world.reconcile(key, trouble, resync=resync)
        self.law.ended(key, answered=trouble is None or not trouble.struck)
