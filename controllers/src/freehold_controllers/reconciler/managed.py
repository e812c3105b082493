"""A resource as one pass sees it: its manifest and status as models, and who it is towards claims and Snowflake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ValidationError

from freehold import validation
from freehold.claims import Holder
from freehold.kinds.common import ProviderReference, SnowflakeSpec, SnowflakeStatus
from freehold.kinds.kind import Kind
from freehold.kinds.registry import refused
from freehold.kube.objects import Key, Object
from freehold.kube.text import shortened
from freehold.lifecycle import wishes
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.wishes import RECONCILE_NOW
from freehold.recreation import FORCE_NEW_ANNOTATION
from freehold.resolve import describe
from freehold.snowflake.query_tag import QueryTag
from freehold_controllers.reconciler.outcome import Stopped


@dataclass(frozen=True, slots=True)
class Managed:
    """A resource of a Snowflake kind.

    Attributes:
        object: as it stands in the API.
        kind: its kind.
        spec: its spec; of one that is being deleted only the fields that every kind has, whatever the others hold.
    """

    object: Object
    kind: Kind
    spec: SnowflakeSpec

    @classmethod
    def read(cls, found: Object, kind: Kind) -> Self:
        """Read a resource.

        Raises:
            Stopped: the manifest isn't one of this release.
        """
        model: type[SnowflakeSpec] = kind.spec
        manifest: Mapping[str, Any] = found.spec
        if found.deleting:
            # Whatever else is wrong with it, it must be deletable; where it is abandoned, whatever it says.
            used = () if wishes.abandoned(found.annotations) else _COMMON & manifest.keys()
            model, manifest = SnowflakeSpec, {key: manifest[key] for key in used}
        try:
            spec = model.model_validate(manifest)
        except ValidationError as error:
            raise Stopped(Stop(Reason.VALIDATION_FAILED, f"the manifest can't be used: {describe(error)}")) from error
        if isinstance(spec, kind.spec):
            unbuilt = (f"spec.{name}: {why}" for name, why in refused(spec))
            if message := "; ".join([*unbuilt, *validation.faults(kind, spec)]):
                raise Stopped(Stop(Reason.VALIDATION_FAILED, message))
        return cls(found, kind, spec)

    @property
    def key(self) -> Key:
        return self.object.key

    @property
    def fills_slots(self) -> bool:
        """Whether it stands for slots, of which its manifest may ask for others than it holds."""
        return self.kind.slots is not None

    @property
    def provider(self) -> tuple[str, str]:
        """Namespace and name of its ProviderConfig."""
        reference = self.spec.provider_ref
        return reference.namespace or self.object.namespace, reference.name

    @property
    def holder(self) -> Holder:
        """Who it is as the holder of a claim."""
        found = self.object
        group = self.kind.resource.path.group
        return Holder(group=group, kind=self.kind.name, namespace=found.namespace, name=found.name, uid=found.uid)

    @property
    def tag(self) -> QueryTag:
        """Tag of the statements that serve it."""
        found = self.object
        return QueryTag(kind=self.kind.name, namespace=found.namespace, name=found.name, uid=found.uid)

    @property
    def abandoned(self) -> bool:
        return wishes.abandoned(self.object.annotations)

    @property
    def force_destroy(self) -> bool:
        return wishes.force_destroyed(self.object.annotations)

    @property
    def force_new(self) -> str | None:
        """The order to recreate the object."""
        return self.object.annotations.get(FORCE_NEW_ANNOTATION)


_COMMON = frozenset(field.alias or name for name, field in SnowflakeSpec.model_fields.items())


def asked_now(found: Object) -> str | None:
    """The latest request to look at all of an object at once, which is any text: a new one counts once."""
    asked = found.annotations.get(RECONCILE_NOW)
    return asked and shortened(asked, _ASKED)


_ASKED = 512
"""Bytes of a request that are remembered."""


def foreign_provider(found: Object) -> str | None:
    """The ProviderConfig of a resource, `<namespace>/<name>`, if it is another namespace's."""
    return None if provider_of(found)[0] == found.namespace else provider_name(found)


def provider_of(found: Object) -> tuple[str, str]:
    """Namespace and name of the ProviderConfig of a resource."""
    reference = ProviderReference.model_construct(**(found.spec.get("providerRef") or {}))
    return reference.namespace or found.namespace, reference.name


def provider_name(found: Object) -> str:
    """The same as the client layer has it, `<namespace>/<name>`."""
    return "/".join(provider_of(found))


def status_of(found: Object) -> SnowflakeStatus:
    """The status of a resource; empty where it can't be read."""
    try:
        return SnowflakeStatus.model_validate(found.status)
    except ValidationError:
        return SnowflakeStatus()
