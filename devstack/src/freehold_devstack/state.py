"""What is written down about an instance: what it is, what should run, what does run. Survives whoever wrote it."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from freehold_devstack import cache, cgroups
from freehold_devstack.errors import DevstackError
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import ProcessId


@dataclass(frozen=True)
class Component:
    """One of an instance's processes as it should be; the supervisor makes it so.

    Attributes:
        name: also the name of its log.
        command: program and arguments.
        environment: what is added to the supervisor's own.
        wanted: whether it should run.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    wanted: bool = True


@dataclass(frozen=True)
class Record:
    """What is known of an instance from its start on.

    Attributes:
        supervisor: the process that owns all others.
        server: URL of the API server.
        binaries: folder of the Kubernetes that it runs.
        owner: the process that it belongs to, if any.
        ready: whether all that was to come up has come up.
    """

    tier: Tier
    supervisor: ProcessId
    server: str
    binaries: str
    owner: ProcessId | None
    ready: bool = False


@dataclass(frozen=True)
class State:
    """The folder of one instance, readable by its user alone: it holds private keys."""

    name: str

    @property
    def directory(self) -> Path:
        """Where it is."""
        return folder() / self.name

    def create(self) -> None:
        """Make the folder."""
        for part in ("components", "processes", "logs", "pki", "images", "volumes"):
            (self.directory / part).mkdir(parents=True, mode=0o700)
        self.directory.chmod(0o700)

    def remove(self) -> None:
        """Kill recorded processes that still run; remove control groups and files."""
        for path in self.directory.glob("processes/*"):
            if process := self.process(path.name):
                process.kill()
        cgroups.remove(self.directory)
        shutil.rmtree(self.directory, ignore_errors=True)

    def record(self) -> Record | None:
        """The record, where there is one."""
        fields = _read(self.directory / "instance.json")
        if fields is None:
            return None
        owner = fields.pop("owner", None)
        typed = {
            "tier": Tier(fields["tier"]),
            "supervisor": ProcessId(**fields["supervisor"]),
            "owner": ProcessId(**owner) if owner else None,
        }
        return Record(**fields | typed)

    def save_record(self, record: Record) -> None:
        """Write the record."""
        _write(self.directory / "instance.json", json.dumps(asdict(record)))

    def components(self) -> list[Component]:
        """All that was ever asked to run, by name."""
        return [self.component(name) for name in self._names()]

    def component(self, name: str) -> Component:
        """One of them.

        Raises:
            DevstackError: there is none of that name.
        """
        path = self.directory / "components" / f"{name}.json"
        fields = _read(path)
        if fields is None:
            raise DevstackError(f"{self.name} has no {name}", f"it has: {', '.join(self._names())}")
        return Component(**fields | {"command": tuple(fields["command"])})

    def save_component(self, component: Component) -> None:
        """Write down what should run, or should not any more."""
        _write(self.directory / "components" / f"{component.name}.json", json.dumps(asdict(component)))

    def process(self, component: str) -> ProcessId | None:
        """The process of a component, alive or not; None where it was never started or has been stopped."""
        fields = _read(self.directory / "processes" / component)
        return ProcessId(**fields) if fields else None

    def save_process(self, component: str, process: ProcessId | None) -> None:
        """Write down which process a component is."""
        path = self.directory / "processes" / component
        if process is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, json.dumps(asdict(process)))

    def log(self, component: str) -> Path:
        """Where the output of a component goes."""
        return self.directory / "logs" / f"{component}.log"

    def _names(self) -> list[str]:
        return [path.stem for path in sorted(self.directory.glob("components/*.json"))]


def folder() -> Path:
    """Where the instances of this user keep their state."""
    return cache.folder() / "instances"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return cast("dict[str, Any]", json.loads(path.read_text()))
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> None:
    """Write a file at once, so that nobody reads half of it."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text)
    new.rename(path)
