"""Claims in the API server: reading, and compare-and-set. Nothing is cached."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import datetime

from freehold.claims import CLAIM, HOLDER_LABEL, OWNER_ANNOTATION, Claim, ClaimSpec, Holder
from freehold.kube.client import Kube
from freehold.kube.errors import NotFound
from freehold.kube.objects import Object
from freehold.resolve import Get, live


class ClaimStore:
    """The claims of one cluster.

    Every method raises `freehold.kube.errors.ApiError` when there is no answer.
    """

    def __init__(self, kube: Kube, *, get: Get | None = None, now: Callable[[], datetime] | None = None) -> None:
        """
        Args:
            kube: the API server.
            get: how resources are read; by default live, which every decision needs.
            now: the API server's time; by default the client's `server_time`.
        """
        self._kube = kube
        self.get: Get = get or live(kube)
        self.now = now or (lambda: kube.server_time)

    async def read(self, name: str) -> Claim | None:
        """The claim of a hash as it stands now."""
        try:
            return _claim(await self._kube.get(CLAIM.path, name))
        except NotFound:
            return None

    async def create(self, claim: Claim) -> Claim:
        """Store a new claim: the hash is its name, so etcd decides who comes first.

        Raises:
            AlreadyExists: somebody did.
        """
        return _claim(await self._kube.create(CLAIM.path, _body(claim, claim.spec)))

    async def replace(self, claim: Claim, spec: ClaimSpec) -> Claim:
        """Change a claim by compare-and-set.

        Raises:
            Conflict: it changed since it was read.
            NotFound: it is gone.
        """
        return _claim(await self._kube.replace(CLAIM.path, _body(claim, spec)))

    async def delete(self, claim: Claim) -> None:
        """Remove a claim exactly as it was read; one that is gone already is fine.

        Raises:
            Conflict: it changed since it was read.
        """
        with suppress(NotFound):
            await self._kube.delete(CLAIM.path, claim.name, uid=claim.uid, resource_version=claim.resource_version)

    async def of_holder(self, holder: Holder) -> tuple[Claim, ...]:
        """All claims that a resource holds, whatever its identity may be by now."""
        selector = f"{HOLDER_LABEL}={holder.label}"
        return tuple([claim async for page in self.pages(label_selector=selector) for claim in page])

    async def pages(self, *, label_selector: str | None = None) -> AsyncGenerator[tuple[Claim, ...], None]:
        """All claims, or those with a label, page by page: for people, since no decision waits for a list."""
        async for page in self._kube.list(CLAIM.path, label_selector=label_selector):
            yield tuple(_claim(each) for each in page.objects)


def _claim(stored: Object) -> Claim:
    return Claim(
        name=stored.name,
        resource_version=stored.resource_version,
        uid=stored.uid,
        created=stored.created,
        spec=ClaimSpec.model_validate(stored.spec),
    )


def _body(claim: Claim, spec: ClaimSpec) -> dict[str, object]:
    metadata: dict[str, object] = {
        "name": claim.name,
        "labels": {HOLDER_LABEL: spec.holder.label},
        "annotations": {OWNER_ANNOTATION: spec.holder.owner},
    }
    if claim.uid:
        metadata |= {"uid": claim.uid, "resourceVersion": claim.resource_version}
    return {
        "apiVersion": CLAIM.path.api_version,
        "kind": CLAIM.kind,
        "metadata": metadata,
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
