"""Nodes have control groups of their own, whatever else runs on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from freehold_devstack import cgroups
from freehold_devstack.errors import StartError


@pytest.fixture
def hierarchy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What stands in for /sys/fs/cgroup of version 1, with one controller."""
    monkeypatch.setattr(cgroups, "HIERARCHIES", tmp_path)
    (tmp_path / "pids").mkdir()
    return tmp_path / "pids"


def test_instances_of_one_name_in_two_cache_folders_leave_each_others_groups_alone(hierarchy: Path) -> None:
    mine, other = (Path("/caches") / user / "instances/demo" for user in ("mine", "other"))
    for instance in (mine, other):
        cgroups.create(cgroups.root_name(instance, "node1"))
    cgroups.remove(mine)
    assert [path.name for path in hierarchy.iterdir()] == [cgroups.root_name(other, "node1")]


@pytest.fixture
def unified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What stands in for /sys/fs/cgroup of version 2."""
    monkeypatch.setattr(cgroups, "HIERARCHIES", tmp_path)
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu memory rdma pids\n")
    return tmp_path


def test_on_version_2_a_node_is_given_the_controllers_that_there_are(unified: Path) -> None:
    cgroups.create("node")
    assert (unified / "node").is_dir()
    assert (unified / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory +pids"


def test_on_version_2_controllers_that_stay_with_the_parent_are_an_error_with_a_remedy(unified: Path) -> None:
    (unified / "cgroup.subtree_control").mkdir()  # not writable, even for root
    with pytest.raises(StartError, match=r"can't be given the controllers \+cpu.*\n.*--cgroupns=host"):
        cgroups.create("node")
