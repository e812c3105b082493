"""The command lines of Kubernetes' own processes: which flags this devstack gives them, and nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack.build import Binaries

SERVICE_SUBNET = "10.96.0.0/24"
API_SERVICE = "10.96.0.1"
"""The first address of the service subnet, which Kubernetes gives to its own API."""

ISSUER = "https://kubernetes.default.svc"

ALL_INTERFACES = "0.0.0.0"
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Ports:
    """The TCP ports of one control plane."""

    etcd: int
    etcd_peer: int
    api_server: int
    cert_manager_webhook: int
    cert_manager_health: int


@dataclass(frozen=True)
class Layout:
    """Where one control plane keeps its files, and where it listens.

    Attributes:
        address: what clients reach the API server at; a loopback address means that there are no nodes.
    """

    binaries: Binaries
    directory: Path
    address: str
    ports: Ports

    @property
    def pki(self) -> Path:
        """The folder of certificates and keys."""
        return self.directory / "pki"

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://{self.address}:{self.ports.api_server}"

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of one of the components, or of the administrator."""
        return self.directory / f"{user}.kubeconfig"

    def etcd(self) -> tuple[str, ...]:
        """Etcd, on loopback with client certificates; without fsync, for nothing here outlives the machine's power."""
        client, peer = (f"https://{LOOPBACK}:{port}" for port in (self.ports.etcd, self.ports.etcd_peer))
        flags = {
            "data-dir": self.directory / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        for prefix in ("", "peer-"):
            flags |= {
                f"{prefix}cert-file": self.pki / "etcd.crt",
                f"{prefix}key-file": self.pki / "etcd.key",
                f"{prefix}trusted-ca-file": self.pki / "ca.crt",
                f"{prefix}client-cert-auth": "true",
            }
        return self._command("etcd", flags)

    def api_server(self) -> tuple[str, ...]:
        """The API server: RBAC on, service-account tokens signed by our key, webhooks reached at their endpoints."""
        alone = self.address == LOOPBACK
        flags = {
            "etcd-servers": f"https://{LOOPBACK}:{self.ports.etcd}",
            "etcd-cafile": self.pki / "ca.crt",
            "etcd-certfile": self.pki / "etcd.crt",
            "etcd-keyfile": self.pki / "etcd.key",
            "secure-port": self.ports.api_server,
            "bind-address": LOOPBACK if alone else ALL_INTERFACES,
            # A loopback address is refused as an endpoint, and an unset one is looked for on the machine's interfaces.
            "advertise-address": API_SERVICE if alone else self.address,
            "endpoint-reconciler-type": "none" if alone else "lease",
            "tls-cert-file": self.pki / "server.crt",
            "tls-private-key-file": self.pki / "server.key",
            "client-ca-file": self.pki / "ca.crt",
            "service-account-issuer": ISSUER,
            "service-account-key-file": self.pki / "service-account.key",
            "service-account-signing-key-file": self.pki / "service-account.key",
            "service-cluster-ip-range": SERVICE_SUBNET,
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "allow-privileged": "true",
            # Services are reached at their endpoints, for there is no kube-proxy where the API server runs.
            "enable-aggregator-routing": "true",
            "proxy-client-cert-file": self.pki / "front-proxy.crt",
            "proxy-client-key-file": self.pki / "front-proxy.key",
            "requestheader-client-ca-file": self.pki / "ca.crt",
            "requestheader-allowed-names": "front-proxy",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "kubelet-client-certificate": self.pki / "admin.crt",
            "kubelet-client-key": self.pki / "admin.key",
            "kubelet-preferred-address-types": "InternalIP",
            # Pods leave a dead node after seconds, not minutes.
            "default-not-ready-toleration-seconds": "15",
            "default-unreachable-toleration-seconds": "15",
        }
        return self._command("kube-apiserver", flags)

    def controller_manager(self) -> tuple[str, ...]:
        """All default controllers, each with a service account of its own, as RBAC (and garbage collection) expects."""
        flags = self._client_flags("kube-controller-manager") | {
            "service-account-private-key-file": self.pki / "service-account.key",
            "root-ca-file": self.pki / "ca.crt",
            "cluster-signing-cert-file": self.pki / "ca.crt",
            "cluster-signing-key-file": self.pki / "ca.key",
            "use-service-account-credentials": "true",
            "node-monitor-grace-period": "12s",
            "node-monitor-period": "2s",
        }
        return self._command("kube-controller-manager", flags)

    def scheduler(self) -> tuple[str, ...]:
        """The scheduler, with its defaults."""
        return self._command("kube-scheduler", self._client_flags("kube-scheduler"))

    def cert_manager(self) -> tuple[str, ...]:
        """cert-manager's controllers, CA injector and webhook in one process (certmanager.go)."""
        flags = {
            "kubeconfig": self.kubeconfig("admin"),
            "webhook-port": self.ports.cert_manager_webhook,
            "webhook-health-port": self.ports.cert_manager_health,
        }
        return self._command("cert-manager", flags)

    def _client_flags(self, component: str) -> dict[str, object]:
        kubeconfig = self.kubeconfig(component)
        return {
            "kubeconfig": kubeconfig,
            "authentication-kubeconfig": kubeconfig,
            "authorization-kubeconfig": kubeconfig,
            "leader-elect": "false",
            "secure-port": "0",
        }

    def _command(self, component: str, flags: Mapping[str, object]) -> tuple[str, ...]:
        return (self.binaries.path(component), *_arguments(flags))


def _arguments(flags: Mapping[str, object]) -> Iterable[str]:
    return (f"--{name}={value}" for name, value in flags.items())


def cert_manager_webhooks(port: int) -> dict[str, object]:
    """cert-manager's namespace and its two webhook configurations, as its chart has them, but reached by URL.

    Its own CA injector fills in the bundle.
    """
    groups = ["cert-manager.io", "acme.cert-manager.io"]
    items = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cert-manager"}},
        _webhook("Validating", port, groups, ["CREATE", "UPDATE"], "*/*"),
        _webhook("Mutating", port, groups[:1], ["CREATE"], "certificaterequests"),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _webhook(verb: str, port: int, groups: list[str], operations: list[str], resources: str) -> dict[str, object]:
    path = {"Validating": "validate", "Mutating": "mutate"}[verb]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{verb}WebhookConfiguration",
        "metadata": {
            "name": "cert-manager-webhook",
            "annotations": {"cert-manager.io/inject-ca-from-secret": "cert-manager/cert-manager-webhook-ca"},
        },
        "webhooks": [
            {
                "name": "webhook.cert-manager.io",
                "rules": [
                    {"apiGroups": groups, "apiVersions": ["v1"], "operations": operations, "resources": [resources]}
                ],
                "admissionReviewVersions": ["v1"],
                "matchPolicy": "Equivalent",
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "clientConfig": {"url": f"https://localhost:{port}/{path}"},
            }
        ],
    }
