"""A controller's process: reflectors feed the queue, workers empty it while this process is the active member.

A member that becomes active begins with all resources there are, so nothing needs to be remembered while idle. On
SIGTERM or SIGINT no key is begun any more, what was begun may end, then the Lease is given up.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import uuid4

from freehold.kube.backoff import Backoff
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, NotServed
from freehold.kube.events import Recorder
from freehold.kube.lease import Annotations, Lease
from freehold.kube.objects import DEFINITIONS, LEASES, Key, Object
from freehold.kube.reflector import Reflector
from freehold.metrics import serve_health
from freehold_controllers.runtime.lines import Lines, Priority, Workers
from freehold_controllers.runtime.member import Member
from freehold_controllers.runtime.queue import Queue
from freehold_controllers.runtime.rivals import Rivals
from freehold_controllers.runtime.watches import Wake, Watch, urgency
from freehold_controllers.runtime.work import Reconcile, work

HANGING = 300.0
"""Seconds without an attempt or an answer after which a reflector counts as hanging, and the process as dead."""

_FIRST_LISTS = 30.0
"""Seconds that a new active member waits for the first lists; one that hangs must not hold up the others."""

Beside = Callable[[], Coroutine[None, None, None]]
"""Work of the active member that no event brings about."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a process runs.

    Attributes:
        name: of the controller, its Lease and its Events, for example `freehold-schema`.
        namespace: where the Lease lives.
        instance: this process among its equals, for example the pod's name.
        health_port: of /healthz, /readyz and /metrics.
        lease_duration: whole seconds until others take over from a member that was lost without goodbye.
        resync: interval after which a resource is reconciled without a reason.
        workers: how many resources are reconciled at the same time; `Watch.group` groups them.
        grace: how long work may go on after the process was asked to stop.
        works_in: namespaces whose resources are reconciled; none means all.
    """

    name: str
    namespace: str
    instance: str
    health_port: int = 8080
    lease_duration: timedelta = timedelta(seconds=15)
    resync: timedelta = timedelta(minutes=5)
    workers: Workers = field(default_factory=Workers)
    grace: timedelta = timedelta(seconds=25)
    works_in: frozenset[str] = frozenset()

    def covers(self, namespace: str) -> bool:
        """Whether resources of a namespace are reconciled."""
        return not self.works_in or namespace in self.works_in


class Process:
    """One controller.

    Attributes:
        member: whether this process may act.
        recorder: of Events.
        reflectors: the live copies of what is watched from the beginning, by kind.
    """

    def __init__(
        self, kube: Kube, settings: Settings, watches: Sequence[Watch], *, tells: Annotations = lambda _: {}
    ) -> None:
        """
        Args:
            kube: client.
            settings: how to run.
            watches: what is watched from the beginning; readiness waits for it.
            tells: what the Lease of this process tells others.
        """
        identity = f"{settings.instance}_{uuid4().hex[:8]}"
        self._rivals = Rivals(kube, settings.namespace, settings.name, settings.works_in)
        lease = Lease(
            *(kube, settings.namespace, settings.name, identity, settings.lease_duration),
            annotations=lambda lease: {**self._rivals.annotations, **tells(lease)},
        )
        self.member = Member(lease, rival=self._rival)
        self.recorder = Recorder(kube, settings.name, settings.instance)
        self._kube = kube
        self._settings = settings
        self._stop = asyncio.Event()
        self._queue: Queue | None = None
        self._running: dict[Reflector, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._watches = {watch: self._reflector(watch) for watch in watches}
        self._missing: dict[Watch, Reflector] = {}
        self._groups = {watch.path.kind: watch.group for watch in watches}
        self.reflectors = {watch.path.kind: reflector for watch, reflector in self._watches.items()}

    def stop(self) -> None:
        """End in good order."""
        self._stop.set()

    def wake(self, wakes: Iterable[Wake]) -> None:
        """Have keys reconciled. An idle member forgets them: it begins with all of them when it becomes active."""
        if self._queue is not None:
            for key, priority in wakes:
                if self._settings.covers(key.namespace):
                    self._queue.add(key, priority)

    def release(self, group: str) -> None:
        """What a group works with is in order again."""
        if self._queue is not None:
            self._queue.release(group)

    def watch(self, watch: Watch) -> Reflector:
        """Watch something more, from now on until `unwatch`; only while the process runs."""
        reflector = self._reflector(watch)
        self._start(reflector)
        return reflector

    def unwatch(self, reflector: Reflector) -> None:
        """End what `watch` began."""
        self._running.pop(reflector).cancel()

    async def run(self, reconcile: Reconcile, *beside: Beside) -> None:
        """Run until SIGTERM, SIGINT or `stop`.

        Args:
            reconcile: works on one resource.
            beside: what the active member does besides, all the time; cancelled when it stops to be that.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        port = self._settings.health_port
        async with serve_health(port, alive=self._hanging, ready=self._unready), asyncio.TaskGroup() as self._tasks:
            for reflector in self._watches.values():
                self._start(reflector)
            recording = self._tasks.create_task(self.recorder.run())
            await self.member.run(partial(self._lead, reconcile, beside), self._stop)
            await self.recorder.flush(timedelta(seconds=2))
            for task in (recording, *self._running.values()):
                task.cancel()

    async def _lead(self, reconcile: Reconcile, beside: Sequence[Beside], stop: asyncio.Event) -> None:
        """Work as the active member, until asked to stop or cancelled."""
        await self._first_lists(stop)
        lines = Lines(self._settings.workers)
        self._queue = queue = Queue(Backoff(first=1.0, most=900.0), lines, group=self._group)
        try:
            self.wake(self._all())
            async with asyncio.TaskGroup() as tasks:
                working = tasks.create_task(work(queue, reconcile, self._settings.resync))
                besides = [tasks.create_task(each()) for each in beside]
                await stop.wait()
                for task in besides:
                    task.cancel()
                queue.close()
                await asyncio.wait([working], timeout=self._settings.grace.total_seconds())
                working.cancel()
        finally:
            self._queue = None

    async def _first_lists(self, stop: asyncio.Event) -> None:
        tasks = {asyncio.create_task(self._listed()), asyncio.create_task(stop.wait())}
        try:
            await asyncio.wait(tasks, timeout=_FIRST_LISTS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _listed(self) -> bool:
        return all([await reflector.attempted.wait() for reflector in self._watches.values()])

    def _all(self) -> Iterable[Wake]:
        for watch, reflector in self._watches.items():
            if watch.reconciled:
                for each in reflector.store.values():
                    yield each.key, urgency(None, each) or Priority.RESYNC

    def _group(self, key: Key) -> str:
        """What a resource works with; nothing, where it is gone."""
        found = self.reflectors[key.kind].store.get((key.namespace, key.name))
        return self._groups[key.kind](found) if found else ""

    def _reflector(self, watch: Watch) -> Reflector:
        return Reflector(
            self._kube,
            watch.path,
            namespace=watch.namespace,
            label_selector=watch.label_selector,
            field_selector=watch.field_selector,
            on_change=partial(self._changed, watch),
            on_failure=partial(self._failed, watch),
        )

    def _start(self, reflector: Reflector) -> None:
        if self._tasks is None:
            raise RuntimeError("only a running process can watch")
        self._running[reflector] = self._tasks.create_task(reflector.run())

    def _changed(self, watch: Watch, before: Object | None, after: Object | None) -> None:
        if watch.reconciled and after is not None:
            priority = urgency(before, after)
            self.wake([(after.key, priority)] if priority is not None else ())
        elif watch.reconciled and before is not None:
            # Once more, so that whoever reconciles it finds it gone and forgets it.
            self.wake([(before.key, Priority.RETRY)])
        self.wake(watch.wakes(before, after))

    def _failed(self, watch: Watch, failure: ApiError | None) -> None:
        if watch in self._missing:
            self.unwatch(self._missing.pop(watch))
        if isinstance(failure, NotServed) and watch in self._watches:
            self._missing[watch] = self.watch(self._definition_of(watch))
        self.wake(watch.fails(failure))

    def _definition_of(self, watch: Watch) -> Watch:
        """The definition of a type that isn't served, which tells when it is worth while to look again."""

        def wakes(*_: Object | None) -> Iterable[Wake]:
            self._watches[watch].hurry()
            return ()

        return Watch(DEFINITIONS, wakes=wakes, field_selector=f"metadata.name={watch.path.definition}")

    def _hanging(self) -> str | None:
        hanging = sorted(reflector.path.plural for reflector in self._running if reflector.idle > HANGING)
        return f"hanging watches: {', '.join(hanging)}" if hanging else None

    async def _rival(self) -> str | None:
        """As `Rivals.find`, and people are told."""
        why = await self._rivals.find()
        if why is not None:
            place = {"name": self._settings.name, "namespace": self._settings.namespace}
            lease = Object({"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": place})
            self.recorder.record(lease, "Warning", "NamespacesTaken", why, action="Start")
        return why

    def _unready(self) -> str | None:
        return self.member.hindrance or self._unsynced()

    def _unsynced(self) -> str | None:
        missing = [
            f"{reflector.path.plural} ({reflector.failure or 'being listed'})"
            for reflector in self._watches.values()
            if not reflector.synced.is_set()
        ]
        return f"not listed yet: {', '.join(missing)}" if missing else None
