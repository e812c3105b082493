"""A node: containerd, kubelet and kube-proxy in namespaces of their own, so that one SIGKILL is a power cut.

Started twice: first to plug itself into the instance's network and step into new namespaces; then, as process 1 of
them, to lay private file systems over the machine's and run the three programs. What they write, they write into the
node's own folder, or into memory that goes with the node.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from freehold_devstack import cgroups
from freehold_devstack.prerequisites import SYSTEM_PATH, overlays
from freehold_devstack.processes import until

HUB = "hub"
"""The bridge in the control plane's network that all nodes are plugged into."""

HUB_ADDRESS = "10.251.0.1"
"""Where nodes and pods reach the control plane. All instances use the same addresses, each in networks of its own."""

POD_SUBNET = "10.244.0.0/16"
CLUSTER_DNS = "10.96.0.10"
REGISTRY_PORT = 5000
PAUSE_IMAGE = "devstack/pause:1"

HOME = Path("/run/node")
"""Where a node sees its folder, whatever the real one is called; short, for the sake of socket paths."""

VOLUMES = Path("/run/volumes")
"""Where a node sees the folder that all nodes of the instance share."""

BINARIES = Path("/run/kubernetes")
CNI_PLUGINS = Path("/usr/lib/cni")
CONTAINERD_SOCKET = Path("/run/containerd/containerd.sock")

KERNEL_SETTINGS = {
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
}
"""What the kubelet would set for the whole machine; it is shown files with these values instead."""

REGISTRIES = f"""\
server = "http://{HUB_ADDRESS}:{REGISTRY_PORT}"

[host."http://{HUB_ADDRESS}:{REGISTRY_PORT}"]
  capabilities = ["pull", "resolve"]
"""
"""Every image, whatever registry its name begins with, comes from the instance's own registry."""


@dataclass(frozen=True)
class Node:
    """One node.

    Attributes:
        index: from 1; the last part of its addresses.
        cgroup: name of its root in every cgroup hierarchy.
        directory: its own folder, with kubelet.kubeconfig, proxy.kubeconfig and ca.crt.
        volumes: the folder shared by all nodes.
        binaries: the folder of the Kubernetes binary.
    """

    index: int
    cgroup: str
    directory: str
    volumes: str
    binaries: str

    @property
    def name(self) -> str:
        """Its name in Kubernetes and its host name."""
        return f"node{self.index}"

    @property
    def address(self) -> str:
        """Its address on the hub."""
        return f"10.251.0.{10 + self.index}"

    @property
    def pod_subnet(self) -> str:
        """Where its pods' addresses come from."""
        return f"10.244.{self.index}.0/24"

    def command(self, network: int) -> tuple[str, ...]:
        """The command that runs it.

        Args:
            network: a process in the network that has the hub.
        """
        return ("unshare", "--net", "--", *_python("plug-in", str(network), json.dumps(asdict(self))))


def main() -> None:
    """Run a stage of a node (see the module's docstring)."""
    match sys.argv[1:]:
        case ["plug-in", network, description]:
            node = Node(**json.loads(description))
            plug_in(node, f"/proc/{network}/ns/net")
            cgroups.create(node.cgroup)
            namespaces = ("--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
            command = ("unshare", *namespaces, "--", *_python("run", description))
            os.execvp(command[0], command)  # noqa: S606 - no shell is the point
        case ["run", description]:
            run(Node(**json.loads(description)))
        case _:
            sys.exit("usage: node plug-in NETWORK_PID NODE | run NODE")


def plug_in(node: Node, network: str) -> None:
    """Connect this process's new, empty network to the hub by a pair of virtual ethernet devices."""
    port = f"port{node.index}"
    hub = ("nsenter", f"--net={network}", "--")
    here = f"/proc/{os.getpid()}/ns/net"
    subprocess.run((*hub, "ip", "link", "delete", port), check=False, stderr=subprocess.DEVNULL)  # of a node that died
    _run(*hub, "ip", "link", "add", port, "up", "master", HUB, "type", "veth", "peer", "name", "eth0", "netns", here)
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", f"{node.address}/24", "dev", "eth0")
    _run("ip", "link", "set", "eth0", "up")
    _run("ip", "route", "add", "default", "via", HUB_ADDRESS)
    _run(*hub, "ip", "route", "replace", node.pod_subnet, "via", node.address)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def run(node: Node) -> None:
    """As process 1: start the node's programs and reap; end, and with it the node, when one of them does."""
    socket.sethostname(node.name)
    mount_private(node)
    for path, text in files(node):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment = os.environ | {"PATH": SYSTEM_PATH, "TMPDIR": "/run/tmp"}
    containerd = _start("containerd", ("containerd", "--config", f"{HOME}/containerd.toml"), environment)
    until(CONTAINERD_SOCKET.exists, 30, "containerd to listen")
    kubelet = (
        f"{BINARIES}/bin/kubelet",
        f"--config={HOME}/kubelet.yaml",
        f"--kubeconfig={HOME}/kubelet.kubeconfig",
        f"--hostname-override={node.name}",
        f"--node-ip={node.address}",
        f"--root-dir={HOME}/kubelet",
        f"--cert-dir={HOME}/pki",
    )
    proxy = (f"{BINARIES}/bin/kube-proxy", f"--config={HOME}/proxy.yaml")
    programs = [containerd, _start("kubelet", kubelet, environment), _start("kube-proxy", proxy, environment)]
    numbers = [program.pid for program in programs]
    while (ended := os.wait()[0]) not in numbers:
        pass
    sys.exit(f"{programs[numbers.index(ended)].args!r} has ended")


def mount_private(node: Node) -> None:
    """Lay file systems in memory over what containerd and the kubelet write to, with the node's folders bound in."""
    bound = {HOME: node.directory, VOLUMES: node.volumes, BINARIES: node.binaries}
    run = Path(node.directory) / "run"  # not yet /run itself, which may have the node's folders in it
    run.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "tmpfs", str(run))
    for target, source in bound.items():
        (run / target.name).mkdir()
        _mount("--bind", source, str(run / target.name))
    (run / "tmp").mkdir()
    _mount("--move", str(run), "/run")
    _mount("-t", "tmpfs", "tmpfs", "/var")
    for setting, value in KERNEL_SETTINGS.items():
        file = HOME / "kernel" / setting.replace("/", ".")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{value}\n")
        _mount("--bind", str(file), f"/proc/sys/{setting}")
    _mount("--make-rshared", "/")  # volumes may ask for mount propagation


