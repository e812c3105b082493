"""What must hold at every moment: of each statement, of each write of a claim, and when a resource is let go."""

from __future__ import annotations

import re
from datetime import datetime

from freehold.claims import ClaimSpec
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Key, Object
from tests.model.account import OURS
from tests.model.objects import Thing, inside, there
from tests.model.statements import READS, Deed, Late, Witness
from tests.model.users import PREFIX
from tests.model.world import World


def annotated(resource: Object, name: str) -> str | None:
    return resource.annotations.get(PREFIX + name)


def policies(resource: Object) -> SnowflakeSpec:
    """What a resource says of how far Freehold may go."""
    return SnowflakeSpec.model_validate({k: v for k, v in resource.spec.items() if k in _COMMON})


_COMMON = frozenset(field.alias or name for name, field in SnowflakeSpec.model_fields.items())


def holder_of(claim: ClaimSpec) -> Key:
    return Key(claim.holder.kind, claim.holder.namespace, claim.holder.name)


def claimed_by(claim: ClaimSpec) -> Thing:
    """The object of a claim."""
    return Thing(claim.holder.kind, claim.identity.identity.parts)


def declared_inside(world: World, thing: Thing) -> list[str]:
    """The claims of resources that are there to what lies in an object."""
    claims = [ClaimSpec.model_validate(each.spec) for each in world.users.claims]
    found = [each for each in claims if thing.holds(claimed_by(each)) and world.users.get(holder_of(each))]
    return [each.identity.fqn for each in found]


def left_on_purpose(world: World, resource: Object, claim: ClaimSpec) -> bool:
    """Whether the user wants the object to stay when its resource goes."""
    spec, config = policies(resource), world.users.config_of(resource.key)
    orphaned = (config.spec.get("deletion") or {}).get("default") == "Orphan"
    adopted = claim.evidence is not None and claim.evidence.how == "adopted"
    return (
        annotated(resource, "abandon-on-delete") == "true"
        or config.annotations.get(f"{PREFIX}abandon-dependents") == "true"
        or spec.deletion_policy == "Orphan"
        or (spec.deletion_policy is None and orphaned)
        or spec.management_policies.observe_only
        or (spec.deletion_policy is None and adopted and KINDS[resource.kind].holds_data)
    )


