"""What every Snowflake kind has in common: provider, policies, references, status and conditions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints
from pydantic.config import JsonDict

from freehold.identifiers import MAX_LENGTH
from freehold.kinds.fields import immutable
from freehold.kinds.model import Model

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LENGTH, pattern=r"^[^\x00]+$")]
"""A stored name: case kept, never folded, one part; dots, blanks and quotes are ordinary characters."""

ObjectName = Annotated[str, StringConstraints(min_length=1, max_length=253)]
"""Name of a Kubernetes object."""


class Reference(Model):
    """Another resource of Freehold."""

    name: ObjectName
    """Name of the resource."""
    namespace: ObjectName | None = None
    """Its namespace; by default that of the referring resource."""


class ProviderReference(Model):
    """The ProviderConfig to work with."""

    name: ObjectName = "default"
    """Name of the ProviderConfig."""
    namespace: ObjectName | None = None
    """Its namespace, which must allow this one; by default that of the resource."""


class ManagementPolicies(Model):
    """How far Freehold goes with the object."""

    adoption_policy: Literal["adopt", "fail-if-exists"] = "fail-if-exists"
    """What to do when the object exists already and isn't ours: take it over, or leave it alone and say so."""
    drift_policy: Literal["correct", "detect-only"] = "correct"
    """What to do when the object was changed from outside: change it back, or only report it."""
    observe_only: bool = False
    """Only watch the object: nothing is claimed, created, altered or dropped."""
    create_or_alter: bool | None = None
    """Update the object by one CREATE OR ALTER instead of ALTER, where the account has that and nothing that the spec
    doesn't set would be lost by it. By default false."""


class SnowflakeSpec(Model):
    """Fields that every Snowflake kind has."""

    provider_ref: ProviderReference = ProviderReference()
    """The account and credentials to work with."""
    use_role: Name | None = immutable()
    """Role that owns and changes the object; the ProviderConfig must allow it. By default the ProviderConfig's role."""
    deletion_policy: Literal["Delete", "Orphan"] | None = None
    """What happens to the object when the resource is deleted. By default Delete, but an adopted object that holds
    data is dropped only when Delete is written out."""
    vanished_policy: Literal["Stop", "Recreate"] | None = None
    """What to do when the object has disappeared. By default Stop where it holds data, else Recreate."""
    paused: bool = False
    """Send nothing to Snowflake, not even a DROP, until this is false again."""
    management_policies: ManagementPolicies = ManagementPolicies()
    """Adoption, drift, observation and how updates are sent."""


class Condition(Model):
    """One aspect of the state, in the form of all Kubernetes conditions."""

    type: Annotated[str, StringConstraints(max_length=316)]
    """The aspect, such as Ready."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, StringConstraints(max_length=1024)]
    """Why, in one word for programs."""
    message: Annotated[str, StringConstraints(max_length=32768)]
    """Why, and what to do next, for people."""
    last_transition_time: datetime
    """When status was last another one."""
    observed_generation: int | None = None
    """The generation of the manifest that it speaks of."""


class Status(Model):
    """Fields that every status has."""

    observed_generation: int | None = None
    """Generation of the spec that the conditions speak of."""
    conditions: list[Condition] | None = Field(
        default=None, json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    )
    """Ready: the object is as declared. Synced: the last reconcile did what it had to."""


_WHOLE: Final[JsonDict] = {"x-kubernetes-map-type": "atomic"}
"""Of maps that are applied as a whole. A server-side apply that takes the last key out of another map stores null."""


class SnowflakeStatus(Status):
    """What was last seen and done."""

    fully_qualified_name: str | None = None
    """The object in SQL."""
    account: str | None = None
    """The account that it lives in, as ORGANIZATION.ACCOUNT."""
    last_applied_spec_hash: str | None = None
    """Hash of all fields whose values were applied last."""
    tracked_parameters: dict[str, str] | None = Field(default=None, json_schema_extra=_WHOLE)
    """Fields that were sent to Snowflake, which are reset when they leave the spec. Each has a short hash of the value
    that was applied last, which tells drift from a change of the spec; it is empty before that value was seen."""
    plan: list[str] | None = None
    """Statements that would be sent if the controllers didn't run in mode ReadOnly."""
    show_output: dict[str, str] | None = Field(default=None, json_schema_extra=_WHOLE)
    """Stable columns of the object's row in SHOW."""
    parameters: dict[str, str] | None = Field(default=None, json_schema_extra=_WHOLE)
    """Effective values of fields that the spec leaves alone, as the last look at all of the object found them."""
    outputs: dict[str, str] | None = Field(default=None, json_schema_extra=_WHOLE)
    """What Snowflake has made for the object and others need to know, such as whom a cloud has to trust."""
    last_handled_reconcile_now: str | None = None
    """Value of the annotation freehold.dev/reconcile-now that was answered last."""
