"""Snowflake and the API server in memory, in front of which processes die at a request that a test chooses."""

from __future__ import annotations

import asyncio
import copy
import itertools
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from freehold import fingerprint
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, Account
from freehold.conflicts import Detail
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kinds.resources import RESOURCES
from freehold.kube.events import Recorder
from freehold.kube.objects import NAMESPACES, Key, Object
from freehold.kube.reflector import Reflector
from freehold.observation import Depth, Observation, Parameter, Row
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.driver import STATEMENT_TIMEOUT, Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from freehold_controllers.reconciler.attempts import ARRIVAL, Attempts
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.inventory import Inventory
from freehold_controllers.reconciler.provider import Intervals, Login, Providers
from freehold_controllers.reconciler.reconcile import Reconciler
from freehold_controllers.reconciler.secret import Secret, Secrets
from freehold_controllers.reconciler.services import Services
from freehold_controllers.runtime.work import Unfinished
from tests.harness.memory import MemoryKube

KEY = Key("Warehouse", "n", "x")
LONGEST = (STATEMENT_TIMEOUT + ARRIVAL).total_seconds()
"""Seconds after which nothing that was sent is under way any more."""
BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)
SETTINGS = ConnectionSettings("n/default", "O-A", "host", 443, "U", "R", None, Password("Secret n/default", "p"))
ACCOUNT = Account(key="R.A", name="O.A")
DEFINITIONS = GroupResource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)


class Died(Exception):
    """The process is no more."""


@dataclass
class Fuse:
    """Ends the process at one of its requests.

    Attributes:
        at: number of the request, from 1.
        done: whether the request is still carried out.
        count: requests so far.
    """

    at: int
    done: bool
    count: int = 0

    @property
    def blown(self) -> bool:
        return self.count >= self.at

    def before(self) -> None:
        self.count += 1
        if self.count == self.at and not self.done:
            raise Died

    def after(self) -> None:
        if self.count == self.at and self.done:
            raise Died


class Api(MemoryKube):
    """An API server with status, finalizers and deletion, in front of which processes die.

    Attributes:
        turns: how many turns other tasks have before a request arrives.
    """

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self.fuse = fuse
        self.turns: Callable[[], int] = lambda: 0

    async def _arrive(self) -> None:
        for _ in range(self.turns()):
            await asyncio.sleep(0)
        self.fuse.before()

    async def get(self, path: GroupResource, name: str, namespace: str | None = None) -> Object:
        await self._arrive()
        return await super().get(path, name, namespace)

    async def create(
        self, path: GroupResource, body: Mapping[str, Any], namespace: str | None = None, **_: Any
    ) -> Object:
        await self._arrive()
        created = await super().create(path, body, namespace)
        self.fuse.after()
        return created

    async def replace(self, path: GroupResource, body: Mapping[str, Any], **_: Any) -> Object:
        await self._arrive()
        replaced = await super().replace(path, body)
        self.fuse.after()
        return replaced

    async def delete(self, path: GroupResource, name: str, namespace: str | None = None, **preconditions: Any) -> None:
        await self._arrive()
        await super().delete(path, name, namespace, **preconditions)
        self.fuse.after()

    async def apply(
        self, path: GroupResource, name: str, namespace: str | None, body: Mapping[str, Any], **_: Any
    ) -> Object:
        await self._arrive()
        found = self._find_as_read(path, namespace, name, body)
        stored = self._store(path, {**found, "status": dict(body["status"])})
        self.fuse.after()
        return stored

    async def patch(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None,
        body: Any,
        *,
        subresource: str | None = None,
        **_: Any,
    ) -> Object:
        await self._arrive()
        stored = self._find_as_read(path, namespace, name, body)
        if subresource:
            changed = self._store(path, {**stored, "status": {**stored.get("status", {}), **body["status"]}})
            self.fuse.after()
            return changed
        metadata = {**stored["metadata"], "finalizers": body["metadata"]["finalizers"]}
        changed = self._store(path, {**stored, "metadata": metadata})
        if changed.deleting and not changed.finalizers:
            self.remove(path, name, namespace or "")
        self.fuse.after()
        return changed


