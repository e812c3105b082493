"""The process that owns an instance: starts its parts, keeps them as wanted, and takes them all along at its end.

It ends on SIGTERM, and with the process that the instance belongs to, where it belongs to one. What it starts is killed
by the kernel if it dies itself. On SIGHUP it reads again what should run. For the cluster tier it is started in a
network namespace of its own, which thereby is the control plane's, and vanishes with the last process in it.
"""

import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from secrets import randbelow
from typing import NoReturn

from freehold_devstack import cgroups, kubernetes, pki
from freehold_devstack.build import Binaries
from freehold_devstack.errors import DevstackError, StartError, tail
from freehold_devstack.kubernetes import LOOPBACK, Layout, Ports
from freehold_devstack.node import HUB, HUB_ADDRESS, REGISTRY_PORT, Node
from freehold_devstack.prerequisites import SYSTEM_PATH, Tier
from freehold_devstack.processes import WITH_PARENT, ProcessId, until
from freehold_devstack.state import Component, Record, State

READY = "ready"
"""The last line that a supervisor prints when all went well."""

START_SECONDS = 60.0
"""How long each part may take to become ready."""

PORTS = range(20_000, 32_000)
"""Where ports are picked from: below those that the kernel gives to outgoing connections."""

_RESERVED: list[socket.socket] = []
"""Bound to the ports that this process was given."""


