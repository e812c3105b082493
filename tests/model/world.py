"""What outlives a process in the model: the API server with its users, the account with its strangers, time, and
statements that are still under way."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from freehold import fingerprint
from freehold.claim_store import ClaimStore, sweep
from freehold.claims import CLAIM
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.backoff import Backoff
from freehold.kube.errors import ApiError
from freehold.kube.objects import DEFINITIONS, Key, Object
from freehold.resolve import live
from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import Result
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from freehold_controllers.reconciler.finalizer import FINALIZER
from freehold_controllers.reconciler.reconcile import Reconciler
from freehold_controllers.runtime.work import Unfinished
from freehold_webhook.admission import Admission
from freehold_webhook.review import Outcome, Request
from tests.harness.memory import Place
from tests.model.account import FACTS, Account, Incarnation, Wire, act, there
from tests.model.trouble import Trouble
from tests.unit.reconciler.world import LONGEST, Api, Copies, Died, services

T = TypeVar("T")

NAMESPACES = ("n", "m")
PREFIX = "freehold.dev/"
RESOURCES = frozenset(kind.resource.path.plural for kind in KINDS.values())


@dataclass(frozen=True, slots=True)
class Deed:
    """A statement of ours that writes.

    Attributes:
        verb: CREATE, ALTER or DROP.
        kind: of the object.
        name: of the object.
        sender: the resource that it serves.
        text: the statement.
    """

    verb: str
    kind: str
    name: str
    sender: Key
    text: str

    @classmethod
    def read(cls, text: str, query_tag: str) -> Deed | None:
        """None for what only reads."""
        if text.startswith(("SHOW", "SELECT")):
            return None
        found = re.match(r'(\w+)(?: OR ALTER)?(?: TRANSIENT)? (WAREHOUSE|DATABASE) "(\w+)"', text)
        assert found, f"what is {text}?"
        tag = json.loads(query_tag)
        return cls(found[1], found[2].title(), found[3], Key(tag["kind"], tag["namespace"], tag["name"]), text)


@dataclass(frozen=True, slots=True)
class Late:
    """A statement whose answer nobody hears any more, and which has yet to arrive.

    Attributes:
        deed: the statement.
        carry_out: has it arrive.
        until: monotonic time by which it has arrived, or never will.
        meant: what was there when it was sent.
    """

    deed: Deed
    carry_out: Callable[[], Coroutine[Any, Any, Result]]
    until: float
    meant: Incarnation | None


class Witness:
    """Is told whatever happens; the model's rules are its methods."""

    def statement(self, deed: Deed) -> None:
        """A statement that writes is about to be carried out."""

    def asked(self, text: str) -> None:
        """Any statement is about to be sent."""

    def created(self, deed: Deed) -> None:
        """A CREATE has succeeded."""

    def arrives(self, late: Late) -> None:
        """A late statement is about to be carried out."""

    def claim(self, before: Object | None, after: Object | None) -> None:
        """A claim is written."""

    def released(self, resource: Object) -> None:
        """Our finalizer is gone."""


class Cluster(Api):
    """An API server that tells of what changes."""

    def __init__(self) -> None:
        super().__init__(Trouble(0))
        self.changed: Callable[[Object | None, Object | None], None] = lambda _before, _after: None

    def _store(self, path: GroupResource, body: dict[str, Any]) -> Object:
        metadata = body["metadata"]
        before = self.objects.get((path.plural, metadata.get("namespace", ""), metadata["name"]))
        after = super()._store(path, body)
        self.changed(Object(deepcopy(before)) if before else None, after)
        return after

    async def delete(self, path: GroupResource, name: str, namespace: str | None = None, **preconditions: Any) -> None:
        place = (path.plural, namespace or "", name)
        before = self.objects.get(place)
        try:
            await super().delete(path, name, namespace, **preconditions)
        finally:
            if before and place not in self.objects:
                self.changed(Object(before), None)


class Present(Copies):
    """Live copies that are never behind."""

    def __init__(self, kube: Cluster, path: GroupResource) -> None:
        super().__init__(kube, path)
        self._live = kube.objects
        self._plural = path.plural

    @property
    def store(self) -> Mapping[tuple[str, str], Object]:
        return {
            (namespace, name): Object(body)
            for (plural, namespace, name), body in self._live.items()
            if plural == self._plural
        }