class MemorySnowflake(Snowflake):
    """An account with objects of one name part, and a schema PUBLIC in each database.

    Attributes:
        rows: objects by name.
        snapshot: those that others have seen lately, as they were then.
        looks: how often an object was asked for by itself.
        sent: statements that were carried out or refused, with the answer.
        texts: what they said.
        content: what is found inside any object.
        parameters: of any object.
        owner: of what is created.
        asked_what_it_sees: how often it was asked whether the role sees everything.
        before: called with each statement before it is handled; may raise, or change what is stored.
    """

    def __init__(self, fuse: Fuse) -> None:
        super().__init__("test")
        self.fuse = fuse
        self.rows: dict[str, dict[str, object]] = {}
        self.snapshot: dict[str, dict[str, object]] = {}
        self.looks = 0
        self.sent: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.content: tuple[Row, ...] = ()
        self.parameters: dict[str, Parameter] = {}
        self.owner = "R"
        self.asked_what_it_sees = 0
        self.before: Callable[[str], None] = lambda _text: None
        self._now = (BEGIN + timedelta(seconds=number) for number in itertools.count())

    def _note(self, verb: str, text: str, answer: str) -> None:
        self.sent.append((verb, answer))
        self.texts.append(text)

    def make(self, name: str, comment: str = "", owner: str = "R", options: str = "") -> None:
        born = next(self._now)
        self.rows[name] = {"name": name, "created_on": born, "owner": owner, "comment": comment, "options": options}
        # What users have.
        self.rows[name] |= {"login_name": name.upper(), "has_password": True}

    def refuse(self, verb: str, error: SnowflakeError, *, times: int = 1000) -> None:
        """Have statements that begin with a verb refused, the first few times."""
        left = iter([error] * times)

        def before(text: str) -> None:
            if text.startswith(verb) and (found := next(left, None)):
                raise found

        self.before = before

    async def execute(
        self,
        _settings: ConnectionSettings,
        statement: Sql,
        _tag: QueryTag,
        *,
        limit: timedelta | None = None,  # noqa: ARG002  # the parent's own word
        require: Callable[[], None] = lambda: None,
    ) -> Result:
        require()
        self.fuse.before()
        return await self.answer(statement)

    async def answer(self, statement: Sql) -> Result:
        """What Snowflake does and says, where whoever asks lives on."""
        self.before(statement.text)
        if statement.text.startswith("SHOW") or "PUBLIC" in statement.text:
            self._note(statement.text, statement.text, "ok")
            return Result(self.content, "query")
        pattern = r'^(\w+(?: OR ALTER)?)(?: (TRANSIENT))? (?:WAREHOUSE|DATABASE|USER) "(\w+)"'
        verb, options, name = re.findall(pattern, statement.text)[0]
        comment = re.findall(r"COMMENT = '(\w*)'", statement.text)
        if verb == "CREATE" and name in self.rows:
            self._note(verb, statement.text, "002002")
            raise SnowflakeError("exists", number=2002, sqlstate="42710")
        if verb != "CREATE" and name not in self.rows:
            self._note(verb, statement.text, "002003")
            raise SnowflakeError("doesn't exist or not authorized", number=2003, sqlstate="02000")
        self._note(verb, statement.text, "ok")
        if verb == "CREATE":
            self.make(name, comment[0] if comment else "", self.owner, options)
        elif verb == "DROP":
            del self.rows[name]
        elif comment:
            self.rows[name]["comment"] = comment[0]
        self.fuse.after()
        return Result((), "query")

    async def query(self, settings: ConnectionSettings, query: Sql, tag: QueryTag) -> tuple[Row, ...]:
        return (await self.execute(settings, query, tag)).rows

    async def observe(
        self,
        _settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        _depth: Depth,
        _tag: QueryTag,
        *,
        details: Collection[str] = (),  # noqa: ARG002  # the parent's own word
        not_before: float | None = None,
    ) -> Observation | None:
        self.fuse.before()
        if not_before is not None and (row := self.snapshot.get(target.parts[-1])):
            return Observation(dict(row), dict(self.parameters), {}, shared=True)
        self.looks += 1
        row = self.rows.get(target.parts[-1])
        return Observation(dict(row), dict(self.parameters), {}, kind.unreadable(row)) if row else None

    async def sees_all(self, *_: Any) -> bool:
        self.fuse.before()
        self.asked_what_it_sees += 1
        return True

    async def clock(self, *_: Any) -> datetime:
        self.fuse.before()
        return next(self._now)


class Copies(Reflector):
    """The objects of a type as they were when the process began."""

    def __init__(self, kube: MemoryKube, path: GroupResource) -> None:
        super().__init__(kube, path)
        found = ((namespace, name, body) for (plural, namespace, name), body in kube.objects.items())
        self._found = {(at, name): Object(copy.deepcopy(body)) for at, name, body in found if body["kind"] == path.kind}

    @property
    def store(self) -> Mapping[tuple[str, str], Object]:
        return self._found


