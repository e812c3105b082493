"""Which nodes the servers of a cluster run on, in the words of CloudNativePG and Kubernetes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from freehold.kinds.model import Model
from freehold.postgres.common import StringMap

Label = Annotated[str, StringConstraints(min_length=1, max_length=317)]
Labels = Annotated[list[Label], Field(max_length=100)]


class Toleration(Model):
    """A taint that is put up with."""

    key: Label | None = None
    """Key of the taint; without one, all keys, with operator Exists."""
    operator: Literal["Exists", "Equal"] | None = None
    """Whether the taint's value counts. By default it does."""
    value: Annotated[str, StringConstraints(max_length=63)] | None = None
    """The taint's value."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint; by default any."""
    toleration_seconds: int | None = None
    """How long NoExecute is put up with; by default for ever."""


class Requirement(Model):
    """One requirement on a label or field."""

    key: Label
    """The label or field."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    """How its value is compared."""
    values: Annotated[list[Annotated[str, StringConstraints(max_length=253)]], Field(max_length=100)] | None = None
    """What it is compared with."""


Requirements = Annotated[list[Requirement], Field(max_length=50)]


class NodeTerm(Model):
    """Requirements on a node that must all hold."""

    match_expressions: Requirements | None = None
    """Of its labels."""
    match_fields: Requirements | None = None
    """Of its fields."""


class RequiredNodes(Model):
    """Nodes that alone will do."""

    node_selector_terms: Annotated[list[NodeTerm], Field(min_length=1, max_length=50)]
    """Terms of which one must hold."""


class PreferredNodes(Model):
    """Nodes that are preferred."""

    weight: int = Field(ge=1, le=100)
    """How much."""
    preference: NodeTerm
    """Which ones."""


class NodeAffinity(Model):
    """Nodes that are required or preferred."""

    required_during_scheduling_ignored_during_execution: RequiredNodes | None = None
    """Nodes that alone will do."""
    preferred_during_scheduling_ignored_during_execution: (
        Annotated[list[PreferredNodes], Field(max_length=50)] | None
    ) = None
    """Nodes that are preferred."""


class Affinity(Model):
    """Nodes for the servers, and how far these keep from one another."""

    enable_pod_anti_affinity: bool | None = None
    """Whether servers keep away from one another. By default they do."""
    topology_key: Label | None = None
    """Label of nodes within whose values they keep away; by default kubernetes.io/hostname."""
    pod_anti_affinity_type: Literal["preferred", "required"] | None = None
    """Whether a server waits where that can't be had. By default it doesn't."""
    node_selector: StringMap | None = None
    """Labels that nodes must have."""
    node_affinity: NodeAffinity | None = None
    """Nodes that are required or preferred."""
    tolerations: Annotated[list[Toleration], Field(max_length=50)] | None = None
    """Taints of nodes that are put up with."""


class PodRequirement(Model):
    """One requirement on a label of a pod."""

    key: Label
    """The label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How its value is compared."""
    values: Annotated[list[Annotated[str, StringConstraints(max_length=63)]], Field(max_length=100)] | None = None
    """What it is compared with."""


class PodSelector(Model):
    """Pods by their labels."""

    match_labels: StringMap | None = None
    """Exact values."""
    match_expressions: Annotated[list[PodRequirement], Field(max_length=50)] | None = None
    """Requirements that must all hold."""


class TopologySpread(Model):
    """How evenly servers are spread."""

    max_skew: int = Field(ge=1)
    """By how many they may differ."""
    topology_key: Label
    """Label of nodes over whose values they are spread."""
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    """Whether a server waits where that can't be had."""
    label_selector: PodSelector | None = None
    """Pods that are counted."""
    match_label_keys: Labels | None = None
    """Labels by whose values pods are counted apart."""
    min_domains: int | None = Field(default=None, ge=1)
    """How many values there must be at least."""
    node_affinity_policy: Literal["Honor", "Ignore"] | None = None
    """Whether only nodes count that the servers may run on. By default so."""
    node_taints_policy: Literal["Honor", "Ignore"] | None = None
    """Whether nodes count whose taints aren't put up with. By default they do."""
