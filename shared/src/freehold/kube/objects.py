"""Objects of the API: a thin view over their JSON, and the built-in resource types that Freehold touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from freehold.kinds.resource import GroupResource

M = TypeVar("M", bound=BaseModel)

CONFIG_MAPS = GroupResource("", "v1", "configmaps", "ConfigMap")
SECRETS = GroupResource("", "v1", "secrets", "Secret")
ROLE_BINDINGS = GroupResource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding")
NAMESPACES = GroupResource("", "v1", "namespaces", "Namespace", namespaced=False)
LEASES = GroupResource("coordination.k8s.io", "v1", "leases", "Lease")
EVENTS = GroupResource("events.k8s.io", "v1", "events", "Event")
DEFINITIONS = GroupResource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
VALIDATING_WEBHOOK_CONFIGURATIONS = GroupResource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What names an object among all that Freehold works on.

    Attributes:
        kind: CamelCase kind; all of Freehold's kinds differ in it.
        namespace: empty for cluster-scoped objects.
        name: name of the object.
    """

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Object:
    """An object as the API server sent it; `raw` is not to be changed."""

    raw: Mapping[str, Any]
    _parsed: BaseModel | None = field(default=None, init=False, compare=False)

    def __repr__(self) -> str:
        # What it holds may be secret.
        return f"Object({self.key})"

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.raw.get("metadata") or {}

    @property
    def kind(self) -> str:
        return str(self.raw.get("kind", ""))

    @property
    def key(self) -> Key:
        return Key(self.kind, self.namespace, self.name)

    @property
    def name(self) -> str:
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """Empty for cluster-scoped objects."""
        return str(self.metadata.get("namespace", ""))

    @property
    def uid(self) -> str:
        return str(self.metadata.get("uid", ""))

    @property
    def generation(self) -> int:
        """Counts the changes of the spec; 0 for types that don't count."""
        return int(self.metadata.get("generation", 0))

    @property
    def resource_version(self) -> str:
        """Opaque: only equality has a meaning."""
        return str(self.metadata.get("resourceVersion", ""))

    @property
    def labels(self) -> Mapping[str, str]:
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.metadata.get("annotations") or {}

    @property
    def finalizers(self) -> tuple[str, ...]:
        return tuple(self.metadata.get("finalizers") or ())

    @property
    def deleting(self) -> bool:
        """Whether deletion was asked for and finalizers still hold the object."""
        return "deletionTimestamp" in self.metadata

    @property
    def created(self) -> datetime | None:
        """API server's time of the creation."""
        text = self.metadata.get("creationTimestamp")
        return datetime.fromisoformat(text) if text else None

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.raw.get("spec") or {}

    def parsed(self, model: type[M]) -> M:
        """The spec as a model. The same one each time: what is kept for long is asked for often.

        Raises:
            pydantic.ValidationError: the model can't hold it.
        """
        if isinstance(self._parsed, model):
            return self._parsed
        parsed = model.model_validate(self.spec)
        object.__setattr__(self, "_parsed", parsed)
        return parsed

    @property
    def status(self) -> Mapping[str, Any]:
        return self.raw.get("status") or {}


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch.

    Attributes:
        type: ADDED, MODIFIED, DELETED or BOOKMARK; others may come with newer API servers.
        object: the object after the change (before it, for DELETED); of a BOOKMARK only the resourceVersion counts.
    """

    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list.

    Attributes:
        objects: those of this page.
        resource_version: version of the whole list, from which a watch goes on.
    """

    objects: tuple[Object, ...]
    resource_version: str
