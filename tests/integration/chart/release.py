"""A release of the chart on a control plane, and what its tests ask of it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.supervisor import free_ports
from tests.harness.chart import CHART, NAMESPACE, REGISTRY

ROOT = Path(__file__).parents[3]
READY_SECONDS = 30.0
GROUPS = ("freehold.dev", "snowflake.freehold.dev")


@dataclass(frozen=True)
class Release:
    """A release, installed or not.

    Attributes:
        control_plane: where it is.
        name: its name.
        namespace: its namespace.
    """

    control_plane: ControlPlane
    name: str = "freehold"
    namespace: str = NAMESPACE

    def install(self, *values: str) -> None:
        """Install it, or upgrade it to other values (`key=value`)."""
        self.control_plane.helm(
            *("upgrade", "--install", self.name, str(CHART), "--namespace", self.namespace, "--create-namespace"),
            *_set(values),
        )

    def uninstall(self) -> None:
        self.control_plane.helm("uninstall", self.name, "--namespace", self.namespace)

    def render(
        self, *values: str, files: Sequence[str] = (), chart: Path = CHART, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """What helm makes of the chart with values (`key=value`, `key=path`), without installing it."""
        given = (*_set(values), *(part for each in files for part in ("--set-file", each)))
        return self.control_plane.helm(
            "template", self.name, str(chart), "--namespace", self.namespace, *given, check=check
        )

    def manifests(self, *values: str, files: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Every rendered manifest."""
        return [document for document in yaml.safe_load_all(self.render(*values, files=files).stdout) if document]

    def kubectl(
        self, *arguments: str, user: str | None = None, manifest: object = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl, as another user if need be, with a manifest to read where `-f -` asks for one."""
        impersonate = () if user is None else ("--as", user)
        text = None if manifest is None else json.dumps(manifest)
        return self.control_plane.kubectl(*arguments, *impersonate, input=text, check=check)

    def get(self, *arguments: str) -> Any:
        """An object or a list, as JSON."""
        return json.loads(self.kubectl("get", *arguments, "--output", "json").stdout)


def service_account(component: str) -> str:
    """The user that a component of the release is."""
    return f"system:serviceaccount:{NAMESPACE}:freehold-{component}"


@contextmanager
def webhook_process(release: Release, folder: Path, *options: str) -> Iterator[Callable[[], bool]]:
    """Run the webhook as the release's service account, outside of a pod.

    Args:
        release: where it works.
        folder: of its certificate and its log.
        options: further options.

    Yields:
        Whether it is ready.
    """
    port, health_port = free_ports(2)
    control_plane = release.control_plane
    process = control_plane.spawn(
        [
            str(Path(sys.executable).parent / "freehold-webhook"),
            f"--port={port}",
            f"--health-port={health_port}",
            f"--certificate-dir={folder}",
            "--drain=0",
            *options,
        ],
        env={"KUBECONFIG": str(control_plane.kubeconfig_for(NAMESPACE, "freehold-webhook"))},
        log=folder / "webhook.log",
    )

    def ready() -> bool:
        assert process.poll() is None, (folder / "webhook.log").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{health_port}/readyz", timeout=5):
                return True
        except OSError:
            return False

    try:
        yield ready
    finally:
        process.kill()
        process.wait()


def _set(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for value in (REGISTRY, *values) for part in ("--set", value))
