"""What Kubernetes knows of a kind: names, models, printer columns and the CEL rules of its spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic.config import JsonDict

from freehold.kinds.model import Model

SNOWFLAKE_GROUP = "snowflake.freehold.dev"
FREEHOLD_GROUP = "freehold.dev"
VERSION = "v1alpha1"


@dataclass(frozen=True, slots=True)
class GroupResource:
    """The path of a resource type in the API.

    Attributes:
        group: API group; empty for the core group.
        version: API version.
        plural: lower-case plural, as in URLs.
        kind: CamelCase kind.
        namespaced: whether objects live in namespaces.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def definition(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule on the spec, enforced by the API server.

    Attributes:
        cel: expression over `self` (and `oldSelf`); true when the spec is legal.
        message: what is wrong and what to do.
        field: name of the spec field that the message is about, where there is one.
    """

    cel: str
    message: str
    field: str | None = None

    @property
    def validation(self) -> JsonDict:
        """The rule in a structural schema."""
        path: JsonDict = {"fieldPath": f".{self.field}"} if self.field else {}
        return {"rule": self.cel, "message": self.message, **path}


def plural(word: str) -> str:
    """The plural of a kind's name or of SQL words: `tables`, `MASKING POLICIES`."""
    stem, ending = (word[:-1], "ies") if word[-1] in "yY" else (word, "es" if word[-1] in "sS" else "s")
    return stem + (ending.upper() if word.isupper() else ending)


def ruled(*rules: Rule) -> JsonDict:
    """The JSON schema of a model inside a spec whose values must keep to rules: `json_schema_extra` of its config."""
    return {"x-kubernetes-validations": [rule.validation for rule in rules]}


def exclusive(*fields: str) -> Rule:
    """At most one of the fields is set."""
    count = " + ".join(f"(has(self.{field}) ? 1 : 0)" for field in fields)
    return Rule(f"{count} <= 1", f"set at most one of {_listed(fields)}")


def exactly_one(*fields: str) -> Rule:
    """Exactly one of the fields is set."""
    count = " + ".join(f"(has(self.{field}) ? 1 : 0)" for field in fields)
    return Rule(f"{count} == 1", f"set exactly one of {_listed(fields)}")


def at_most(low: str, high: str) -> Rule:
    """One number doesn't exceed another."""
    return Rule(
        f"!has(self.{low}) || !has(self.{high}) || self.{low} <= self.{high}",
        f"{low} must not be greater than {high}",
        low,
    )


def duration_within(field: str, least: str, most: str) -> Rule:
    """A duration is neither too short nor too long, both written as in `5m`."""
    value = f"duration(self.{field})"
    return Rule(
        f"!has(self.{field}) || {value} >= duration('{least}') && {value} <= duration('{most}')",
        f"{field} must be from {least} to {most}",
        field,
    )


def only_when(fields: Sequence[str], condition: str, message: str) -> Rule:
    """The fields may be set only while a CEL condition over the spec holds."""
    absent = " && ".join(f"!has(self.{field})" for field in fields)
    return Rule(f"({absent}) || ({condition})", message, fields[0] if len(fields) == 1 else None)


def _listed(fields: Sequence[str]) -> str:
    return f"{', '.join(fields[:-1])} and {fields[-1]}" if len(fields) > 2 else " and ".join(fields)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`.

    Attributes:
        name: its heading.
        path: JSON path from the object.
        type: OpenAPI type: string, integer, boolean or date.
        priority: 0 to show always, 1 for `-o wide` only.
    """

    name: str
    path: str
    type: str = "string"
    priority: int = 0


READY = Column("READY", '.status.conditions[?(@.type=="Ready")].status')
SYNCED = Column("SYNCED", '.status.conditions[?(@.type=="Synced")].status')
PROVIDER = Column("PROVIDER", ".spec.providerRef.name", priority=1)
# Of Synced: Ready keeps what it said while an outage, or a pause, tells nothing new of the object.
REASON = Column("REASON", '.status.conditions[?(@.type=="Synced")].reason')
MESSAGE = Column("MESSAGE", '.status.conditions[?(@.type=="Synced")].message', priority=1)
AGE = Column("AGE", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class Resource:
    """A custom resource kind.

    Attributes:
        path: its place in the API.
        spec: model of the spec; its docstring describes the kind.
        status: model of the status; None for kinds without the status subresource.
        short_names: for kubectl.
        columns: of `kubectl get`, after NAME.
        rules: CEL rules of the spec beside those that follow from its fields.
        name_rules: CEL rules of `self.metadata.name`.
        categories: of `kubectl get`.
    """

    path: GroupResource
    spec: type[Model]
    status: type[Model] | None
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = (AGE,)
    rules: tuple[Rule, ...] = ()
    name_rules: tuple[Rule, ...] = ()
    categories: tuple[str, ...] = ("freehold",)

    @property
    def kind(self) -> str:
        return self.path.kind
