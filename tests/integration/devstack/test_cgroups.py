"""Nodes have control groups of their own, whatever else runs on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from freehold_devstack import cgroups


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
