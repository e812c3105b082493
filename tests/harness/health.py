"""How others judge a resource by what its controller writes: kstatus (Flux, kubectl apply sets) and Argo CD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from lupa.lua51 import LuaRuntime

GUIDE = Path(__file__).parents[2] / "docs/gitops.md"


def kstatus(resource: Mapping[str, Any]) -> str:
    """The status of a resource by the rules of kstatus for kinds that it doesn't know.

    Source: kubernetes-sigs/cli-utils, `pkg/kstatus/status/generic.go` and `status.go`, in the order of `Compute`.
    """
    metadata, status = resource["metadata"], resource.get("status") or {}
    if metadata.get("deletionTimestamp"):
        return "Terminating"
    observed = status.get("observedGeneration")
    if observed is not None and "generation" in metadata and observed != metadata["generation"]:
        return "InProgress"
    conditions = status.get("conditions") or ()
    for each in conditions:
        if each["type"] == "Reconciling" and each["status"] == "True":
            return "InProgress"
        if each["type"] == "Stalled" and each["status"] == "True":
            return "Failed"
    for each in conditions:
        if each["type"] == "Ready":
            return "Current" if each["status"] == "True" else "InProgress"
    return "Current"


def argo_script() -> str:
    """The health check for Argo CD that the guide tells people to install, in Lua."""
    blocks = GUIDE.read_text().split("```yaml\n")[1:]
    (config,) = (found for found in map(_first, blocks) if found.get("kind") == "ConfigMap")
    customizations = yaml.safe_load(config["data"]["resource.customizations"])
    return str(customizations["snowflake.freehold.dev/*"]["health.lua"])


def _first(block: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load(block.split("```", maxsplit=1)[0])
    return found


def argo(resource: Mapping[str, Any]) -> tuple[str, str]:
    """Status and message that Argo CD, whose interpreter speaks Lua 5.1, shows of a resource."""
    runtime = LuaRuntime(unpack_returned_tuples=False)
    check: Any = runtime.execute(f"return function(obj) {argo_script()} end")
    found = check(runtime.table_from(resource, recursive=True))
    return found.status, found.message
