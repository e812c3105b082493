"""What the chart installs beside pods, for tests that run Freehold's processes themselves."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import yaml

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
    rendered = _render(control_plane, "crds", "rbac", "policies", "flowcontrol", "certificates")
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=rendered)
    control_plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")


def register_webhook(control_plane: ControlPlane, url: str, ca: bytes) -> None:
    """Have the API server ask a webhook about all that the chart has it ask about.

    Args:
        control_plane: of the API server.
        url: of the webhook, in place of the chart's Service.
        ca: PEM of whoever signed its certificate.
    """
    (found,) = (
        each
        for each in yaml.safe_load_all(_render(control_plane, "admission"))
        if each["kind"] == "ValidatingWebhookConfiguration"
    )
    for each in found["webhooks"]:
        each["clientConfig"] = {"url": url, "caBundle": base64.b64encode(ca).decode()}
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(found))


def _render(control_plane: ControlPlane, *templates: str) -> str:
    return control_plane.helm(
        *("template", "freehold", str(CHART), f"--namespace={NAMESPACE}"),
        *("--set", f"{REGISTRY},certificates.mode=selfManaged,fieldExports.enabled=true"),
        *(f"--show-only=templates/{name}.yaml" for name in templates),
    ).stdout