def files(node: Node) -> Iterator[tuple[Path, str]]:
    """The configuration of the node's programs: paths as the node sees them, and contents."""
    yield HOME / "containerd.toml", containerd_configuration("overlayfs" if overlays(HOME) else "native")
    yield HOME / "registries/_default/hosts.toml", REGISTRIES
    yield HOME / "cni/10-bridge.conflist", json.dumps(network(node))
    yield HOME / "resolv.conf", f"nameserver {CLUSTER_DNS}\n"
    yield HOME / "kubelet.yaml", yaml.safe_dump(kubelet_configuration(node))
    yield HOME / "proxy.yaml", yaml.safe_dump(proxy_configuration(node), default_flow_style=False)


def containerd_configuration(snapshotter: str) -> str:
    """containerd's configuration: all its files in the node's folder, images from the instance's registry."""
    return f"""\
version = 2
root = "{HOME}/containerd"
state = "/run/containerd"

[grpc]
  address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.internal.v1.opt"]
  path = "{HOME}/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  disable_apparmor = true
  restrict_oom_score_adj = true

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{HOME}/registries"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PLUGINS}"
    conf_dir = "{HOME}/cni"
"""


def network(node: Node) -> Mapping[str, object]:
    """The CNI configuration: a bridge per node, no address translation."""
    return {
        "cniVersion": "0.4.0",
        "name": "devstack",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": True,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": "/run/cni",
                    "ranges": [[{"subnet": node.pod_subnet}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }


def kubelet_configuration(node: Node) -> Mapping[str, object]:
    """The kubelet's configuration: its own cgroup root, no disk thresholds, quick signs of life."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        **({} if cgroups.unified() else {"failCgroupV1": False}),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{node.cgroup}",
        "enforceNodeAllocatable": [],
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{HOME}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "clusterDNS": [CLUSTER_DNS],
        "clusterDomain": "cluster.local",
        "resolvConf": f"{HOME}/resolv.conf",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "volumePluginDir": f"{HOME}/volume-plugins",
        "podLogsDir": f"{HOME}/logs",
        "failSwapOn": False,
        "protectKernelDefaults": False,
        "evictionHard": {
            "memory.available": "50Mi",
            **{
                f"{signal}": "0%"
                for signal in ("nodefs.available", "imagefs.available", "nodefs.inodesFree", "imagefs.inodesFree")
            },
        },
        "imageGCHighThresholdPercent": 100,
        "nodeStatusUpdateFrequency": "2s",
        "nodeLeaseDurationSeconds": 10,
        "maxPods": 60,
    }


def proxy_configuration(node: Node) -> Mapping[str, object]:
    """kube-proxy's configuration: nftables, and none of the machine's connection-tracking limits touched."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "hostnameOverride": node.name,
        "clientConnection": {"kubeconfig": f"{HOME}/proxy.kubeconfig"},
        "clusterCIDR": POD_SUBNET,
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def _start(name: str, command: tuple[str, ...], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with (HOME / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=HOME, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )


def _mount(*arguments: str) -> None:
    _run("mount", "--no-mtab", *arguments)  # mount's own table is in /run, which we replace


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "freehold_devstack.node", *arguments)


if __name__ == "__main__":
    main()
