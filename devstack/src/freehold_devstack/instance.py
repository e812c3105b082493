"""A running devstack as its users see it: kubeconfigs, kubectl and helm on it, and its parts to start and stop."""

import ctypes
import os
import re
import secrets
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from freehold_devstack import cache, pki, state
from freehold_devstack.build import Binaries
from freehold_devstack.errors import DevstackError, NotRunningError, tail
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import WITH_PARENT, until
from freehold_devstack.state import Component, Record, State

CLONE_NEWNET = 0x40000000
"""The kind of namespace that setns(2) is asked to join."""

TOKEN_LIFETIME = "24h"  # noqa: S105 - a duration, not a token

STOP_SECONDS = 30.0
"""How long a supervisor may take to end its parts before it is killed."""


class Instance:
    """A handle on the instance of that name, which may or may not be running.

    Args:
        name: lower-case letters, digits and hyphens; a new one is made up by default.

    Raises:
        DevstackError: the name has other characters or is too long.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or f"devstack-{secrets.token_hex(3)}"
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", self.name):
            raise DevstackError(f"{self.name!r} is no name for a devstack", "use up to 40 of a-z, 0-9 and hyphen")
        self.state = State(self.name)

    @property
    def record(self) -> Record:
        """What was written down when it started.

        Raises:
            NotRunningError: it was not started, or has ended.
        """
        record = self.state.record()
        if record is None or not record.supervisor.alive:
            raise NotRunningError(self.name)
        return record

    @property
    def running(self) -> bool:
        """Whether its supervisor lives."""
        record = self.state.record()
        return record is not None and record.supervisor.alive

    @property
    def ready(self) -> bool:
        """Whether it runs, and everything in it came up."""
        record = self.state.record()
        return record is not None and record.ready and record.supervisor.alive

    @property
    def binaries(self) -> Binaries:
        """The Kubernetes that it runs."""
        return Binaries(Path(self.record.binaries))

    @property
    def server(self) -> str:
        """The URL of its API server."""
        return self.record.server

    @property
    def host_address(self) -> str:
        """The address at which its pods reach a server that was `spawn`ed; without nodes, the loopback address."""
        return str(urlsplit(self.server).hostname)

    @property
    def ca(self) -> Path:
        """The PEM file of the authority that has signed the API server's certificate."""
        return self.state.directory / "pki/ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.state.directory / "admin.kubeconfig"

    def kubeconfig_for(self, namespace: str, service_account: str) -> Path:
        """A kubeconfig with a token of that service account, asked of the TokenRequest API."""
        request = ("create", "token", service_account, "--namespace", namespace, "--duration", TOKEN_LIFETIME)
        token = self.kubectl(*request).stdout.strip()
        path = self.state.directory / f"{namespace}.{service_account}.kubeconfig"
        path.write_text(pki.kubeconfig(self.server, self.ca.read_bytes(), token, namespace))
        return path

    @property
    def environment(self) -> dict[str, str]:
        """Variables that point kubectl and helm at it, and keep their caches out of the home folder."""
        return {
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.state.directory / "kubectl"),
            "KUBECTL_KUBERC": "false",
            **{
                f"HELM_{kind}_HOME": str(self.state.directory / "helm" / kind.lower())
                for kind in ("CACHE", "CONFIG", "DATA")
            },
        }

    def command(self, *arguments: str) -> tuple[str, ...]:
        """A command that runs in the instance's network, which for the cluster tier is not the machine's."""
        return arguments if self._network is None else ("nsenter", f"--net={self._network}", "--", *arguments)

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Move the calling thread, and what it starts meanwhile, into the instance's network."""
        if self._network is None:
            yield
            return
        with Path("/proc/thread-self/ns/net").open("rb") as own, self._network.open("rb") as other:
            _set_network(other.fileno())
            try:
                yield
            finally:
                _set_network(own.fileno())

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - the word of subprocess
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as administrator.

        Args:
            arguments: the command line.
            input: what it reads, for `-f -`.
            check: whether a failure is raised.

        Raises:
            CalledProcessError: it failed; what it said is added as a note.
        """
        return self._run((self.binaries.path("kubectl"), *arguments), input, check=check)

    def helm(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run helm as administrator; see `kubectl`."""
        return self._run((self.binaries.path("helm"), *arguments), None, check=check)

    def spawn(
        self, arguments: Sequence[str], env: Mapping[str, str] | None = None, log: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process in the instance's network that belongs to the caller: the end of the calling thread ends it.

        Args:
            arguments: program and arguments.
            env: what is added to the caller's environment.
            log: where its output goes; nowhere by default.
        """
        with (log or Path(os.devnull)).open("ab") as output:
            return subprocess.Popen(
                (*WITH_PARENT, *self.command(*arguments)),
                env=os.environ | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def supervise(self, component: Component) -> None:
        """Have a process run in the instance's network for as long as the instance lives, or (`wanted`) not any more.

        Raises:
            StartError: the supervisor did not react.
        """
        self.state.save_component(component)
        self.record.supervisor.signal(signal.SIGHUP)
        until(
            lambda: (self.state.process(component.name) is not None) is component.wanted,
            10,
            f"{component.name} to {'start' if component.wanted else 'stop'}",
            lambda: tail(self.state.log("supervisor")),
        )

    def stop_component(self, name: str) -> None:
        """Kill one of its processes (of a node: cut the power) and have it stay down."""
        self.supervise(replace(self.state.component(name), wanted=False))

    def start_component(self, name: str) -> None:
        """Start a process that was stopped, or that has died, again."""
        self.supervise(replace(self.state.component(name), wanted=True))

    def stop(self) -> None:
        """End it, and clean up whatever it or a killed run left; nothing happens where there is nothing."""
        record = self.state.record()
        if record is not None:
            record.supervisor.signal(signal.SIGTERM)
            if not record.supervisor.wait(STOP_SECONDS):
                record.supervisor.kill()
        self.state.remove()

    @property
    def _network(self) -> Path | None:
        record = self.record
        return Path(f"/proc/{record.supervisor.pid}/ns/net") if record.tier is Tier.CLUSTER else None

    def _run(self, command: tuple[str, ...], text: str | None, *, check: bool) -> subprocess.CompletedProcess[str]:
        environment = os.environ | self.environment
        try:
            return subprocess.run(
                self.command(*command), input=text, capture_output=True, text=True, env=environment, check=check
            )
        except subprocess.CalledProcessError as error:
            error.add_note(error.stderr.strip())
            raise


def instances() -> list[Instance]:
    """All instances that have left a trace, running or not."""
    return [Instance(path.name) for path in sorted(state.folder().glob("*"))]


@dataclass(frozen=True)
class Ended:
    """An instance that is no more.

    Attributes:
        killed: whether only leftovers of it were there.
    """

    name: str
    killed: bool


def end(name: str | None = None) -> list[Ended]:
    """End instances, and clean up what killed runs left; says which.

    Args:
        name: the one to end; by default all but those that belong to a process that still runs, such as a test run.
    """
    ended = []
    with cache.locked("instances"):  # none that is being started, and has not yet a record, is taken for a killed one
        for instance in instances():
            record = instance.state.record()
            owned = record is not None and record.owner is not None and record.owner.alive
            killed = not instance.running
            if killed or (instance.name == name if name else not owned):
                instance.stop()
                ended.append(Ended(instance.name, killed))
    return ended


def choose(name: str | None) -> Instance:
    """The running instance of that name; without a name, the only one that runs.

    Raises:
        NotRunningError: there is none.
        DevstackError: there are several.
    """
    running = [instance for instance in instances() if instance.running and name in (None, instance.name)]
    if not running:
        raise NotRunningError(name or "any")
    if len(running) > 1:
        names = ", ".join(instance.name for instance in running)
        raise DevstackError(f"several devstacks are running: {names}", "choose one by --name or DEVSTACK_NAME")
    return running[0]


def _set_network(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
