"""The control-plane tier is real, and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.errors import AlreadyRunningError
from freehold_devstack.processes import ProcessId, until
from freehold_devstack.state import State


def apply(control_plane: ControlPlane, namespace: str, *manifests: dict[str, object]) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
    control_plane.kubectl("apply", "--namespace", namespace, "-f", "-", input=json.dumps(listed))


def certificates(kind: str, name: str, spec: dict[str, object]) -> dict[str, object]:
    return {"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def processes(name: str) -> dict[str, ProcessId]:
    """What runs for an instance."""
    state = State(name)
    record = state.record()
    assert record is not None
    running = {component.name: state.process(component.name) for component in state.components()}
    return {"supervisor": record.supervisor} | {name: process for name, process in running.items() if process}


def wait_until_gone(ids: dict[str, ProcessId]) -> None:
    until(lambda: not any(process.alive for process in ids.values()), 20, f"{', '.join(ids)} to be gone")


@pytest.fixture
def owned() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A control plane of another process: its name and that process."""
    program = (
        "import sys; from freehold_devstack.controlplane import ControlPlane\n"
        "with ControlPlane() as own: print(own.name, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        (sys.executable, "-c", program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        name = process.stdout.readline().strip()
        yield name, process
        process.kill()
    ControlPlane(name).stop()


def test_the_api_server_is_the_release_that_go_mod_names(control_plane: ControlPlane) -> None:
    go_mod = Path(__file__).parents[3] / "devstack/kubernetes/go.mod"
    version = json.loads(control_plane.kubectl("version", "--output=json").stdout)["serverVersion"]["gitVersion"]
    assert f"k8s.io/kubernetes {version}\n" in go_mod.read_text()


def test_a_service_account_may_do_what_it_was_granted_and_nothing_else(
    control_plane: ControlPlane, namespace: str
) -> None:
    control_plane.kubectl("create", "serviceaccount", "reader", "--namespace", namespace)
    control_plane.kubectl(
        *("create", "rolebinding", "reader", "--namespace", namespace),
        *("--clusterrole=view", f"--serviceaccount={namespace}:reader"),
    )
    kubeconfig = f"--kubeconfig={control_plane.kubeconfig_for(namespace, 'reader')}"

    def may_list(resource: str) -> bool:
        return control_plane.kubectl(kubeconfig, "get", resource, check=False).returncode == 0

    until(lambda: may_list("configmaps"), 20, "the grant to take effect")  # the authoriser sees it by a watch
    refused = control_plane.kubectl(kubeconfig, "get", "secrets", check=False)
    assert refused.returncode == 1
    assert f'User "system:serviceaccount:{namespace}:reader" cannot list resource "secrets"' in refused.stderr


def test_a_failed_command_says_what_kubectl_said(control_plane: ControlPlane) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        control_plane.kubectl("get", "namespace", "absent")
    assert caught.value.__notes__ == ['Error from server (NotFound): namespaces "absent" not found']


def test_cert_manager_signs_a_certificate_by_a_self_signed_authority(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    apply(
        control_plane,
        namespace,
        certificates("Issuer", "root", {"selfSigned": {}}),
        certificates(
            "Certificate",
            "ca",
            {"isCA": True, "commonName": "ca", "secretName": "ca", "issuerRef": {"name": "root"}},
        ),
        certificates("Issuer", "ca", {"ca": {"secretName": "ca"}}),
        certificates(
            "Certificate", "leaf", {"dnsNames": ["a.example"], "secretName": "leaf", "issuerRef": {"name": "ca"}}
        ),
    )
    control_plane.kubectl(
        "wait", "certificate/leaf", "--for=condition=Ready", "--timeout=30s", "--namespace", namespace
    )
    for key, name in (("ca.crt", "ca.pem"), ("tls.crt", "leaf.pem")):
        path = f"jsonpath={{.data.{key.replace('.', chr(92) + '.')}}}"
        encoded = control_plane.kubectl("get", "secret", "leaf", "--namespace", namespace, "-o", path).stdout
        decoded = subprocess.run(("base64", "-d"), input=encoded, capture_output=True, text=True, check=True).stdout
        (tmp_path / name).write_text(decoded)
    subprocess.run(("openssl", "verify", "-CAfile", tmp_path / "ca.pem", tmp_path / "leaf.pem"), check=True)


def test_cert_managers_webhook_refuses_what_it_should(control_plane: ControlPlane, namespace: str) -> None:
    bad = certificates("Issuer", "both", {"selfSigned": {}, "ca": {"secretName": "x"}})
    refused = control_plane.kubectl("create", "--namespace", namespace, "-f", "-", input=json.dumps(bad), check=False)
    assert refused.returncode == 1
    assert 'admission webhook "webhook.cert-manager.io" denied the request' in refused.stderr


def test_a_deleted_namespace_goes_with_all_that_is_in_it(control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "namespace", "short-lived")
    control_plane.kubectl("create", "configmap", "content", "--namespace", "short-lived")
    control_plane.kubectl("delete", "namespace", "short-lived", "--timeout=30s")


def test_a_second_instance_runs_beside_and_loses_nothing_when_its_api_server_stops(
    control_plane: ControlPlane,
) -> None:
    with ControlPlane() as second:
        second.kubectl("create", "configmap", "kept")
        assert control_plane.kubectl("get", "configmap", "kept", check=False).returncode == 1
        second.stop_apiserver()
        assert "refused" in second.kubectl("get", "configmap", "kept", check=False).stderr
        second.start_apiserver()
        assert second.kubectl("get", "configmap", "kept").returncode == 0
        ids = processes(second.name)
    wait_until_gone(ids)
    assert not second.state.directory.exists()


def test_an_instance_is_not_started_twice(control_plane: ControlPlane) -> None:
    assert not ControlPlane(control_plane.name).ensure_started()
    with pytest.raises(AlreadyRunningError, match=control_plane.name):
        ControlPlane(control_plane.name).start()


def test_nothing_is_left_when_the_owner_is_killed(owned: tuple[str, subprocess.Popen[str]]) -> None:
    name, owner = owned
    ids = processes(name)
    assert set(ids) == {"supervisor", "etcd", "kube-apiserver", "kube-controller-manager", "cert-manager"}
    owner.kill()
    wait_until_gone(ids)
    until(lambda: not State(name).directory.exists(), 20, "its state to be gone")


def test_no_process_outlives_a_killed_supervisor(owned: tuple[str, subprocess.Popen[str]]) -> None:
    name, _ = owned
    ids = processes(name)
    ids["supervisor"].signal(signal.SIGKILL)
    wait_until_gone(ids)
    ControlPlane(name).stop()
    assert not State(name).directory.exists()