class Watched:
    """A connection to which things happen."""

    lost = False

    def __init__(self, wire: Wire, world: World) -> None:
        self._wire, self._world = wire, world

    async def execute(self, statement: Sql, query_tag: str | None = None) -> Result:
        return await self._world.execute(self._wire, statement, query_tag or "")

    async def close(self) -> None:
        await self._wire.close()


class Client(Snowflake):
    """The client layer over such connections."""

    def __init__(self, world: World) -> None:
        super().__init__("model", clock=lambda: world.monotonic)
        self._traffic._pauses = Backoff(first=0.0, most=0.0)
        self._world = world

    async def _open(self, settings: ConnectionSettings) -> Session:  # noqa: ARG002  # the parent's own word
        wire = await self._world.account.connect()
        return Session(Watched(wire, self._world), FACTS)  # type: ignore[arg-type]  # all that is asked of one


class World:
    """Users, strangers, processes.

    Attributes:
        account: Snowflake.
        kube: the API server.
        monotonic: seconds.
        late: statements under way.
        read_only: the mode of the next process.
    """

    def __init__(self, account: Account, loop: asyncio.AbstractEventLoop) -> None:
        self.account, self.kube, self.late = account, Cluster(), list[Late]()
        self.monotonic = 0.0
        self.read_only = False
        self.witness = Witness()
        self._loop = loop
        self._quiet = Trouble(0)
        config = {"account": "O-A", "authenticationType": "KeyPair", "role": "R"}
        status = {"account": {"key": FACTS.key, "name": FACTS.name}}
        for namespace in NAMESPACES:
            self.kube.put(PROVIDER_CONFIG.path, "default", namespace, spec=dict(config), status=status)
        for kind in KINDS.values():
            self.define(kind.name)
        self.kube.changed = self._changed
        self.restart()

    # --- processes

    def restart(self) -> None:
        """End the process; another one begins, which knows nothing."""
        found = services(self.kube, Client(self), lambda: self.monotonic, [], read_only=self.read_only)
        copies = {path: Present(self.kube, path) for path in (PROVIDER_CONFIG.path, *self._paths)}
        for copy in copies.values():
            copy.synced.set()
        self._services = replace(found, reflectors={**found.reflectors, **{path.kind: c for path, c in copies.items()}})
        for each in self.claims:
            self._services.inventory.note(None, each)
        self._reconcile = Reconciler(self._services)

    def reconcile(self, key: Key, trouble: Trouble | None = None) -> None:
        """Have the process work on a resource once."""
        self.kube.fuse = trouble or self._quiet
        try:
            with suppress(Unfinished, ApiError):
                self.wait(self._reconcile(key))
        except Died:
            self.restart()
        finally:
            self.kube.fuse = self._quiet

    async def execute(self, wire: Wire, statement: Sql, query_tag: str) -> Result:
        deed, trouble = Deed.read(statement.text, query_tag), self.kube.fuse
        assert isinstance(trouble, Trouble)
        self.witness.asked(statement.text)
        if deed is None:
            trouble.before_statement(writes=False)
            result = await wire.execute(statement, query_tag)
        else:
            carry_out = partial(self._carry_out, wire, statement, query_tag, deed)
            if trouble.before_statement(writes=True):
                meant = there(self.account, deed.kind, deed.name)
                self.late.append(Late(deed, carry_out, self.monotonic + LONGEST, meant))
                trouble.silence()
            self.witness.statement(deed)
            result = await carry_out()
        trouble.after_statement()
        return result

    async def _carry_out(self, wire: Wire, statement: Sql, query_tag: str, deed: Deed) -> Result:
        result = await wire.execute(statement, query_tag)
        if deed.verb == "CREATE":
            self.witness.created(deed)
        return result

    def sweep(self) -> None:
        """Remove the claims that bind nobody and tell of nothing."""
        for each in [claim.name for claim in self.claims]:
            self.wait(sweep(ClaimStore(self.kube), each))

    # --- time

    def arrive(self) -> None:
        """Have all that is under way arrive."""
        waiting, self.late = self.late, []
        for each in waiting:
            self.witness.arrives(each)
            with suppress(Exception):
                self.wait(each.carry_out())

    def pass_time(self, seconds: float) -> None:
        if any(each.until < self.monotonic + seconds for each in self.late):
            self.arrive()
        self.monotonic += seconds
        self.kube.advance(timedelta(seconds=seconds))

    # --- users

    def apply(self, key: Key, spec: Mapping[str, Any], *, webhook: bool) -> None:
        """kubectl apply; the names of a resource stay what they were."""
        found = self.get(key)
        if found and found.deleting:
            return
        path, metadata = KINDS[key.kind].resource.path, {"generation": 1, "uid": f"uid-{key}"}
        if found:
            spec = {**spec, "name": found.spec["name"]}
            if spec == found.spec:
                return
            metadata = {**found.metadata, "generation": found.generation + 1}
        new = Object(
            {"kind": key.kind, "metadata": {"namespace": key.namespace, "name": key.name, **metadata}, "spec": spec}
        )
        if webhook and self._denied(path, new, found):
            return
        kept = {"status": found.status} if found else {}
        self.kube.put(path, key.name, key.namespace, metadata=metadata, spec=dict(spec), **kept)

    def _denied(self, path: GroupResource, new: Object, old: Object | None) -> bool:
        store = ClaimStore(self.kube)
        operation = "UPDATE" if old else "CREATE"
        request = Request("", operation, path.group, path.kind, new.namespace, "", "", False, new, old)  # type: ignore[arg-type]
        verdict = self.wait(Admission(store, live(self.kube), allowed_hosts=()).review(request))
        return verdict.outcome is Outcome.DENIED

    def annotate(self, key: Key, name: str, value: str | None) -> None:
        """kubectl annotate, with our prefix."""
        if found := self.kube.objects.get(self._place(key)):
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
        if stored := self.kube.objects.get(self._place(key)):
            stored["metadata"].setdefault("deletionTimestamp", "2026-11-30T13:00:00Z")
            stored["metadata"]["generation"] += 1
            if not stored["metadata"].get("finalizers"):
                self.kube.remove(KINDS[key.kind].resource.path, key.name, key.namespace)

    def provide(self, name: str, deletion: Mapping[str, Any], *, abandon: bool) -> None:
        """Change a namespace's ProviderConfig."""
        stored = self.kube.objects[PROVIDER_CONFIG.path.plural, name, "default"]
        stored["spec"] = {**stored["spec"], "deletion": dict(deletion)}
        stored["metadata"]["annotations"] = {f"{PREFIX}abandon-dependents": "true"} if abandon else {}

    def define(self, kind: str, *, deleting: bool = False) -> None:
        """Apply the definition of a kind, or have it deleted."""
        metadata = {"deletionTimestamp": "2026-11-30T13:00:00Z"} if deleting else {}
        self.kube.put(DEFINITIONS, KINDS[kind].resource.path.definition, metadata=metadata)

    # --- strangers

    def stranger(self, deed: str, kind: str, name: str) -> None:
        act(self.account, deed, kind, name)

    # --- what there is

    @property
    def resources(self) -> list[Object]:
        return [Object(body) for (plural, _, _), body in self.kube.objects.items() if plural in RESOURCES]

    @property
    def claims(self) -> list[Object]:
        return [Object(body) for (plural, _, _), body in self.kube.objects.items() if plural == CLAIM.path.plural]

    def get(self, key: Key) -> Object | None:
        body = self.kube.objects.get(self._place(key))
        return Object(deepcopy(body)) if body else None

    def config_of(self, key: Key) -> Object:
        return Object(self.kube.objects[PROVIDER_CONFIG.path.plural, key.namespace, "default"])

    def terminates(self, kind: str) -> bool:
        return Object(self.kube.objects[DEFINITIONS.plural, "", KINDS[kind].resource.path.definition]).deleting

    def claim_of(self, kind: str, name: str) -> Object | None:
        body = self.kube.objects.get(
            (CLAIM.path.plural, "", Identity(FACTS.key, KINDS[kind].object_class, Name((name,))).hash)
        )
        return Object(body) if body else None

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    @property
    def _paths(self) -> list[GroupResource]:
        return [kind.resource.path for kind in KINDS.values()]

    def _place(self, key: Key) -> Place:
        return KINDS[key.kind].resource.path.plural, key.namespace, key.name

    def _changed(self, before: Object | None, after: Object | None) -> None:
        changed = after or before
        assert changed is not None
        if changed.kind == CLAIM.kind:
            self._services.inventory.note(before, after)
            self.witness.claim(before, after)
        elif before and after and FINALIZER in set(before.finalizers) - set(after.finalizers):
            self.witness.released(after)
