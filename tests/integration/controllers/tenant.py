"""A namespace of a team: its ProviderConfig and Secret, and what its people do with kubectl."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from freehold.kinds.resources import RESOURCES
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from tests.harness.endpoint import Endpoint

DEADLINE = 30.0
AMPLE = {each: {"rate": 10_000, "burst": 10_000} for each in ("perController", "perAccount")}
"""A budget that holds no test up."""
API = "snowflake.freehold.dev/v1alpha1"


def _resource(kind: str) -> str:
    """A kind as kubectl can't take it for another group's: Kubernetes has a NetworkPolicy of its own."""
    ours = (each.path for each in RESOURCES if each.kind == kind)
    return next((f"{path.plural}.{path.group}" for path in ours), kind)


@dataclass(frozen=True)
class Tenant:
    """One namespace.

    Attributes:
        control_plane: where it is.
        endpoint: Snowflake.
        namespace: its name.
    """

    control_plane: ControlPlane
    endpoint: Endpoint
    namespace: str

    def provide(self, user: str, password: str, name: str = "default", **spec: Any) -> None:
        """Apply a ProviderConfig and its Secret, and let Freehold read the latter."""
        self.let_secrets_be_read()
        self.secret(name, password)
        self.provider(user, name, **spec)

    def let_secrets_be_read(self) -> None:
        self._bind("freehold-secrets", "account", "schema")

    def let_exports_be_written(self) -> None:
        self._bind("freehold-exports", "schema")

    def _bind(self, role: str, *domains: str) -> None:
        """Bind a ClusterRole of the chart to controllers."""
        subjects = [
            {"kind": "ServiceAccount", "name": f"freehold-{domain}", "namespace": "freehold"} for domain in domains
        ]
        group = "rbac.authorization.k8s.io"
        bound = {"apiGroup": group, "kind": "ClusterRole", "name": role}
        self.apply("RoleBinding", role, api=f"{group}/v1", roleRef=bound, subjects=subjects)

    def secret(self, name: str, password: str) -> None:
        self.apply("Secret", name, api="v1", data={"password": base64.b64encode(password.encode()).decode()})

    def provider(self, user: str | None, name: str = "default", **spec: Any) -> None:
        """Apply a ProviderConfig: by password, unless the spec says otherwise, in which None takes a field out."""
        facts = {
            "account": "FREEHOLD-DEVSTACK",
            "host": self.endpoint.host,
            "port": self.endpoint.port,
            "caBundle": self.endpoint.ca,
            "user": user,
            "authenticationType": "UsernamePassword",
            "credentials": {"secretRef": {"name": name, "key": "password"}},
            "budget": AMPLE,
        }
        given = {field: value for field, value in {**facts, **spec}.items() if value is not None}
        self.apply("ProviderConfig", name, spec=given)

    def apply(
        self, kind: str, name: str, *, api: str = API, annotations: Mapping[str, str] | None = None, **parts: Any
    ) -> None:
        """kubectl apply --server-side."""
        metadata = {"name": name, "namespace": self.namespace, "annotations": dict(annotations or {})}
        self.kubectl(
            *("apply", "--server-side", "--force-conflicts", "-f", "-"),
            input=json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata, **parts}),
        )

    def delete(self, kind: str, *names: str) -> None:
        """Ask for deletion, without waiting."""
        self.kubectl("delete", _resource(kind), *names, "--wait=false")

    def gone(self, kind: str, *names: str) -> None:
        """Wait until resources are gone."""
        for name in names:
            until(lambda name=name: self.get(kind, name) is None, DEADLINE, f"{kind} {name} to be gone", self.describe)  # type: ignore[misc]

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        found = self.kubectl("get", _resource(kind), name, "--output=json", "--ignore-not-found").stdout
        return json.loads(found) if found else None

    def conditions(self, kind: str, name: str) -> dict[str, dict[str, Any]]:
        """Conditions that speak of the present generation, by type."""
        found = self.get(kind, name) or {}
        generation = found.get("metadata", {}).get("generation")
        told = found.get("status", {}).get("conditions", ())
        return {each["type"]: each for each in told if each["observedGeneration"] == generation}

    def reaches(self, kind: str, names: str | Iterable[str], reason: str, type_: str = "Ready") -> list[str]:
        """Wait until a condition has a reason.

        Returns:
            Its messages.
        """
        messages = []
        for name in [names] if isinstance(names, str) else names:

            def there(name: str = name) -> bool:
                return self.conditions(kind, name).get(type_, {}).get("reason") == reason

            until(there, DEADLINE, f"{kind} {name} to be {type_} {reason}", self.describe)
            messages.append(self.conditions(kind, name)[type_]["message"])
        return messages

    def ready(self, kind: str, *names: str) -> None:
        """Wait until resources are Ready."""
        self.reaches(kind, names, "Available")

    def claims(self, name: str) -> list[dict[str, Any]]:
        """Specs of the claims to all objects of a name, whoever holds them."""
        listed = json.loads(self.kubectl("get", "claims", "--output=json").stdout)["items"]
        return [each["spec"] for each in listed if each["spec"]["identity"]["fqn"] == f'"{name}"']

    def events(self, name: str) -> list[tuple[str, str]]:
        """(reason, note) of the Events about a resource."""
        found = json.loads(self.kubectl("get", "events.events.k8s.io", "--output=json").stdout)
        return [(each["reason"], each["note"]) for each in found["items"] if each["regarding"]["name"] == name]

    def describe(self) -> str:
        """What there is, for the message of a failure."""
        return self.kubectl("get", "freehold", "--output=yaml", "--ignore-not-found", check=False).stdout

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002  # the word of subprocess
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        return self.control_plane.kubectl("--namespace", self.namespace, *arguments, input=input, check=check)