class Notes(Recorder):
    """Events that are only taken down, as (reason, note)."""

    def __init__(self, events: list[tuple[str, str]]) -> None:
        self._events = events

    def record(self, about: Object, type: str, reason: str, note: str, **_: str) -> None:  # noqa: A002, ARG002
        self._events.append((str(reason), note))


class Access(Providers):
    """A ProviderConfig that is always verified.

    Attributes:
        given: its intervals.
    """

    def __init__(self, account: Account) -> None:
        self.given = Intervals()
        self._account = account

    def intervals(self, *_: str) -> Intervals:
        return self.given

    async def login(self, *_: Any, **__: Any) -> Login:
        return Login(SETTINGS, "R", self._account)


class Held(Secrets):
    """Secrets that are there, by name: their uid and data.

    Attributes:
        data: what they hold; may change.
    """

    def __init__(self, data: Mapping[str, tuple[str, Mapping[str, str]]]) -> None:
        self.data = data

    async def read(self, _asker: Key, namespace: str, name: str) -> Secret:
        if name not in self.data:
            return Secret(None, None)
        uid, values = self.data[name]
        head = Object({"metadata": {"namespace": namespace, "name": name, "uid": uid}})
        return Secret("1", {key: value.encode() for key, value in values.items()}, head)


def services(
    kube: MemoryKube,
    snowflake: Snowflake,
    monotonic: Callable[[], float],
    events: list[tuple[str, str]],
    *,
    read_only: bool = False,
    account: Account = ACCOUNT,
    secrets: Mapping[str, tuple[str, Mapping[str, str]]] | None = None,
) -> Services:
    """What a process that has just started works with."""
    watched = (NAMESPACES, *(each.path for each in RESOURCES))
    reflectors = {path.kind: Reflector(kube, path) for path in watched}
    reflectors[PROVIDER_CONFIG.kind] = Copies(kube, PROVIDER_CONFIG.path)
    for each in reflectors.values():
        each.synced.set()
    return Services(
        kube=kube,
        namespace="freehold",
        manager="freehold-account",
        store=ClaimStore(kube),
        snowflake=snowflake,
        providers=Access(account),
        secrets=Held(secrets or {}),
        recorder=Notes(events),
        following=Following(),
        inventory=Inventory(),
        reflectors=reflectors,
        allowed_privileged_roles=frozenset(),
        conflict_detail=Detail.NAMESPACE,
        attempts=Attempts(STATEMENT_TIMEOUT, monotonic),
        require_active=lambda: None,
        read_only=read_only,
    )


