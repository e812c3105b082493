"""FieldExport: one value of a status, kept in a key of a ConfigMap or Secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, WithJsonSchema

from freehold import exports
from freehold.identity import Identity, Name, Slot
from freehold.kinds.account.providerconfig import Duration
from freehold.kinds.common import ObjectName, Status
from freehold.kinds.fields import immutable
from freehold.kinds.kind import Domain
from freehold.kinds.model import Model
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import (
    AGE,
    FREEHOLD_GROUP,
    MESSAGE,
    READY,
    REASON,
    VERSION,
    Column,
    GroupResource,
    Resource,
    duration_within,
)
from freehold.kinds.utility.declaration import Utility
from freehold.kube.objects import CONFIG_MAPS, SECRETS

TARGETS: Mapping[str, GroupResource] = {each.kind: each for each in (CONFIG_MAPS, SECRETS)}
"""What a value may be kept in, by kind."""

SourceKind = Annotated[str, WithJsonSchema({"type": "string", "enum": list(KINDS)})]


class Source(Model):
    """A resource of Freehold in the namespace of the FieldExport."""

    kind: SourceKind = immutable(required=True)
    """Kind of the resource."""
    name: ObjectName = immutable(required=True)
    """Name of the resource."""


class From(Model):
    """What is exported."""

    resource: Source
    """The resource."""
    path: Annotated[str, StringConstraints(max_length=255, pattern=r"^\.status\.[^.\[]+(\.[^.\[]+)*$")]
    """Field of its status, names with dots between them: `.status.showOutput.name`. What is no text is exported as
    JSON; an item of a list can't be named."""


class To(Model):
    """Where the value is kept, in the namespace of the FieldExport."""

    kind: Literal["ConfigMap", "Secret"] = immutable(required=True)
    """ConfigMap or Secret. Sensitive fields go to Secrets alone."""
    name: ObjectName = immutable(required=True)
    """Its name. It is made if there is none, and goes with the last key if it was made so."""
    key: Annotated[str, StringConstraints(pattern=r"^[-._a-zA-Z0-9]+$")] = immutable(
        required=True, min_length=1, max_length=253
    )
    """Key in its data. One that is there already is left alone."""


class FieldExportSpec(Model):
    """One value of a resource's status, kept up to date in a key of a ConfigMap or Secret for those who need it."""

    from_: From = Field(alias="from")
    """The value."""
    to: To
    """The place."""
    refresh_interval: Duration = "2m"
    """Time between looks at the place; the value itself is followed at once. 10s to 24h."""


class FieldExportStatus(Status):
    """What was exported last."""

    last_exported_value_hash: str | None = None
    """sha256 of the value, in hex."""
    target: str | None = None
    """The place, once something is to be written there: kind, name and key."""


def _identities(spec: FieldExportSpec, namespace: str, account: str) -> tuple[Identity, ...]:
    """A key has one writer, so the key is what is claimed."""
    to = spec.to
    slot = Slot(("KEY", Name((to.key,)), f"OF {to.kind.upper()}", Name((namespace, to.name))))
    return (Identity(account, "KEY", slot),)


def _faults(spec: FieldExportSpec) -> tuple[str, ...]:
    source = spec.from_.resource
    if source.kind not in KINDS:
        return (f"spec.from.resource.kind: this release has no kind {source.kind}",)
    try:
        path = exports.segments(spec.from_.path)
    except ValueError as error:
        return (f"spec.from.path: {error}",)
    found = exports.sensitive(KINDS[source.kind], path)
    if found is None or spec.to.kind == SECRETS.kind:
        return ()
    what = "is" if found == spec.from_.path else f"shows {found}, which is"
    return (f"spec.from.path: {spec.from_.path} of a {source.kind} {what} sensitive: set spec.to.kind to Secret",)


FIELD_EXPORT = Utility(
    resource=Resource(
        path=GroupResource(FREEHOLD_GROUP, VERSION, "fieldexports", "FieldExport"),
        spec=FieldExportSpec,
        status=FieldExportStatus,
        short_names=("fexp",),
        columns=(
            READY,
            Column("KIND", ".spec.from.resource.kind"),
            Column("RESOURCE", ".spec.from.resource.name"),
            Column("PATH", ".spec.from.path", priority=1),
            Column("TARGET", ".status.target"),
            REASON,
            MESSAGE,
            AGE,
        ),
        rules=(duration_within("refreshInterval", "10s", "24h"),),
    ),
    domain=Domain.SCHEMA,
    identities=_identities,
    faults=_faults,
)
