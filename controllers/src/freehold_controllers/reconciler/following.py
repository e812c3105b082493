"""Who is woken by what: each pass notes what it looked at, and a change of that brings it back. Nothing is polled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from freehold.claim_rules import HAND_OVER_ANNOTATION
from freehold.claims import CLAIM
from freehold.kinds.account.providerconfig import ABANDON_DEPENDENTS, CONFIRMED_UNTIL
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import NAMESPACES, SECRETS, Key, Object
from freehold_controllers.runtime.lines import Priority
from freehold_controllers.runtime.watches import Wake

_ASKED_OF_FOLLOWERS = (HAND_OVER_ANNOTATION, ABANDON_DEPENDENTS, CONFIRMED_UNTIL)
"""Annotations that mean something to others than the object that has them."""


class Following:
    """Keys and the topics that they follow. In memory: a process that becomes active begins with all keys."""

    def __init__(self) -> None:
        self._topics: dict[Key, set[Key]] = {}
        self._followers: defaultdict[Key, set[Key]] = defaultdict(set)
        self._close: set[Key] = set()

    def follow(self, key: Key, topic: Key, *, closely: bool = False) -> None:
        """Have a key woken when a topic changes. To be noted before the topic is read, so that no change is missed.

        Args:
            key: who is woken.
            topic: what is followed.
            closely: whether each change of its status counts, and of all else that the key follows.
        """
        self._topics.setdefault(key, set()).add(topic)
        self._followers[topic].add(key)
        if closely:
            self._close.add(key)

    def followed(self, topic: Key) -> bool:
        """Whether anybody follows a topic."""
        return topic in self._followers

    def forget(self, key: Key) -> None:
        """Let go of all that a key follows: it is gone, or about to look anew."""
        self._close.discard(key)
        for topic in self._topics.pop(key, ()):
            self._followers[topic].discard(key)
            if not self._followers[topic]:
                del self._followers[topic]

    def wakes(self, before: Object | None, after: Object | None) -> Iterable[Wake]:
        """The keys that a change of an object wakes."""
        changed = after or before
        if changed is None:
            return ()
        followers: Collection[Key] = self._followers.get(changed.key, ())
        if before is not None and after is not None and _bearing(before) == _bearing(after):
            followers = self._close.intersection(followers) if before.status != after.status else ()
        author = _holder(after) if before is None and after is not None and after.kind == CLAIM.kind else None
        return tuple((key, Priority.RETRY) for key in followers if key != author)


def _holder(claim: Object) -> Key:
    """The resource that has just made a claim, to which that is no news."""
    holder = claim.spec["holder"]
    return Key(holder["kind"], holder["namespace"], holder["name"])


def _bearing(topic: Object | None) -> object:
    """What of an object bears on those who follow it."""
    if topic is None:
        return None
    if topic.kind == CLAIM.kind:
        return {**topic.spec["holder"], "since": None}
    if topic.kind == NAMESPACES.kind:
        return topic.labels
    if topic.kind == SECRETS.kind:
        return topic.resource_version
    status = topic.status
    ready = [(each.status, each.observed_generation) for each in conditions_of(topic) if each.type == "Ready"]
    known = (status.get("account"), status.get("secretResourceVersion"))
    asked = [topic.annotations.get(each) for each in _ASKED_OF_FOLLOWERS]
    return topic.uid, topic.deleting, topic.generation, asked, ready, known