@dataclass(frozen=True)
class Plan:
    """What a supervisor is asked to bring up.

    Attributes:
        owner: the process whose end ends the instance; none for an instance that stays until it is told to end.
    """

    name: str
    tier: Tier
    binaries: str
    nodes: int = 0
    owner: int | None = None

    def launch(self) -> subprocess.Popen[str]:
        """Start a supervisor in a session of its own; its output is a line per step, at last `READY` or an error."""
        module = (sys.executable, "-m", "freehold_devstack.supervisor")
        network = ("unshare", "--net", "--") if self.tier is Tier.CLUSTER else ()
        return subprocess.Popen(
            ("setsid", "--fork", *network, *module, json.dumps(asdict(self))),
            env=os.environ | {"PATH": SYSTEM_PATH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


class Supervisor:
    """The parts of one instance, and the order in which they come up."""

    def __init__(self, plan: Plan, report: Callable[[str], None]) -> None:
        self._plan = plan
        self._report = report
        self._state = State(plan.name)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        address = HUB_ADDRESS if plan.tier is Tier.CLUSTER else LOOPBACK
        self._layout = Layout(Binaries(Path(plan.binaries)), self._state.directory, address, Ports(*free_ports(5)))
        self._authority = pki.Authority()

    def bring_up(self) -> None:
        """Start everything.

        Raises:
            StartError: a part did not become ready in time.
        """
        self._state.create()
        record = Record(
            tier=self._plan.tier,
            supervisor=ProcessId.of(os.getpid()),
            server=self._layout.server,
            binaries=self._plan.binaries,
            owner=ProcessId.of(self._plan.owner) if self._plan.owner else None,
        )
        self._state.save_record(record)  # so that it can be ended from now on
        if self._plan.tier is Tier.CLUSTER:
            make_hub()
        self._write_credentials()
        self._start_api_server()
        self._start_controllers()
        if self._plan.tier is Tier.CLUSTER:
            self._start_nodes()
        self._state.save_record(replace(record, ready=True))

    def reconcile(self) -> None:
        """Stop what should not run any more, start what should."""
        for component in self._state.components():
            process = self._running.get(component.name)
            if component.wanted and (process is None or process.poll() is not None):
                self._start(component)
            elif process is not None and not component.wanted:
                self._stop(component.name)

    def tear_down(self) -> None:
        """Kill everything, the last started first."""
        for name in reversed(list(self._running)):
            self._stop(name)

    def _write_credentials(self) -> None:
        layout, authority = self._layout, self._authority
        service_names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost")
        pairs = {
            "ca": authority.pair,
            "server": authority.issue(
                "kube-apiserver", names=(*service_names, LOOPBACK, kubernetes.API_SERVICE, layout.address)
            ),
            "etcd": authority.issue("etcd", names=(LOOPBACK,)),
            "front-proxy": authority.issue("front-proxy"),
            "admin": authority.issue("admin", organization="system:masters"),
        }
        for name, pair in pairs.items():
            pair.write(layout.pki, name)
        (layout.pki / "service-account.key").write_bytes(pki.private_pem())
        self._write_kubeconfig(layout.kubeconfig("admin"), pairs["admin"])
        for component in ("kube-controller-manager", "kube-scheduler"):
            self._write_kubeconfig(layout.kubeconfig(component), authority.issue(f"system:{component}"))

    def _write_kubeconfig(self, path: Path, pair: pki.Pair) -> None:
        path.write_text(pki.kubeconfig(self._layout.server, self._authority.pair.certificate, pair))

    def _start_api_server(self) -> None:
        self._add("etcd", self._layout.etcd())
        self._add("kube-apiserver", self._layout.api_server())
        trust = ssl.create_default_context(cafile=self._layout.pki / "ca.crt")
        self._wait("kube-apiserver", lambda: answers(f"{self._layout.server}/readyz", trust))
        self._report(f"etcd and API server: {self._layout.server}")

    def _start_controllers(self) -> None:
        ports = self._layout.ports
        crds = str(self._layout.binaries.cert_manager_crds)
        webhooks = kubernetes.cert_manager_webhooks(ports.cert_manager_webhook)
        self._kubectl("create", "--validate=false", "-f", crds, "-f", "-", manifest=webhooks)
        self._kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
        self._add("cert-manager", self._layout.cert_manager())
        self._add("kube-controller-manager", self._layout.controller_manager())
        self._wait("cert-manager", self._cert_manager_answers)
        self._wait("kube-controller-manager", self._roles_are_aggregated)
        self._report("controller manager and cert-manager")

    def _cert_manager_answers(self) -> bool:
        # Its webhook is usable once its own CA has been injected, which only an object that it admits can tell.
        issuer = {
            "apiVersion": "cert-manager.io/v1",
            "kind": "ClusterIssuer",
            "metadata": {"name": "probe"},
            "spec": {"selfSigned": {}},
        }
        flags = ("--dry-run=server", "--validate=false")
        return self._try_kubectl("create", *flags, "-f", "-", manifest=issuer).returncode == 0

    def _roles_are_aggregated(self) -> bool:
        # The controller manager's work, without which `view`, `edit` and `admin` allow nothing.
        return bool(self._try_kubectl("get", "clusterrole", "view", "-o", "jsonpath={.rules}").stdout)

    def _start_nodes(self) -> None:
        self._add("kube-scheduler", self._layout.scheduler())
        images = str(self._state.directory / "images")
        registry = (sys.executable, "-m", "freehold_devstack.registry", images, HUB_ADDRESS, str(REGISTRY_PORT))
        self._add("registry", registry)
        binding = ("--clusterrole=system:node-proxier", "--user=system:kube-proxy")
        self._kubectl("create", "clusterrolebinding", "devstack-kube-proxy", *binding)
        nodes = [self._add_node(index) for index in range(1, self._plan.nodes + 1)]
        for name in nodes:
            self._wait(name, partial(self._node_ready, name))
            self._report(f"{name} is ready")

    def _add_node(self, index: int) -> str:
        name = f"node{index}"
        directory = self._state.directory / name
        directory.mkdir()
        node = Node(
            index,
            cgroups.root_name(self._state.directory, name),
            str(directory),
            str(self._state.directory / "volumes"),
            self._plan.binaries,
        )
        (directory / "ca.crt").write_bytes(self._authority.pair.certificate)
        kubelet = self._authority.issue(f"system:node:{name}", organization="system:nodes")
        self._write_kubeconfig(directory / "kubelet.kubeconfig", kubelet)
        self._write_kubeconfig(directory / "proxy.kubeconfig", self._authority.issue("system:kube-proxy"))
        self._add(name, node.command(os.getpid()))
        return name

    def _node_ready(self, name: str) -> bool:
        status = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}{.spec.taints}'
        return self._try_kubectl("get", "node", name, "-o", status).stdout == "True"

    def _add(self, name: str, command: tuple[str, ...]) -> None:
        component = Component(name, command)
        self._state.save_component(component)
        self._start(component)

    def _start(self, component: Component) -> None:
        with self._state.log(component.name).open("ab") as log:
            process = subprocess.Popen(
                (*WITH_PARENT, *component.command),
                cwd=self._state.directory,
                env=os.environ | dict(component.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._running[component.name] = process
        self._state.save_process(component.name, ProcessId.of(process.pid))

    def _stop(self, name: str) -> None:
        process = self._running.pop(name)
        if process.poll() is None:
            ProcessId.of(process.pid).kill()
        process.wait()
        self._state.save_process(name, None)

    def _wait(self, name: str, condition: Callable[[], bool]) -> None:
        log = self._state.log(name)

        def holds() -> bool:
            if (code := self._running[name].poll()) is not None:
                raise StartError(f"{name} has ended with exit code {code}", f"its log ({log}) ends with:\n{tail(log)}")
            return condition()

        until(holds, START_SECONDS, f"{name} to be ready", lambda: f"its log ({log}) ends with:\n{tail(log)}")

    def _kubectl(self, *arguments: str, manifest: object = None) -> None:
        result = self._try_kubectl(*arguments, manifest=manifest)
        if result.returncode:
            raise StartError(f"`kubectl {' '.join(arguments)}` failed", result.stderr.strip())

    def _try_kubectl(self, *arguments: str, manifest: object = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (self._layout.binaries.path("kubectl"), f"--kubeconfig={self._layout.kubeconfig('admin')}", *arguments),
            input=json.dumps(manifest),
            env=os.environ | {"KUBECACHEDIR": str(self._state.directory / "kubectl")},
            capture_output=True,
            text=True,
            check=False,
        )


def free_ports(count: int) -> list[int]:
    """Different TCP ports that nobody listens on, and that nobody else is given while this process lives.

    They stay bound: a server, which says SO_REUSEADDR, can listen there, while whoever else looks finds them taken.
    """
    found: list[int] = []
    while len(found) < count:
        candidate = socket.socket()
        try:
            candidate.bind(("", PORTS[randbelow(len(PORTS))]))
        except OSError:
            candidate.close()
            continue
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _RESERVED.append(candidate)
        found.append(candidate.getsockname()[1])
    return found


def make_hub() -> None:
    """In this process's own, new network: the bridge that nodes are plugged into, with the control plane's address."""
    for arguments in (
        ("link", "set", "lo", "up"),
        ("link", "add", HUB, "type", "bridge"),
        ("address", "add", f"{HUB_ADDRESS}/24", "dev", HUB),
        ("link", "set", HUB, "up"),
    ):
        subprocess.run(("ip", *arguments), check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def answers(url: str, trust: ssl.SSLContext) -> bool:
    """Whether a server answers a GET with success."""
    try:
        with urllib.request.urlopen(url, context=trust, timeout=5):  # noqa: S310 - the URL is our own
            return True
    except (urllib.error.URLError, OSError):
        return False


def end_with(owner: int) -> None:
    """Have this process told to end when that one has ended."""
    try:
        descriptor = os.pidfd_open(owner)
    except ProcessLookupError:
        sys.exit(0)

    def watch() -> None:
        select.select([descriptor], [], [])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def main() -> NoReturn:
    """Bring up the instance that the only argument describes; then do what signals say, until the end."""
    fields = json.loads(sys.argv[1])
    plan = Plan(**fields | {"tier": Tier(fields["tier"])})
    wishes: SimpleQueue[None] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, lambda *_: wishes.put(None))
    if plan.owner is not None:
        end_with(plan.owner)
    supervisor = Supervisor(plan, _say)
    keep_logs = False
    try:
        supervisor.bring_up()
        _say(READY)
        _leave_terminal(State(plan.name).log("supervisor"))
        while True:
            wishes.get()
            supervisor.reconcile()
    except DevstackError as error:
        keep_logs = True
        _say(str(error))
        sys.exit(1)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        supervisor.tear_down()
        if not keep_logs:
            State(plan.name).remove()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _leave_terminal(log: Path) -> None:
    """Let go of the pipe to whoever waits for readiness; what is said from now on goes to the log."""
    with log.open("ab") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())


if __name__ == "__main__":
    main()
