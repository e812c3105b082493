"""The claims there are, by what contains their objects and by holder: what lies inside a database or schema, what else
a resource holds, and what is held by nobody."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from freehold.claims import ClaimSpec, Holder
from freehold.identity import Identity
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Object

_Holder = tuple[str, str, str, str]
"""Group, kind, namespace and name."""

_Container = tuple[str, tuple[str, ...]]
"""Account and outermost name; no name for a slot, which lies in nothing."""


class Inventory:
    """A live index of claims. It may be behind by a moment: never the only thing that keeps an object from a DROP."""

    def __init__(self) -> None:
        self._by_container: defaultdict[_Container, dict[str, tuple[Identity, Holder]]] = defaultdict(dict)
        self._by_holder: defaultdict[_Holder, dict[str, bool]] = defaultdict(dict)

    def note(self, before: Object | None, after: Object | None) -> None:
        """Take a change of a claim in."""
        for each in filter(None, (before, after)):
            if found := _read(each):
                identity, spec = found
                container, held = self._by_container[_container(identity)], self._by_holder[spec.holder.key]
                container.pop(each.name, None)
                held.pop(each.name, None)
                if each is after:
                    container[each.name] = identity, spec.holder
                    held[each.name] = spec.telling
                if not held:
                    del self._by_holder[spec.holder.key]
                if not container:
                    del self._by_container[_container(identity)]

    def held_by(self, holder: Holder) -> frozenset[str]:
        """Names of the claims that a resource holds."""
        return frozenset(self._by_holder.get(holder.key, ()))

    @property
    def holders(self) -> Mapping[_Holder, Mapping[str, bool]]:
        """The claims by their holder's group, kind, namespace and name: for each whether it is `telling`."""
        return self._by_holder

    def inside(self, outer: Identity) -> Iterator[tuple[str, Holder]]:
        """(name of the claim, holder) of each object inside a container; nothing for what isn't one."""
        if not outer.is_container:
            return
        for name, (identity, holder) in self._by_container.get(_container(outer), {}).items():
            if outer.holds(identity):
                yield name, holder


def _container(identity: Identity) -> _Container:
    return identity.account, identity.parts[:1]


def _read(stored: Object) -> tuple[Identity, ClaimSpec] | None:
    """A claim of a kind that this release knows."""
    try:
        spec = ClaimSpec.model_validate(stored.spec)
        identity = spec.identity.identity
    except (ValidationError, ValueError):
        return None
    return (identity, spec) if spec.holder.kind in KINDS else None
