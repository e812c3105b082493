"""The control groups that a node's pods live in: one root per node, so that two kubelets never remove each other's."""

import time
from collections.abc import Iterator
from pathlib import Path

from freehold_devstack import cache

HIERARCHIES = Path("/sys/fs/cgroup")


def unified() -> bool:
    """Whether this machine has cgroup v2 alone."""
    return (HIERARCHIES / "cgroup.controllers").exists()


def root_name(instance: Path, node: str) -> str:
    """The name of a node's root in every hierarchy.

    Args:
        instance: the instance's folder; two cache folders may each have one of the same name.
        node: the node's name.
    """
    return f"freehold.{instance.name}-{cache.key(str(instance.resolve()))[:8]}.{node}"


def create(name: str) -> None:
    """Make a root of that name: one folder on cgroup v2, one in each controller's hierarchy on v1."""
    for hierarchy in _hierarchies():
        root = hierarchy / name
        root.mkdir(exist_ok=True)
        if not unified() and hierarchy.name == "cpuset":
            for setting in ("cpuset.cpus", "cpuset.mems"):  # empty in a new group, which then takes no process
                (root / setting).write_text((hierarchy / setting).read_text())


def remove(instance: Path, seconds: float = 10) -> None:
    """Remove all roots of an instance; groups stay busy for a moment after their last process has gone."""
    deadline = time.monotonic() + seconds
    while (left := list(_roots(instance))) and time.monotonic() < deadline:
        for root in left:
            for group in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
                _remove_if_idle(group)
            _remove_if_idle(root)
        time.sleep(0.05)


def _remove_if_idle(group: Path) -> None:
    try:
        group.rmdir()
    except OSError:
        return


def _roots(instance: Path) -> Iterator[Path]:
    for hierarchy in _hierarchies():
        yield from hierarchy.glob(root_name(instance, "*"))


def _hierarchies() -> list[Path]:
    if unified():
        return [HIERARCHIES]
    return [path for path in HIERARCHIES.glob("*") if path.is_dir() and not path.is_symlink()]
