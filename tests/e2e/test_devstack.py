"""The cluster tier is real: nodes run pods from images, die by a power cut, come back, and leave nothing behind."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest

from freehold_devstack import cgroups, images
from freehold_devstack.cluster import Cluster
from freehold_devstack.processes import ProcessId, until

IMAGE = "devstack/pause:1"


def pod(name: str, image: str) -> str:
    container = {"name": "only", "image": image, "imagePullPolicy": "Always"}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def await_condition(cluster: Cluster, resource: str, condition: str) -> None:
    cluster.kubectl("wait", resource, f"--for=condition={condition}", "--timeout=60s")


def processes_of(name: str) -> list[int]:
    """All processes that have the instance's folder on their command line."""
    found = subprocess.run(("pgrep", "--full", f"instances/{name}/"), capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


@pytest.fixture(scope="module", autouse=True)
def service_account(cluster: Cluster) -> None:
    def exists() -> bool:
        return cluster.kubectl("get", "serviceaccount", "default", check=False).returncode == 0

    until(exists, 20, "the default service account to be made")


def test_a_pod_runs_from_an_image_that_was_added_while_the_cluster_runs(cluster: Cluster) -> None:
    added = images.pause(cluster.binaries, reference="devstack/added-later:1")
    cluster.add_images([added])
    cluster.kubectl("create", "-f", "-", input=pod("added", f"registry.example/{added.reference}"))
    await_condition(cluster, "pod/added", "Ready")


def test_an_unknown_tag_is_refused_by_the_registry(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", input=pod("wrong-tag", "devstack/pause:absent"))
    reason = "jsonpath={.status.containerStatuses[0].state.waiting.reason}"
    until(
        lambda: cluster.kubectl("get", "pod", "wrong-tag", "-o", reason).stdout in ("ErrImagePull", "ImagePullBackOff"),
        30,
        "the pull to fail",
    )


def test_the_caller_reaches_the_clusters_network_only_while_joined(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        own = outside.getsockname()[1]
        with cluster.joined(), socket.create_server((cluster.host_address, 0)) as server:
            inside = server.getsockname()[1]
            socket.create_connection((cluster.host_address, inside)).close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", own))
        socket.create_connection(("127.0.0.1", own)).close()


def test_a_node_dies_by_a_power_cut_and_comes_back_and_nothing_is_left_of_the_cluster() -> None:
    with Cluster(nodes=2) as cluster:
        cluster.kill_node(2)
        await_condition(cluster, "node/node2", "Ready=Unknown")
        cluster.start_node(2)
        await_condition(cluster, "node/node2", "Ready")
        running = [ProcessId.of(pid) for pid in processes_of(cluster.name)]
        assert running
    assert [process for process in running if process.alive] == []
    assert processes_of(cluster.name) == []
    assert cluster.name not in Path("/proc/self/mounts").read_text()
    assert list(Path(cgroups.HIERARCHIES).glob(f"**/{cgroups.root_name(cluster.state.directory, '*')}")) == []
    assert not cluster.state.directory.exists()
