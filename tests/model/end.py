"""What must hold once nothing goes wrong any more: all is as declared, or a condition says rightly why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freehold.claims import ClaimSpec
from freehold.kinds.common import Condition
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Object
from freehold.lifecycle.reasons import Reason
from tests.model.account import OURS
from tests.model.objects import Incarnation, Thing, inside, may, sees_all, there
from tests.model.rules import Rules, annotated, claimed_by, declared_inside, holder_of, policies
from tests.model.world import World

OUR_COMMENTS = ("a", "b", "c")
"""Which no stranger writes."""

ROUNDS = 12
"""After which nothing may change any more."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is about a resource.

    Attributes:
        world: everything.
        resource: the resource.
        thing: what it stands for; None where that lies in what isn't declared any more.
        object_: the object of that name.
        claim: the claim to that name, whoever holds it.
        commented: whether its comment was set last for this resource, which has made it.
    """

    world: World
    resource: Object
    thing: Thing | None
    object_: Incarnation | None
    claim: ClaimSpec | None
    commented: bool

    @property
    def claims(self) -> list[ClaimSpec]:
        return [ClaimSpec.model_validate(each.spec) for each in self.world.users.claims]

    @property
    def mine(self) -> bool:
        return self.claim is not None and holder_of(self.claim) == self.resource.key

    @property
    def proved(self) -> bool:
        """Whether the object is this resource's."""
        evidence = self.claim.evidence if self.claim and self.mine else None
        return evidence is not None and self.object_ is not None and evidence.created_on == self.object_.born

    @property
    def blind(self) -> bool:
        return not sees_all(self.world.account)

    @property
    def foreign(self) -> bool:
        """Whether the object, or one that contains it, belongs to another role."""
        containers = self.thing.containers if self.thing else ()
        found = (self.object_, *(there(self.world.account, each) for each in containers))
        return any(each is not None and each.owner != OURS for each in found)

    @property
    def lacking(self) -> bool:
        """Whether something that it refers to, or that is to contain its object, isn't as it should be."""
        users, containers = self.world.users, self.thing.containers if self.thing else ()
        referred = [users.get(each) for each in users.referred(self.resource)]
        return (
            any(each is None or each.deleting or not _is_ready(each) for each in referred)
            or any(there(self.world.account, each) is None for each in containers)
            or bool(containers and (self.blind or self.foreign))
        )

    @property
    def forbidden(self) -> bool:
        """Whether our role may not make such objects."""
        return (
            self.thing is not None
            and not self.thing.containers
            and not may(self.world.account, f"CREATE {self.thing.type}")
        )

    @property
    def filled(self) -> bool:
        """Whether something would go with the object."""
        thing = self.thing
        return thing is not None and bool(inside(self.world.account, thing) or declared_inside(self.world, thing))

    @property
    def capped(self) -> bool:
        """Whether only so many objects may be dropped in an hour."""
        return "maxPerHour" in (self.world.users.config_of(self.resource.key).spec.get("deletion") or {})

    @property
    def differing(self) -> tuple[str, ...]:
        """Fields that aren't as declared."""
        found, spec = self.object_, self.resource.spec
        if found is None:
            return ()
        seen = {"comment": found.comment, "transient": found.transient}
        differing = [name for name, value in seen.items() if name in spec and spec[name] != value]
        declared = {(each["name"], each["type"]) for each in spec.get("columns", ())}
        left = {name for name, _ in found.columns} & set(spec.get("droppedColumns", ()))
        return (*differing, *(name for name, _ in declared - set(found.columns)), *left)


JUST: Mapping[Reason, Callable[[Scene], bool]] = {
    Reason.CONFLICT_DETECTED: lambda it: it.claim is not None and not it.mine,
    Reason.AWAITING_HAND_OVER: lambda it: it.claim is not None and not it.mine,
    Reason.RESOURCE_ALREADY_EXISTS: lambda it: it.object_ is not None and it.mine and not it.proved,
    Reason.REPLACED: lambda it: it.object_ is not None and it.mine and not it.proved,
    Reason.VANISHED: lambda it: it.mine and not it.proved,
    Reason.NOT_VISIBLE: lambda it: it.foreign or (it.blind and it.object_ is None),
    Reason.DEPENDENCY_NOT_READY: lambda it: it.lacking,
    Reason.OWNED_BY_OTHER: lambda it: it.foreign,
    Reason.OBSERVE_ONLY: lambda it: it.object_ is None or it.foreign,
    Reason.RECONCILE_PAUSED: lambda it: policies(it.resource).paused,
    Reason.IDENTITY_CHANGED: lambda it: any(
        holder_of(each) == it.resource.key and each != it.claim for each in it.claims
    ),
    Reason.IMMUTABLE_FIELD: lambda it: "transient" in it.differing,
    Reason.DESTRUCTIVE_CHANGE: lambda it: bool(it.differing),
    Reason.RECONCILE_ERROR: lambda it: it.foreign or it.forbidden,
    Reason.DELETE_BLOCKED: lambda it: (
        policies(it.resource).paused
        or annotated(it.resource, "hand-over-to") is not None
        or it.foreign
        or it.blind
        or it.filled
        or it.capped
    ),
}
"""When a reason for not being Ready is true."""


