"""What the PostgreSQL kinds have in common: references, names, status and the rules that hold of all of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, WithJsonSchema
from pydantic.config import JsonDict

from freehold.kinds.common import ObjectName, Status
from freehold.kinds.model import Model
from freehold.kinds.resource import AGE, VERSION, Column, GroupResource, Rule

POSTGRES_GROUP = "postgres.freehold.dev"

CLUSTER_CLASSES = GroupResource(
    POSTGRES_GROUP, VERSION, "postgresclusterclasses", "PostgresClusterClass", namespaced=False
)
CLUSTERS = GroupResource(POSTGRES_GROUP, VERSION, "postgresclusters", "PostgresCluster")
DATABASES = GroupResource(POSTGRES_GROUP, VERSION, "postgresdatabases", "PostgresDatabase")

Text = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
StringMap = Annotated[dict[str, Annotated[str, StringConstraints(max_length=4096)]], Field(max_length=500)]

Opaque = Annotated[dict[str, Any], WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})]
"""Of fields that are refused, whatever is in them."""


class LocalReference(Model):
    """Something in the same namespace."""

    name: ObjectName
    """Its name."""


class KeySelector(LocalReference):
    """A key of a Secret or ConfigMap in the same namespace."""

    key: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Key in its data."""


class ObjectReference(Model):
    """An object that was made."""

    api_version: str
    """Its API version."""
    kind: str
    """Its kind."""
    name: str
    """Its name, in the same namespace."""
    uid: str
    """Its uid, by which it is known to be ours."""


class Phased(Status):
    """What is known of a cluster or of databases."""

    phase: str | None = None
    """Where it stands, in one word."""
    converged_generation: int | None = None
    """Generation of the spec that was brought about in full."""


PHASE = Column("PHASE", ".status.phase")
READY_REASON = Column("REASON", '.status.conditions[?(@.type=="Ready")].reason')
READY_MESSAGE = Column("MESSAGE", '.status.conditions[?(@.type=="Ready")].message', priority=1)
LAST_COLUMNS = (READY_REASON, READY_MESSAGE, AGE)

CATEGORIES = ("freehold", "postgres")


def keyed(*names: str) -> JsonDict:
    """The JSON schema of a list whose items are told apart by fields."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [*names]}


def grows(field: str) -> Rule:
    """A quantity that was set once is neither removed nor made smaller."""
    value = "quantity(string({}))"
    new, old = value.format(f"self.{field}"), value.format(f"oldSelf.{field}")
    return Rule(
        f"!has(oldSelf.{field}) || has(self.{field}) && {new}.compareTo({old}) >= 0",
        f"{field} can't shrink, and can't be taken out again: volumes only grow; set it to what it was, or more",
        field,
    )


def positive(field: str) -> Rule:
    """A quantity is more than nothing."""
    return Rule(
        f"!has(self.{field}) || quantity(string(self.{field})).isGreaterThan(quantity('0'))",
        f"{field} must be more than 0: write a size such as 50Gi",
        field,
    )
