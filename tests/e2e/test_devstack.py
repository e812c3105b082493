"""The cluster tier is real: nodes run pods, die by a power cut, come back, and leave nothing, however they end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from freehold_devstack import cgroups, images
from freehold_devstack.cluster import Cluster
from freehold_devstack.processes import ProcessId, until
from freehold_devstack.state import State

IMAGE = "devstack/pause:1"


def pod(name: str, image: str) -> str:
    container = {"name": "only", "image": image, "imagePullPolicy": "Always"}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def await_condition(cluster: Cluster, resource: str, condition: str) -> None:
    cluster.kubectl("wait", resource, f"--for=condition={condition}", "--timeout=60s")


def run_pod(cluster: Cluster, name: str, image: str) -> None:
    """Run a pod until it is ready."""
    await_service_account(cluster)
    cluster.kubectl("create", "-f", "-", input=pod(name, image))
    await_condition(cluster, f"pod/{name}", "Ready")


def await_service_account(cluster: Cluster) -> None:
    def exists() -> bool:
        return cluster.kubectl("get", "serviceaccount", "default", check=False).returncode == 0

    until(exists, 20, "the default service account to be made")


class Traces:
    """What a cluster has on this machine: in its networks and control groups, whatever a process is called.

    Args:
        state: the cluster's; it must be running.
        networks: the numbers of its network namespaces.
    """

    def __init__(self, state: State, networks: set[int]) -> None:
        self._folder = state.directory
        self._groups = cgroups.root_name(state.directory, "")
        self._networks = networks
        self._noted = self._processes()

    @property
    def programs(self) -> set[str]:
        """The names of the processes that there were at first."""
        return set(self._noted.values())

    def running(self) -> list[str]:
        """The names of processes that there were and still are, and of those that have come since."""
        return [name for process, name in (self._noted | self._processes()).items() if process.alive]

    def left(self) -> list[object]:
        """Everything that there should not be once it has ended."""
        groups = cgroups.HIERARCHIES.glob(f"**/{self._groups}*")
        mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(self._folder) in line]
        return [*self.running(), *groups, *mounts, *self._folder.parent.glob(self._folder.name)]

    def _processes(self) -> dict[ProcessId, str]:
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                inside = (entry / "ns/net").stat().st_ino in self._networks
                if inside or self._groups in (entry / "cgroup").read_text():
                    found[ProcessId.of(int(entry.name))] = (entry / "comm").read_text().strip()
            except OSError:  # it has ended meanwhile, or is none that root may look into
                continue
        return found


@contextmanager
def traced(cluster: Cluster) -> Iterator[Traces]:
    """Note what a running cluster has on this machine."""
    with ExitStack() as held:
        started = [cluster.state.process(component.name) for component in cluster.state.components()]
        processes = [cluster.record.supervisor, *(process for process in started if process)]
        # Held open, so that their numbers are given to no other network meanwhile.
        files = [held.enter_context(Path(f"/proc/{process.pid}/ns/net").open("rb")) for process in processes]
        traces = Traces(cluster.state, {os.fstat(file.fileno()).st_ino for file in files})
        assert traces.programs >= {"etcd", "kubelet", "containerd", "containerd-shim", "kube-proxy", "pause"}
        yield traces


@pytest.fixture
def owned() -> Iterator[tuple[Cluster, subprocess.Popen[str]]]:
    """A cluster of another process, with a pod; and that process, which has a process group of its own."""
    program = (
        "import sys; from freehold_devstack.cluster import Cluster\n"
        "with Cluster() as own: print(own.name, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        (sys.executable, "-c", program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        cluster = Cluster(process.stdout.readline().strip())
        run_pod(cluster, "running", IMAGE)
        yield cluster, process
        process.kill()
    cluster.stop()


def test_a_pod_runs_from_an_image_that_was_added_while_the_cluster_runs(cluster: Cluster) -> None:
    added = images.pause(cluster.binaries, reference="devstack/added-later:1")
    cluster.add_images([added])
    run_pod(cluster, "added", f"registry.example/{added.reference}")


def test_an_unknown_tag_is_refused_by_the_registry(cluster: Cluster) -> None:
    await_service_account(cluster)
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
        run_pod(cluster, "running", IMAGE)
        with traced(cluster) as traces:
            cluster.stop()
            assert traces.left() == []


def test_nothing_is_left_when_the_owner_is_interrupted(owned: tuple[Cluster, subprocess.Popen[str]]) -> None:
    cluster, owner = owned
    with traced(cluster) as traces:
        os.killpg(owner.pid, signal.SIGINT)  # as by Ctrl-C
        owner.wait(60)
        assert traces.left() == []


def test_nothing_runs_on_when_the_supervisor_is_killed(owned: tuple[Cluster, subprocess.Popen[str]]) -> None:
    cluster, _ = owned
    with traced(cluster) as traces:
        cluster.record.supervisor.signal(signal.SIGKILL)
        until(lambda: traces.running() == [], 20, "all processes to be gone")
        Cluster(cluster.name).stop()
        assert traces.left() == []
