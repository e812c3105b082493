"""The control-plane tier: etcd, API server, controller manager and cert-manager as plain processes of any user."""

import os
from types import TracebackType
from typing import ClassVar, Self

from freehold_devstack import build, cache, prerequisites, progress
from freehold_devstack.errors import AlreadyRunningError, StartError, tail
from freehold_devstack.instance import Instance, instances
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import until
from freehold_devstack.supervisor import READY, START_SECONDS, Plan


class ControlPlane(Instance):
    """A control plane without nodes; as a context manager it runs inside the `with` and belongs to this process.

    Args:
        name: what it is called; a new name by default.
        owner: number of the process whose end ends it, whatever happens; this process by default.
        detached: whether it has no owner, and stays until it is told to end.
    """

    tier: ClassVar[Tier] = Tier.CONTROL_PLANE

    def __init__(self, name: str | None = None, *, owner: int | None = None, detached: bool = False) -> None:
        super().__init__(name)
        self._owner = None if detached else owner or os.getpid()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, after cleaning up what killed runs have left.

        Raises:
            AlreadyRunningError: one of this name runs.
            MissingPrerequisiteError: the machine lacks something.
            BuildError: Kubernetes could not be built.
            StartError: a part did not become ready.
        """
        if not self.ensure_started():
            raise AlreadyRunningError(self.name)

    def ensure_started(self) -> bool:
        """Start it, unless it is running; says whether it was started now. See `start`."""
        if self.ready:
            return False
        prerequisites.ensure(self.tier)
        binaries = build.ensure()
        with cache.locked("instances"):
            for other in instances():
                if not other.running:
                    other.state.remove()
            if self.running:
                return False
            self._launch(self._plan(binaries))
        return True

    def stop_apiserver(self) -> None:
        """Kill the API server."""
        self.stop_component("kube-apiserver")

    def start_apiserver(self) -> None:
        """Start the API server again, and wait until it answers."""
        self.start_component("kube-apiserver")
        until(
            lambda: self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0,
            START_SECONDS,
            "the API server to be ready",
            lambda: tail(self.state.log("kube-apiserver")),
        )

    def _plan(self, binaries: build.Binaries) -> Plan:
        return Plan(self.name, self.tier, str(binaries.folder), owner=self._owner)

    def _launch(self, plan: Plan) -> None:
        lines: list[str] = []
        try:
            with progress.task(f"devstack {self.name} ({self.tier})") as show, plan.launch() as process:
                for line in process.stdout or ():
                    lines.append(line.rstrip())
                    show(lines[-1])
                if lines[-1:] != [READY]:
                    raise StartError(f"devstack {self.name} did not start", "\n".join(lines))
        except KeyboardInterrupt:
            self.stop()
            raise
