"""The machine: what may happen at any time. A failing run is printed as the calls that make it up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from freehold.kube.objects import Key
from tests.model.account import STRANGERS, Account, InProcess
from tests.model.end import settle
from tests.model.rules import Rules
from tests.model.trouble import Trouble, What
from tests.model.world import World

KINDS = ("Warehouse", "Database")
PLACES = {"a": ("n", "a"), "b": ("n", "b"), "c": ("m", "c")}
FIELDS: dict[str, tuple[Any, ...]] = {
    "comment": (None, "a", "b"),
    "transient": (None, True, False),
    "deletionPolicy": (None, "Delete", "Orphan"),
    "vanishedPolicy": (None, "Stop", "Recreate"),
    "paused": (None, True),
    "adoptionPolicy": (None, "adopt"),
    "driftPolicy": (None, "detect-only"),
    "observeOnly": (None, True),
    "createOrAlter": (None, True),
}
POLICIES = frozenset({"adoptionPolicy", "driftPolicy", "observeOnly", "createOrAlter"})
THIS = "the spec as it is"
ANNOTATIONS = {
    "abandon-on-delete": (None, "true"),
    "force-destroy": (None, "true"),
    "reconcile-now": (None, "1", "2"),
    "hand-over-to": (None, "m/c", "n/b"),
    "force-new": (None, THIS),
}

EVENTS: tuple[str | int, ...] = ("arrive", "sweep", "restart", "restart in mode ReadOnly", 1, 60, 100, 3600)
"""What happens by itself: statements under way arrive, idle claims are swept, another process begins, seconds pass."""

places = st.sampled_from(tuple(PLACES))
names = st.sampled_from(("W", "W", "W", "V"))
fields = st.sampled_from([(name, value) for name, values in FIELDS.items() for value in values])
specs = st.lists(fields, max_size=3, unique_by=lambda each: each[0]).map(dict)
deletions = st.sampled_from(({}, {"default": "Orphan"}, {"maxPerHour": 1}))
notes = st.sampled_from([(name, value) for name, values in ANNOTATIONS.items() for value in values])
strangers = st.sampled_from(tuple(STRANGERS))
troubles = st.tuples(
    st.one_of(st.just(0), st.integers(1, 16)), st.sampled_from([each.value for each in What]), strangers
)

Then = bool | tuple[int, str, str]
"""What the process does after a step: nothing, a pass over every resource, or one over the resource at hand in which
something goes wrong: at which of its requests, how, and what a stranger does then if it is that."""

TAKEN = ("creates", "creates in our role")

thens = st.one_of(st.just(False), st.just(True), troubles)


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
        self.kind = ""

    def teardown(self) -> None:
        try:
            if self.kind:
                settle(self.world, self.law)
        finally:
            self._loop.close()

    @initialize(kind=st.sampled_from(KINDS), taken=st.sampled_from((None, None, *TAKEN)), spec=specs, then=thens)
    def begin(self, kind: str, taken: str | None, spec: dict[str, Any], then: Then) -> None:
        self.kind = kind
        if taken:
            self.world.stranger(taken, kind, "W")
        self.apply("a", "W", spec, webhook=True, then=then)

    # --- users

    @rule(place=places, name=names, spec=specs, webhook=st.booleans(), then=thens)
    def apply(self, place: str, name: str, spec: dict[str, Any], webhook: bool, then: Then) -> None:
        """kubectl apply of a whole manifest."""
        self.world.apply(self._key(place), self._manifest({**spec, "name": name}), webhook=webhook)
        self._go_on(place, then)

    @rule(place=places, field=fields, webhook=st.booleans(), then=thens)
    def edit(self, place: str, field: tuple[str, Any], webhook: bool, then: Then) -> None:
        """kubectl edit of one field."""
        if found := self.world.get(self._key(place)):
            spec = {**found.spec, **found.spec.get("managementPolicies", {}), field[0]: field[1]}
            self.world.apply(self._key(place), self._manifest(spec), webhook=webhook)
        self._go_on(place, then)

    @rule(place=places, annotation=notes, then=thens)
    def annotate(self, place: str, annotation: tuple[str, str | None], then: Then) -> None:
        name, value = annotation
        if value == THIS:
            self.world.order(self._key(place))
        else:
            self.world.annotate(self._key(place), name, value)
        self._go_on(place, then)

    @rule(place=places, then=thens)
    def delete(self, place: str, then: Then) -> None:
        self.world.delete(self._key(place))
        self._go_on(place, then)

    @rule(namespace=st.sampled_from(("n", "m")), deletion=deletions, abandon=st.booleans(), kind_goes=st.booleans())
    def configure(self, namespace: str, deletion: dict[str, Any], abandon: bool, kind_goes: bool) -> None:
        """Change what a ProviderConfig says of deletion, and have the CustomResourceDefinition deleted or applied."""
        self.world.provide(namespace, deletion, abandon=abandon)
        self.world.define(self.kind, deleting=kind_goes)

    # --- others in the account

    @rule(place=places, name=names, deed=strangers, then=thens)
    def stranger(self, place: str, name: str, deed: str, then: Then) -> None:
        self.world.stranger(deed, self.kind, name)
        self._go_on(place, then)

    # --- processes

    @rule(place=places, then=troubles)
    def reconcile(self, place: str, then: Then) -> None:
        self._go_on(place, then)

    @rule()
    def reconcile_all(self) -> None:
        self._go_on("a", then=True)

    @rule(event=st.sampled_from(EVENTS))
    def meanwhile(self, event: str | int) -> None:
        if isinstance(event, int):
            self.world.pass_time(event)
        elif event == "arrive":
            self.world.arrive()
        elif event == "sweep":
            self.world.sweep()
        else:
            self.world.read_only = event == "restart in mode ReadOnly"
            self.world.restart()

    def _key(self, place: str) -> Key:
        return Key(self.kind, *PLACES[place])

    def _manifest(self, wanted: dict[str, Any]) -> dict[str, Any]:
        known = {name: value for name, value in wanted.items() if name in FIELDS or name == "name"}
        known = {name: value for name, value in known.items() if value is not None}
        if self.kind != "Database":
            known.pop("transient", None)
        policies = {name: known.pop(name) for name in POLICIES & known.keys()}
        return {**known, **({"managementPolicies": policies} if policies else {})}

    def _go_on(self, place: str, then: Then) -> None:
        if isinstance(then, tuple):
            at, what, deed = then
            self._reconcile(self._key(place), Trouble(at, what=What(what), stranger=partial(self._interfere, deed)))
        elif then:
            for each in self.world.resources:
                self._reconcile(each.key)

    def _interfere(self, deed: str) -> None:
        self.world.stranger(deed, self.kind, "W")

    def _reconcile(self, key: Key, trouble: Trouble | None = None) -> None:
        self.law.begin(key)
        self.world.reconcile(key, trouble)
