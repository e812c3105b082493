"""The control groups that a node's pods live in: one root per node, so that two kubelets never remove each other's."""

import time
from collections.abc import Iterator
from pathlib import Path

from freehold_devstack import cache
from freehold_devstack.errors import StartError

HIERARCHIES = Path("/sys/fs/cgroup")

CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "hugetlb", "io")
"""The controllers that a kubelet uses, where the kernel has them."""


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
    """Make a root of that name: one folder on cgroup v2, one in each controller's hierarchy on v1.

    Raises:
        StartError: on v2, groups below ours can't have controllers.
    """
    if unified():
        _pass_controllers_on()
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


def _pass_controllers_on() -> None:
    """On v2 a group has those controllers alone that its parent's cgroup.subtree_control names (cgroups(7))."""
    available = (HIERARCHIES / "cgroup.controllers").read_text().split()
    passed = " ".join(f"+{controller}" for controller in CONTROLLERS if controller in available)
    try:
        (HIERARCHIES / "cgroup.subtree_control").write_text(passed)
    except OSError as error:
        raise StartError(
            f"control groups can't be given the controllers {passed}: {error}",
            "in a container, start that with --cgroupns=host, or move its processes into a group of their own first",
        ) from error


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
