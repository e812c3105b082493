"""What the chart installs beside pods, for tests that run Freehold's processes themselves."""

from __future__ import annotations

from pathlib import Path

from freehold_devstack.controlplane import ControlPlane

CHART = Path(__file__).parents[2] / "charts/freehold"
NAMESPACE = "freehold"
REGISTRY = "image.registry=registry.example"
"""The one value that has no default."""


def install_without_pods(control_plane: ControlPlane) -> None:
    """Definitions, service accounts, roles, policies and flow control of the chart, as the release `freehold`.

    Certificates are of the mode selfManaged: its Secret is there for those who use it.
    """
    control_plane.kubectl("create", "namespace", NAMESPACE)
    templates = ("crds", "rbac", "policies", "flowcontrol", "certificates")
    rendered = control_plane.helm(
        *("template", "freehold", str(CHART), f"--namespace={NAMESPACE}"),
        *("--set", f"{REGISTRY},certificates.mode=selfManaged"),
        *(f"--show-only=templates/{name}.yaml" for name in templates),
    )
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=rendered.stdout)
    control_plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
