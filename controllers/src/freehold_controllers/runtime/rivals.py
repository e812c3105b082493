"""Other releases in the cluster: no two may work in one namespace, or two controllers would work on one object.

Every release has a Lease of the same name in its own namespace, annotated with the namespaces that it works in. Whoever
has taken its Lease looks for others that are held and overlap, and gives it back where there is one. As each takes
before it looks, no two find themselves alone.
"""

from __future__ import annotations

from collections.abc import Collection

from freehold.kube.client import Kube
from freehold.kube.lease import Sightings
from freehold.kube.objects import LEASES, Object

WATCHED_ANNOTATION = "freehold.dev/watch-namespaces"
"""Annotation of a Lease: namespaces that its holder works in, joined by commas; empty for all."""


class Rivals:
    """Those who may work where we want to."""

    def __init__(self, kube: Kube, namespace: str, name: str, works_in: Collection[str]) -> None:
        """
        Args:
            kube: client.
            namespace: of our Lease.
            name: of our Lease and theirs.
            works_in: namespaces that we work in; none means all.
        """
        self._kube = kube
        self._namespace = namespace
        self._name = name
        self._works_in = frozenset(works_in)
        self._sightings = Sightings()

    @property
    def annotations(self) -> dict[str, str]:
        """What our Lease tells others."""
        return {WATCHED_ANNOTATION: ",".join(sorted(self._works_in))}

    async def find(self) -> str | None:
        """Why we must not work now, and what to do; None where nobody works where we would.

        Raises:
            ApiError: it can't be told.
        """
        found: list[str] = []
        async for page in self._kube.list(LEASES, field_selector=f"metadata.name={self._name}"):
            found += [why for lease in page.objects if (why := self._overlap(lease))]
        return min(found, default=None)

    def _overlap(self, lease: Object) -> str | None:
        """How another release's namespaces overlap with ours, if they do and it is at work."""
        if lease.namespace == self._namespace or not lease.spec.get("holderIdentity") or self._sightings.expired(lease):
            return None
        theirs = frozenset(filter(None, lease.annotations.get(WATCHED_ANNOTATION, "").split(",")))
        if common := self._works_in & theirs:
            where = f"namespace{'s' * (len(common) > 1)} {', '.join(sorted(common))}"
        elif not self._works_in or not theirs:
            where = "the same namespaces"
        else:
            return None
        return (
            f"the release in namespace {lease.namespace} works in {where}: give each release watchNamespaces of its own"
        )