@dataclass
class World:
    """What outlives a process."""

    fuse: Fuse
    kind: str = "Warehouse"
    spec: Mapping[str, Any] = field(default_factory=dict)
    kube: Api = field(init=False)
    snowflake: MemorySnowflake = field(init=False)
    monotonic: float = 0.0
    events: list[tuple[str, str]] = field(default_factory=list)
    read_only: bool = False
    account: Account = ACCOUNT
    secrets: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kube, self.snowflake = Api(self.fuse), MemorySnowflake(self.fuse)
        account = self.account.model_dump()
        config = {"account": "O-A", "authenticationType": "KeyPair", "role": "R"}
        self.kube.put(PROVIDER_CONFIG.path, "default", "n", spec=config, status={"account": account})
        self.path = KINDS[self.kind].resource.path
        self.place = (self.path.plural, "n", "x")
        self.key = Key(self.kind, "n", "x")
        self.define()
        self.declare()

    def define(self, **metadata: str) -> None:
        """Apply the definition of the kind."""
        self.kube.put(DEFINITIONS, f"{self.path.plural}.snowflake.freehold.dev", metadata=metadata)

    def declare(self) -> None:
        """Apply the resource."""
        spec = {"name": "W", "comment": "ours", **self.spec}
        self.kube.put(self.path, "x", "n", metadata={"generation": 1}, spec=spec)

    def process(self) -> Reconciler:
        found = services(
            self.kube,
            self.snowflake,
            lambda: self.monotonic,
            self.events,
            read_only=self.read_only,
            account=self.account,
            secrets=self.secrets,
        )
        self.inventory, self.reflectors = found.inventory, found.reflectors
        return Reconciler(found)

    async def settle(self) -> None:
        """Reconcile, by a new process whenever one has died, until one says that it is done."""
        reconcile = self.process()
        for _ in range(30):
            try:
                await reconcile(self.key)
            except Died:
                reconcile = self.process()
            except Unfinished:
                self.monotonic += LONGEST / 4
            else:
                return
        raise AssertionError("never done")

    def delete(self) -> None:
        """kubectl delete."""
        with suppress(KeyError):
            stored = self.kube.objects[self.place]
            stored["metadata"]["deletionTimestamp"] = "2026-11-30T13:00:00Z"
            if not stored["metadata"].get("finalizers"):
                self.kube.remove(self.path, "x", "n")

    def annotate(self, **annotations: str) -> None:
        """kubectl annotate, with our prefix and with hyphens for underscores."""
        ours = {f"freehold.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
        self.kube.objects[self.place]["metadata"]["annotations"] = ours

    def join(self, **spec: Any) -> Key:
        """Have another resource for the same object, in a namespace of its own, whose key is returned."""
        config = self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]
        self.kube.put(PROVIDER_CONFIG.path, "default", "m", spec=config["spec"], status=config["status"])
        wanted = {**self.kube.objects[self.place]["spec"], **spec}
        self.kube.put(self.path, "y", "m", metadata={"generation": 1}, spec=wanted)
        return Key(self.kind, "m", "y")

    def edit(self, **spec: Any) -> str:
        """kubectl edit; returns the hash that orders the object's recreation for the new spec."""
        stored = self.kube.objects[self.place]
        stored["metadata"]["generation"] += 1
        stored["spec"] |= spec
        kind = KINDS[self.kind]
        return fingerprint.spec_hash(kind, kind.spec.model_validate(stored["spec"]))

    def learn(self) -> None:
        """Let the live index of claims catch up."""
        for each in self.stored_claims:
            self.inventory.note(None, each)

    def provide(self, annotations: Mapping[str, str] | None = None, **spec: Any) -> None:
        """Change the ProviderConfig."""
        stored = self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]
        stored["spec"] = {**stored["spec"], **spec}
        stored["metadata"]["annotations"] = dict(annotations or {})

    @property
    def recent_drops(self) -> list[str]:
        """When objects that hold data were dropped, as the ProviderConfig has it."""
        stored = self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]
        return stored["status"].get("recentDrops") or []

    @property
    def stored_claims(self) -> Iterator[Object]:
        return (Object(body) for (plural, _, _), body in self.kube.objects.items() if plural == CLAIM.path.plural)

    def reason_of(self, key: Key) -> str:
        conditions = self.kube.objects[self.path.plural, key.namespace, key.name]["status"]["conditions"]
        return str(next(each["reason"] for each in conditions if each["type"] == "Ready"))

    @property
    def reason(self) -> str:
        return self.reason_of(self.key)

    @property
    def status(self) -> dict[str, Any]:
        """The resource's status."""
        found: dict[str, Any] = self.kube.objects[self.place]["status"]
        return found

    @property
    def conditions(self) -> dict[str, dict[str, Any]]:
        """The resource's conditions by type."""
        return {each["type"]: each for each in self.status["conditions"]}

    @property
    def message(self) -> str:
        return str(self.conditions["Ready"]["message"])

    @property
    def alive(self) -> bool:
        """Whether the resource is there."""
        return self.place in self.kube.objects

    @property
    def claims(self) -> list[dict[str, Any]]:
        return [each.raw["spec"] for each in self.stored_claims]

    @property
    def written(self) -> list[tuple[str, str]]:
        """What was sent to Snowflake that isn't only read, with the answers."""
        return [each for each in self.snowflake.sent if not each[0].startswith("SHOW")]

    def answers(self, verb: str) -> list[str]:
        return [answer for sent, answer in self.snowflake.sent if sent == verb]


async def each_death(story: Callable[[World], Awaitable[None]], *, done: bool, kind: str = "Warehouse") -> int:
    """Play a story as often as it has requests, each time with a death at another one.

    Returns:
        How many requests that were.
    """
    for at in itertools.count(1):
        world = World(Fuse(at, done), kind)
        await story(world)
        if not world.fuse.blown:
            return at - 1
    raise AssertionError


async def deleted_with_a_lost_answer() -> World:
    """A world in which a DROP was sent whose answer was lost, and which hasn't dropped anything yet."""
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()

    def lose(text: str) -> None:
        if text.startswith("DROP"):
            raise OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT)

    world.snowflake.before = lose
    with suppress(Unfinished):
        await world.process()(world.key)
    world.snowflake.before = lambda _text: None
    return world
