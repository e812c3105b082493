"""The manifests of docs/scenarios, and the deadlines within which they come, are mended and go."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until

FOLDER = Path(__file__).parents[3] / "docs/scenarios/analytics-platform"
EXAMPLES = ("snowflake", "fieldexports")
"""Categories and kinds of all that the scenario declares."""

Manifest = dict[str, Any]


def declared() -> list[Manifest]:
    """What `kubectl apply -k` applies."""
    files = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    return [each for file in files for each in yaml.safe_load_all((FOLDER / file).read_text())]


def prepared() -> list[Manifest]:
    """What the platform team applies before."""
    return list(yaml.safe_load_all((FOLDER / "setup/setup.yaml").read_text()))


def shuffled(manifests: Sequence[Manifest], seed: int) -> list[Manifest]:
    """The same in another order, which a seed tells."""
    return random.Random(seed).sample(manifests, k=len(manifests))  # noqa: S311  # to be repeated, not a secret


def listed(manifests: Iterable[Manifest]) -> str:
    """What kubectl reads."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})


class Scene:
    """The scenario's resources in a cluster."""

    def __init__(self, control_plane: ControlPlane) -> None:
        """
        Args:
            control_plane: where they are.
        """
        self._control_plane = control_plane

    def apply(self, manifests: Iterable[Manifest]) -> None:
        self._control_plane.kubectl("apply", "-f", "-", input=listed(manifests))

    def delete(self, manifests: Iterable[Manifest]) -> None:
        """Ask for deletion, without waiting."""
        self._control_plane.kubectl("delete", "-f", "-", "--wait=false", input=listed(manifests))

    def ready(self, seconds: float) -> None:
        """Wait until every resource is Ready."""
        until(
            lambda: not list(self._unready()), seconds, "the scenario to be Ready", lambda: "\n".join(self._unready())
        )

    def gone(self, seconds: float) -> None:
        """Wait until no resource is left, and no claim."""

        def left() -> str:
            return "\n".join([*self._unready(), *(each["metadata"]["name"] for each in self._get("claims"))])

        until(lambda: not self._resources() and not self._get("claims"), seconds, "the scenario to be gone", left)

    def _unready(self) -> Iterable[str]:
        for each in self._resources():
            conditions = each.get("status", {}).get("conditions", ())
            ready: Manifest = next((one for one in conditions if one["type"] == "Ready"), {})
            if ready.get("status") != "True":
                name = f"{each['kind']} {each['metadata']['namespace']}/{each['metadata']['name']}"
                yield f"{name}: {ready.get('reason')}: {ready.get('message')}"

    def _resources(self) -> list[Manifest]:
        return [each for each in self._get(",".join(EXAMPLES)) if each["kind"] != "ProviderConfig"]

    def _get(self, what: str) -> list[Manifest]:
        found = self._control_plane.kubectl("get", what, "--all-namespaces", "--output=json").stdout
        items: list[Manifest] = json.loads(found)["items"]
        return items