class Rules(Witness):
    """The invariants.

    Attributes:
        makers: the resource for which an object was made by us, by the object's created_on.
        commented: the resource for which its comment was set last, likewise.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.makers: dict[datetime, Key] = {}
        self.commented: dict[datetime, Key] = {}
        self._forsaken: set[Thing] = set()
        self._working_on: Object | None = None
        self._content: frozenset[str] = frozenset()
        self._absent = False
        self._unknown: frozenset[str] = frozenset()
        self._refused: set[str] = set()

    def begin(self, key: Key) -> None:
        """A pass over a resource begins."""
        self._working_on = found = self._world.users.get(key)
        thing = self._world.users.thing_of(found) if found else None
        self._content = inside(self._world.account, thing) if thing else frozenset()
        self._absent = False
        self._unknown = self._unknown_to(key)
        self._refused.clear()

    def ended(self, key: Key, *, answered: bool) -> None:
        """It ends.

        Args:
            key: the resource.
            answered: whether each request of it was answered as it should be.
        """
        new = self._unknown_to(key) - self._unknown
        assert not (answered and new & self._refused), f"{key} doesn't know what has come of a CREATE that was refused"

    def _unknown_to(self, key: Key) -> frozenset[str]:
        """The objects that a resource's CREATEs may have made, for all that it knows."""
        claims = [ClaimSpec.model_validate(each.spec) for each in self._world.users.claims]
        mine = [each for each in claims if holder_of(each) == key and each.mark and each.mark.since]
        return frozenset(each.identity.fqn for each in mine)

    # --- statements

    def asked(self, text: str) -> None:
        found = self._working_on
        assert found is not None, f"nobody asked for {text}"
        reads, spec = text.startswith(READS), policies(found)
        if found.deleting:
            thing = self._world.users.thing_of(found)
            self._absent |= thing is None or there(self._world.account, thing) is None
            assert annotated(found, "abandon-on-delete") != "true", f"abandoned, and yet {text}"
            assert reads or not self._world.users.terminates(found.kind), f"its kind goes, and yet {text}"
        else:
            assert not spec.paused, f"paused, and yet {text}"
        assert reads or not (spec.paused or spec.management_policies.observe_only), f"only to look, and yet {text}"
        assert reads or not self._world.read_only, f"in mode ReadOnly {text}"

    def statement(self, deed: Deed) -> None:
        assert not self._under_way("DROP", deed.thing), f"{deed} before a lost DROP is over"
        claim = self._claim(deed.thing)
        assert claim is not None, f"no claim for {deed}"
        assert holder_of(claim) == deed.sender, f"{deed} although {claim.holder} holds the claim"
        object_ = there(self._world.account, deed.thing)
        proved = claim.evidence.created_on if claim.evidence else None
        if object_ is not None and "COMMENT =" in deed.text:
            self.commented[object_.born] = deed.sender
        if deed.verb == "CREATE":
            others = self._owned(deed.sender) - {deed.thing}
            assert not others, f"{deed}, and yet its resource owns {others}"
            altering = deed.text.startswith("CREATE OR ALTER")
            assert altering or re.match(rf"CREATE (TRANSIENT )?{deed.thing.type} \"", deed.text), deed
            assert altering or (claim.mark and claim.mark.since), f"{deed} without a mark"
            if not altering:
                self._refused.add(claim.identity.fqn)
                return
        if object_ is not None:
            assert object_.born == proved, f"{deed} would hit what isn't proved to be ours"
        if deed.verb == "DROP":
            meant = claim.intent and claim.intent.created_on
            assert meant == proved, f"{deed} without an intent"
            self._may_go(deed)
        for column in re.findall(r'DROP COLUMN "(\w+)"', deed.text):
            assert self._working_on is not None
            assert column in self._working_on.spec.get("droppedColumns", ()), f"{deed} was asked for by nobody"

    def _may_go(self, deed: Deed) -> None:
        """Nobody misses what goes with an object."""
        declared = declared_inside(self._world, deed.thing)
        assert not declared, f"{deed} takes along what others have declared: {declared}"
        assert self._working_on is not None
        forced = annotated(self._working_on, "force-destroy") == "true" and deed.thing.kind != "AccountRole"
        # What comes while we work can't be kept apart from the DROP.
        lost = () if forced else self._content & inside(self._world.account, deed.thing)
        assert not lost, f"{deed} takes along {lost}"

    def created(self, deed: Deed) -> None:
        object_ = there(self._world.account, deed.thing)
        assert object_ is not None
        self._refused.discard(deed.thing.identity.fqn)
        self.makers.setdefault(object_.born, deed.sender)
        if "COMMENT =" in deed.text:
            self.commented[object_.born] = deed.sender

    def arrives(self, late: Late) -> None:
        deed, account = late.deed, self._world.account
        now = there(account, deed.thing)
        if deed.verb == "DROP" and now and now != late.meant:
            assert now.born not in self.makers or (late.meant and now.born == late.meant.born), f"late {deed}: {now}"
        arrives = now is None and all(there(account, each) for each in deed.thing.containers)
        if deed.verb == "CREATE" and arrives and deed.thing not in self._forsaken:
            claim = self._claim(deed.thing)
            assert claim is not None, f"nobody would know of what a late {deed} makes"
            assert claim.mark, f"nobody would take what a late {deed} makes for ours"
            assert claim.mark.since or claim.evidence, f"nobody would take what a late {deed} makes for ours"

    # --- claims

    def claim(self, before: Object | None, after: Object | None) -> None:
        was = ClaimSpec.model_validate(before.spec) if before else None
        now = ClaimSpec.model_validate(after.spec) if after else None
        if was and now and was.holder.key != now.holder.key:
            self._changes_hands(was, now)
        elif now and now.evidence and (was is None or was.evidence != now.evidence):
            self._proved(was, now)
        elif was and now is None:
            self._given_up(was)

    def _changes_hands(self, was: ClaimSpec, now: ClaimSpec) -> None:
        holder = self._world.users.get(holder_of(was))
        if holder is None or not was.telling:
            assert not now.telling, f"{now.holder} has taken what is known of {was.holder}'s object"
            return
        assert annotated(holder, "hand-over-to") == now.holder.owner, f"{was.holder} has lost its claim to {now.holder}"
        assert now.evidence == was.evidence, f"{now.holder} isn't told how its object came to be ours"

    def _proved(self, was: ClaimSpec | None, now: ClaimSpec) -> None:
        evidence, key = now.evidence, holder_of(now)
        assert evidence is not None
        object_ = there(self._world.account, claimed_by(now))
        resource = self._world.users.get(key)
        if evidence.how == "adopted":
            assert resource is not None
            wanted = policies(resource).management_policies.adoption_policy == "adopt"
            assert wanted, f"{key} has adopted what it was told to leave alone"
            return
        unknown = was is not None and was.mark is not None and was.mark.since
        owned = object_ is None or object_.born != evidence.created_on or object_.owner == OURS
        by_mark = bool(unknown and evidence.created_on >= unknown and owned)
        assert self.makers.get(evidence.created_on) == key or by_mark, f"{key} says that it made what it didn't"

    def _given_up(self, was: ClaimSpec) -> None:
        key, thing = holder_of(was), claimed_by(was)
        resource = self._world.users.get(key)
        wanted = resource is not None and left_on_purpose(self._world, resource, was)
        if wanted:
            self._forsaken.add(thing)
            return
        self._forsaken.discard(thing)
        if was.mark and was.mark.since:
            assert not self._under_way("CREATE", thing), f"{key} has let go of what is about to be its own"
        object_ = there(self._world.account, thing)
        # What a stranger has brought back since we looked can't be kept apart from that either.
        if object_ and was.evidence and not self._absent:
            assert object_.born != was.evidence.created_on, f"{key} has let go of what is its own"
        if object_ and was.mark and was.mark.since and self.makers.get(object_.born) == key:
            assert object_.owner != OURS, f"{key} has let go of what its lost CREATE has made"

    # --- resources

    def released(self, resource: Object) -> None:
        # Whoever comes after it under its name has sent nothing yet.
        self.commented = {born: key for born, key in self.commented.items() if key != resource.key}
        if self._world.users.terminates(resource.kind):
            return
        for each in self._world.users.claims:
            claim = ClaimSpec.model_validate(each.spec)
            assert holder_of(claim) != resource.key or not claim.telling, f"{resource.key} went before {each.spec}"

    def _under_way(self, verb: str, thing: Thing) -> bool:
        return any((each.deed.verb, each.deed.thing) == (verb, thing) for each in self._world.late)

    def _owned(self, key: Key) -> set[Thing]:
        """What may be a resource's by its claims."""
        claims = [ClaimSpec.model_validate(each.spec) for each in self._world.users.claims]
        return {claimed_by(each) for each in claims if holder_of(each) == key and each.telling}

    def _claim(self, thing: Thing) -> ClaimSpec | None:
        found = self._world.users.claim_of(thing)
        return ClaimSpec.model_validate(found.spec) if found else None