def settle(world: World, rules: Rules) -> None:
    """Let all faults be over, and time pass, until nothing changes any more."""
    world.arrive()
    world.read_only = False
    world.restart()
    calm = 0
    for _ in range(ROUNDS):
        before = _state(world)
        for each in world.users.resources:
            rules.begin(each.key)
            world.reconcile(each.key)
            rules.ended(each.key, answered=True)
        world.sweep()
        after = _state(world)
        # Once may be for what is waited for.
        calm = calm + 1 if after == before else 0
        if calm > 1:
            break
        world.pass_time(100)
    assert calm > 1, f"it never comes to rest: {before} and {after}"
    for each in world.users.resources:
        _judge(world, rules, each)


def _state(world: World) -> dict[str, dict[Any, Any]]:
    """All that stands still at the end. Whoever may not create an object tries again and again, and counts that."""
    versions = {place: body["metadata"]["resourceVersion"] for place, body in world.kube.objects.items()}
    claims = {("claims", "", each.name): _but_for_attempts(each.spec) for each in world.users.claims}
    things = [thing for each in world.users.resources if (thing := world.users.thing_of(each))]
    return {"stored": {**versions, **claims}, "objects": {each: there(world.account, each) for each in things}}


def _but_for_attempts(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in spec.items() if name != "mark"}


def _judge(world: World, rules: Rules, resource: Object) -> None:
    scene = _scene(world, rules, resource)
    ready = _ready(resource)
    assert ready is not None, f"nothing is told of {resource.key}"
    paused = policies(resource).paused
    assert paused or ready.observed_generation == resource.generation, f"{resource.key} is not up to date: {ready}"
    if ready.status == "True":
        faults = list(_untrue(scene)) if not paused else []
        assert not faults, f"{resource.key} is Ready, but {faults}: {scene}"
    else:
        just = JUST.get(Reason(ready.reason))
        assert just is not None, f"{resource.key} ends as {ready}"
        assert just(scene), f"{resource.key} says {ready}, but that isn't so: {scene}"


def _scene(world: World, rules: Rules, resource: Object) -> Scene:
    thing = _meant(world, resource)
    claim = world.users.claim_of(thing) if thing else None
    spec = ClaimSpec.model_validate(claim.spec) if claim else None
    object_ = there(world.account, thing) if thing else None
    commented = object_ is not None and {resource.key} == {
        each.get(object_.born) for each in (rules.makers, rules.commented)
    }
    return Scene(world, resource, thing, object_, spec, commented)


def _meant(world: World, resource: Object) -> Thing | None:
    """What the conditions speak of: while a resource goes, or something that it refers to isn't ready, what it owns so
    far, whatever its names come to by now."""
    told = {each.type: each.reason for each in conditions_of(resource)}
    claims = (ClaimSpec.model_validate(each.spec) for each in world.users.claims)
    owned = next((claimed_by(each) for each in claims if holder_of(each) == resource.key), None)
    if owned and (resource.deleting or told.get("Synced") == Reason.DEPENDENCY_NOT_READY):
        return owned
    return world.users.thing_of(resource)


def _ready(resource: Object) -> Condition | None:
    return next((each for each in conditions_of(resource) if each.type == "Ready"), None)


def _is_ready(resource: Object) -> bool:
    ready = _ready(resource)
    return ready is not None and ready.status == "True" and ready.observed_generation == resource.generation


def _untrue(scene: Scene) -> Iterator[str]:
    if scene.object_ is None:
        yield "there is no such object"
    if scene.resource.deleting:
        yield "it is being deleted"
    if policies(scene.resource).management_policies.observe_only:
        return
    if not scene.proved:
        yield "nothing proves that its object is its own"
    if scene.claim and scene.claim.unsettled:
        yield "something is under way"
    drifted = any(each.type == "DriftDetected" and each.status == "True" for each in conditions_of(scene.resource))
    if scene.differing and not drifted:
        yield f"{scene.differing} differ"
    found = scene.object_
    if found and scene.commented and found.comment in OUR_COMMENTS and "comment" not in scene.resource.spec:
        yield "its comment was sent, and left behind"
