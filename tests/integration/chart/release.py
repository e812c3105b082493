"""A release of the chart on a control plane, and what its tests ask of it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.controlplane import ControlPlane
from tests.harness.chart import CHART, NAMESPACE, REGISTRY

ROOT = Path(__file__).parents[3]
GROUPS = ("freehold.dev", "snowflake.freehold.dev")


@dataclass(frozen=True)
class Release:
    """The release `freehold` in the namespace `freehold`, installed or not."""

    control_plane: ControlPlane

    def install(self, *values: str) -> None:
        """Install it, or upgrade it to other values (`key=value`)."""
        self.control_plane.helm(
            *("upgrade", "--install", "freehold", str(CHART), "--namespace", NAMESPACE, "--create-namespace"),
            *_set(values),
        )

    def uninstall(self) -> None:
        self.control_plane.helm("uninstall", "freehold", "--namespace", NAMESPACE)

    def render(self, *values: str, chart: Path = CHART, check: bool = True) -> subprocess.CompletedProcess[str]:
        """What helm makes of the chart, without installing it."""
        return self.control_plane.helm(
            "template", "freehold", str(chart), "--namespace", NAMESPACE, *_set(values), check=check
        )

    def manifests(self, *values: str) -> list[dict[str, Any]]:
        """Every rendered manifest."""
        return [document for document in yaml.safe_load_all(self.render(*values).stdout) if document]

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


def _set(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for value in (REGISTRY, *values) for part in ("--set", value))
