"""What a ProviderConfig lets a resource do: its allow-lists. Admission and the reconciler ask the same function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from freehold.identifiers import qualified
from freehold.kinds.account.providerconfig import LabelSelector, LabelSelectorRequirement, ProviderConfigSpec
from freehold.kinds.kind import Kind

EVERYTHING = "*"
ALL = (EVERYTHING,)

Reason = Literal["KindNotAllowed", "NamespaceNotAllowed", "DatabaseNotAllowed", "SchemaNotAllowed", "RoleNotAllowed"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a resource wants of a ProviderConfig.

    Attributes:
        kind: the resource's kind.
        namespace: its namespace.
        labels: the labels of that namespace; only looked at when the ProviderConfig has an allowedNamespaceSelector.
        parts: stored name parts of its object, outermost first.
        role: its useRole.
    """

    kind: Kind
    namespace: str
    labels: Mapping[str, str]
    parts: tuple[str, ...]
    role: str | None


@dataclass(frozen=True, slots=True)
class Denied:
    """A usage that a ProviderConfig doesn't allow.

    Attributes:
        reason: reason of the condition.
        field: field of the ProviderConfig that decided.
        message: what isn't allowed and what to do. It doesn't tell what else is allowed: that is other tenants' matter.
    """

    reason: Reason
    field: str
    message: str


def check(provider: ProviderConfigSpec, provider_key: tuple[str, str], usage: Usage) -> Denied | None:
    """The first allow-list that a usage violates, None when it is allowed.

    Args:
        provider: the ProviderConfig's spec.
        provider_key: its namespace and name.
        usage: what is wanted.
    """
    violation = next(_violations(provider, provider_key[0], usage), None)
    if violation is None:
        return None
    reason, field, what = violation
    message = (
        f"{what} isn't allowed by {field} of ProviderConfig {'/'.join(provider_key)}: "
        "use what it allows, or ask who runs it to extend the list"
    )
    return Denied(reason, field, message)


def _violations(
    provider: ProviderConfigSpec, provider_namespace: str, usage: Usage
) -> Iterator[tuple[Reason, str, str]]:
    """(reason, field of the ProviderConfig, what it refuses) of every list that is violated."""
    if usage.namespace != provider_namespace and not _allows_namespace(provider, usage):
        yield "NamespaceNotAllowed", "allowedNamespaces", f"namespace {usage.namespace}"
    if not _lists(provider.allowed_kinds or ALL, usage.kind.name):
        yield "KindNotAllowed", "allowedKinds", f"kind {usage.kind.name}"
    database, schema = _containers(usage)
    if database and not _lists(provider.allowed_databases or ALL, database):
        yield "DatabaseNotAllowed", "allowedDatabases", f"database {qualified([database])}"
    if database and schema:
        spellings = (*_spellings(schema), *_spellings(database, schema))
        if not _lists(provider.allowed_schemas or ALL, *spellings):
            yield "SchemaNotAllowed", "allowedSchemas", f"schema {qualified([database, schema])}"
    if usage.role and usage.role != provider.role and not _lists(provider.allowed_roles or (), usage.role):
        yield "RoleNotAllowed", "allowedRoles", f"role {qualified([usage.role])}"


def _lists(entries: Sequence[str], *spellings: str) -> bool:
    """Whether a list holds everything, or a name in one of its spellings."""
    return EVERYTHING in entries or any(spelling in entries for spelling in spellings)


def _spellings(*parts: str) -> Iterator[str]:
    """How a list may spell a dotted name: quoted, or bare where it can only be read in one way."""
    yield qualified(parts)
    if not any(character in part for part in parts for character in '."'):
        yield ".".join(parts)


def _containers(usage: Usage) -> tuple[str | None, str | None]:
    """Database and schema that the object lies in or is itself."""
    is_container = usage.kind.object_class in ("DATABASE", "SCHEMA")
    parts = usage.parts if is_container else usage.parts[: usage.kind.level.value - 1]
    database, schema, *_ = (*parts, None, None)
    return database, schema


def _allows_namespace(provider: ProviderConfigSpec, usage: Usage) -> bool:
    selector = provider.allowed_namespace_selector
    return _lists(provider.allowed_namespaces or (), usage.namespace) or (
        selector is not None and _selects(selector, usage.labels)
    )


def _selects(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Kubernetes' own rule: everything in a selector must hold, and an empty one selects everything."""
    exact = (selector.match_labels or {}).items() <= labels.items()
    return exact and all(_holds(requirement, labels) for requirement in selector.match_expressions or ())


def _holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    listed = labels.get(requirement.key) in (requirement.values or ())
    match requirement.operator:
        case "In":
            return listed
        case "NotIn":
            return not listed
        case "Exists":
            return requirement.key in labels
        case "DoesNotExist":
            return requirement.key not in labels
