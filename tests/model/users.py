"""People with kubectl, and what they may find in the API server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from copy import deepcopy
from typing import Any

from freehold import fingerprint
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.common import Reference
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import DEFINITIONS, Key, Object
from freehold.resolve import live
from freehold_webhook.admission import Admission
from freehold_webhook.review import Outcome, Request, Verdict
from tests.harness.memory import Place
from tests.model.account import FACTS
from tests.model.cluster import Cluster
from tests.model.objects import Thing

NAMESPACES = ("n", "m")
PREFIX = "freehold.dev/"

_RESOURCES = frozenset(kind.resource.path.plural for kind in KINDS.values())
_FIXED = ("name", "databaseName", "databaseRef", "schemaName", "schemaRef")
"""Fields that the API server lets nobody change."""


class Users:
    """What people do and see.

    Args:
        kube: the API server.
        wait: runs what is to be awaited.
    """

    def __init__(self, kube: Cluster, wait: Callable[[Coroutine[Any, Any, Verdict]], Verdict]) -> None:
        self._kube, self._wait = kube, wait
        config = {"account": "O-A", "authenticationType": "KeyPair", "role": "R"}
        status = {"account": {"key": FACTS.key, "name": FACTS.name}}
        for namespace in NAMESPACES:
            kube.put(PROVIDER_CONFIG.path, "default", namespace, spec=dict(config), status=status)
        for kind in KINDS.values():
            self.define(kind.name)

    # --- what they do

    def apply(self, key: Key, spec: Mapping[str, Any], *, webhook: bool) -> None:
        """kubectl apply; what a resource stands for stays what it was."""
        found = self.get(key)
        if found and found.deleting:
            return
        path, metadata = KINDS[key.kind].resource.path, {"generation": 1, "uid": f"uid-{key}"}
        if found:
            changed = {name: value for name, value in spec.items() if name not in _FIXED}
            spec = {**changed, **{name: found.spec[name] for name in _FIXED if name in found.spec}}
            if spec == found.spec:
                return
            metadata = {**found.metadata, "generation": found.generation + 1}
        new = Object(
            {"kind": key.kind, "metadata": {"namespace": key.namespace, "name": key.name, **metadata}, "spec": spec}
        )
        if webhook and self._denied(path, new, found):
            return
        kept = {"status": found.status} if found else {}
        self._kube.put(path, key.name, key.namespace, metadata=metadata, spec=dict(spec), **kept)

    def annotate(self, key: Key, name: str, value: str | None) -> None:
        """kubectl annotate, with our prefix."""
        if found := self._kube.objects.get(_place(key)):
            kept = {
                each: text for each, text in found["metadata"].get("annotations", {}).items() if each != PREFIX + name
            }
            found["metadata"]["annotations"] = kept if value is None else {**kept, PREFIX + name: value}

    def order(self, key: Key) -> None:
        """Order that the object be recreated for what its spec says now."""
        if found := self.get(key):
            kind = KINDS[key.kind]
            self.annotate(key, "force-new", fingerprint.spec_hash(kind, kind.spec.model_validate(found.spec)))

    def delete(self, key: Key) -> None:
        """kubectl delete."""
        if stored := self._kube.objects.get(_place(key)):
            stored["metadata"].setdefault("deletionTimestamp", "2026-11-30T13:00:00Z")
            stored["metadata"]["generation"] += 1
            if not stored["metadata"].get("finalizers"):
                self._kube.remove(KINDS[key.kind].resource.path, key.name, key.namespace)

    def provide(self, namespace: str, deletion: Mapping[str, Any], *, abandon: bool) -> None:
        """Change a namespace's ProviderConfig."""
        stored = self._kube.objects[PROVIDER_CONFIG.path.plural, namespace, "default"]
        stored["spec"] = {**stored["spec"], "deletion": dict(deletion)}
        stored["metadata"]["annotations"] = {f"{PREFIX}abandon-dependents": "true"} if abandon else {}

    def define(self, kind: str, *, deleting: bool = False) -> None:
        """Apply the definition of a kind, or have it deleted."""
        metadata = {"deletionTimestamp": "2026-11-30T13:00:00Z"} if deleting else {}
        self._kube.put(DEFINITIONS, KINDS[kind].resource.path.definition, metadata=metadata)

    def _denied(self, path: GroupResource, new: Object, old: Object | None) -> bool:
        operation = "UPDATE" if old else "CREATE"
        request = Request("", operation, path.group, path.kind, new.namespace, "", "", False, new, old)  # type: ignore[arg-type]
        admission = Admission(ClaimStore(self._kube), live(self._kube), allowed_hosts=())
        return self._wait(admission.review(request)).outcome is Outcome.DENIED

    # --- what there is

    @property
    def resources(self) -> list[Object]:
        return [Object(body) for (plural, _, _), body in self._kube.objects.items() if plural in _RESOURCES]

    @property
    def claims(self) -> list[Object]:
        return [Object(body) for (plural, _, _), body in self._kube.objects.items() if plural == CLAIM.path.plural]

    def get(self, key: Key) -> Object | None:
        body = self._kube.objects.get(_place(key))
        return Object(deepcopy(body)) if body else None

    def config_of(self, key: Key) -> Object:
        return Object(self._kube.objects[PROVIDER_CONFIG.path.plural, key.namespace, "default"])

    def terminates(self, kind: str) -> bool:
        return Object(self._kube.objects[DEFINITIONS.plural, "", KINDS[kind].resource.path.definition]).deleting

    def claim_of(self, thing: Thing) -> Object | None:
        body = self._kube.objects.get((CLAIM.path.plural, "", thing.identity.hash))
        return Object(body) if body else None

    def referred(self, resource: Object) -> list[Key]:
        """What a resource refers to."""
        asked = {name: resource.spec.get(f"{name.lower()}Ref") for name in ("Database", "Schema")}
        found = {kind: Reference.model_validate(each) for kind, each in asked.items() if each}
        return [Key(kind, each.namespace or resource.namespace, each.name) for kind, each in found.items()]

    def thing_of(self, resource: Object) -> Thing | None:
        """What a resource stands for; None where that lies in what isn't declared."""
        container: tuple[str, ...] = ()
        for kind in ("Database", "Schema")[: KINDS[resource.kind].level.value - 1]:
            named = resource.spec.get(f"{kind.lower()}Name")
            parent = next((self.get(each) for each in self.referred(resource) if each.kind == kind), None)
            if named is None and parent is None:
                return None
            container = (*container, named or parent.spec["name"])  # type: ignore[union-attr]  # it is one of both
        return Thing(resource.kind, (*container, resource.spec["name"]))


def _place(key: Key) -> Place:
    return KINDS[key.kind].resource.path.plural, key.namespace, key.name
