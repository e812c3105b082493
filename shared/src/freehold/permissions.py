"""What a resource may do: the allow-lists of its ProviderConfig, and the installation's policy on privileged roles.
Admission and the reconciler ask the same function."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from freehold.identifiers import qualified
from freehold.identity import Name, Slot
from freehold.kinds.account.providerconfig import LabelSelector, LabelSelectorRequirement, ProviderConfigSpec
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.names import Requested
from freehold.kinds.references import references_of
from freehold.kinds.utility.declaration import Declared

EVERYTHING = "*"
ALL = (EVERYTHING,)

PRIVILEGED_ROLES = frozenset({"ACCOUNTADMIN", "SECURITYADMIN", "ORGADMIN", "GLOBALORGADMIN"})
"""Roles that make whoever has them master of the account or the organization: those that Snowflake itself calls
privileged and keeps from OAuth clients (EXTERNAL_OAUTH_ADD_PRIVILEGED_ROLES_TO_BLOCKED_LIST). USERADMIN and SYSADMIN
rule only over what they, or roles granted to them, own."""

_AS_GOOD_AS: Mapping[str, str] = {
    "MANAGE GRANTS ON ACCOUNT": "SECURITYADMIN",
    "ALL PRIVILEGES ON ACCOUNT": "ACCOUNTADMIN",
    "IMPERSONATE ON USER": "ACCOUNTADMIN",
    "MODIFY PROGRAMMATIC AUTHENTICATION METHODS ON USER": "ACCOUNTADMIN",
}
"""Grants by the privileged role that they amount to: who can act or log in as a user has whatever role he has."""

Reason = Literal[
    "KindNotAllowed",
    "NamespaceNotAllowed",
    "RefNamespaceNotAllowed",
    "DatabaseNotAllowed",
    "SchemaNotAllowed",
    "RoleNotAllowed",
    "PrivilegedRoleNotAllowed",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a resource wants of a ProviderConfig.

    Attributes:
        kind: the resource's kind.
        namespace: its namespace.
        labels: the labels of that namespace; only looked at when the ProviderConfig has an allowedNamespaceSelector.
        names: the object or the slots that it stands for; none where that isn't known.
        role: its useRole.
        recipients: account roles that it gives something to which its slots don't name, such as a new owner.
        references: the resources that it refers to, its parents among them.
    """

    kind: Declared
    namespace: str
    labels: Mapping[str, str]
    names: tuple[Name | Slot, ...]
    role: str | None
    recipients: tuple[str, ...] = ()
    references: tuple[Requested, ...] = ()

    @classmethod
    def of(
        cls,
        kind: Kind,
        namespace: str,
        labels: Mapping[str, str],
        spec: SnowflakeSpec,
        names: tuple[Name | Slot, ...] = (),
    ) -> Self:
        """What a spec wants; the arguments are the attributes, names left out where they aren't known."""
        recipients, references = kind.recipients(spec), references_of(spec, namespace)
        return cls(kind, namespace, labels, names, spec.use_role, recipients, references)


@dataclass(frozen=True, slots=True)
class Denied:
    """A usage that isn't allowed.

    Attributes:
        reason: reason of the condition.
        field: list that decided, of the ProviderConfig or of the installation.
        message: what isn't allowed and what to do. It doesn't tell what else is allowed: that is other tenants' matter.
    """

    reason: Reason
    field: str
    message: str


def check(
    provider: ProviderConfigSpec,
    provider_key: tuple[str, str],
    usage: Usage,
    *,
    allowed_privileged_roles: Collection[str] = (),
) -> Denied | None:
    """The first list that a usage violates, None when it is allowed.

    Args:
        provider: the ProviderConfig's spec.
        provider_key: its namespace and name.
        usage: what is wanted.
        allowed_privileged_roles: those of PRIVILEGED_ROLES that the installation lets resources work with.
    """
    for reason, field, what in _violations(provider, provider_key[0], usage):
        return _denied(reason, field, what, f"ProviderConfig {'/'.join(provider_key)}")
    for role, what in _privileged(provider, usage):
        if role not in allowed_privileged_roles:
            return _denied("PrivilegedRoleNotAllowed", "allowedPrivilegedRoles", what, "this installation")
    return None


def advice(provider: ProviderConfigSpec) -> tuple[str, ...]:
    """What is legal in a ProviderConfig but likely wrong, one sentence each, for people."""
    found = []
    if provider.role in PRIVILEGED_ROLES:
        found.append(
            f"spec.role {qualified([provider.role])} is privileged, and whatever uses this ProviderConfig has its "
            "rights: give it a role of its own that owns no more than it should"
        )
    if _lists(provider.allowed_namespaces or ()) and _lists(provider.allowed_roles or ()):
        found.append(
            "'*' in allowedNamespaces and in allowedRoles: every namespace may work as every role of spec.user"
        )
    return tuple(found)


def _denied(reason: Reason, field: str, what: str, owner: str) -> Denied:
    remedy = "use what it allows, or ask who runs it to extend the list"
    return Denied(reason, field, f"{what} isn't allowed by {field} of {owner}: {remedy}")


def _privileged(provider: ProviderConfigSpec, usage: Usage) -> Iterator[tuple[str, str]]:
    """(privileged role, what is refused) of all that a usage does as, to or with privileged roles."""
    # To name the ProviderConfig's own role changes nothing: without useRole, it is that one as well.
    acting = {usage.role} - {provider.role}
    named = (*acting, *_roles(usage))
    yield from ((role, f"privileged role {qualified([role])}") for role in named if role in PRIVILEGED_ROLES)
    for name in usage.names:
        for grant, role in _AS_GOOD_AS.items():
            if str(name).startswith(f"{grant} "):
                yield role, f"{grant}, which may be as good as privileged role {qualified([role])},"


def _roles(usage: Usage) -> Iterator[str]:
    """The account roles that a usage names, whether they are given, get something or are what it is about. Database
    roles go by their database."""
    yield from usage.recipients
    for name in usage.names:
        for words, parts in _objects(usage.kind.object_class, name):
            if words.endswith("ROLE") and len(parts) == 1:
                yield parts[0]


def _objects(object_class: str, name: Name | Slot) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(words before it, stored name parts) of each object that a name or slot names."""
    words = object_class
    for piece in (name,) if isinstance(name, Name) else name.phrase:
        if isinstance(piece, Name):
            yield words, piece.parts
        else:
            words = piece


def _violations(
    provider: ProviderConfigSpec, provider_namespace: str, usage: Usage
) -> Iterator[tuple[Reason, str, str]]:
    """(reason, field of the ProviderConfig, what it refuses) of every list that is violated."""
    if usage.namespace != provider_namespace and not _allows_namespace(provider, usage):
        yield "NamespaceNotAllowed", "allowedNamespaces", f"namespace {usage.namespace}"
    if not _lists(provider.allowed_kinds or ALL, usage.kind.name):
        yield "KindNotAllowed", "allowedKinds", f"kind {usage.kind.name}"
    for each in usage.references:
        if each.namespace != usage.namespace and not _lists(provider.allowed_ref_namespaces or ALL, each.namespace):
            yield "RefNamespaceNotAllowed", "allowedRefNamespaces", f"namespace {each.namespace} in spec.{each.field}"
    for name in usage.names:
        for container in (_container(*each) for each in _objects(usage.kind.object_class, name)):
            yield from _outside(provider, *container)
    if usage.role and usage.role != provider.role and not _lists(provider.allowed_roles or (), usage.role):
        yield "RoleNotAllowed", "allowedRoles", f"role {qualified([usage.role])}"
    for role in _roles(usage):
        # Without a list nobody could give anything to roles: it then is about useRole alone.
        if provider.allowed_roles and role != provider.role and not _lists(provider.allowed_roles, role):
            yield "RoleNotAllowed", "allowedRoles", f"role {qualified([role])}"
    if usage.namespace != provider_namespace and _touches(provider, usage):
        yield "RoleNotAllowed", "allowedRoles", f"what is done to the role that Freehold works as, {provider.role},"


def _touches(provider: ProviderConfigSpec, usage: Usage) -> bool:
    """Whether a usage gives away the role that Freehold works as, and all that it can with that, or changes what that
    role has, which to take back again would end Freehold's work for everybody."""
    role = provider.role
    if role is None or _lists(provider.allowed_roles or (), role):
        return False
    return role in _roles(usage)


def _lists(entries: Sequence[str], *spellings: str) -> bool:
    """Whether a list holds everything, or a name in one of its spellings."""
    return EVERYTHING in entries or any(spelling in entries for spelling in spellings)


def _spellings(*parts: str) -> Iterator[str]:
    """How a list may spell a dotted name: quoted, or bare where it can only be read in one way."""
    yield qualified(parts)
    if not any(character in part for part in parts for character in '."'):
        yield ".".join(parts)


def _container(words: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Database, and schema where there is one, that an object lies in or is itself; its words say what it is."""
    for container, depth in (("DATABASE", 1), ("SCHEMA", 2)):
        if words.endswith(container) and len(parts) == depth:
            return parts
    return parts[:-1]


def _outside(provider: ProviderConfigSpec, *container: str) -> Iterator[tuple[Reason, str, str]]:
    """The lists that a database, or a schema with its database, is missing in."""
    if container and not _lists(provider.allowed_databases or ALL, container[0]):
        yield "DatabaseNotAllowed", "allowedDatabases", f"database {qualified(container[:1])}"
    if len(container) > 1:
        spellings = (*_spellings(container[1]), *_spellings(*container))
        if not _lists(provider.allowed_schemas or ALL, *spellings):
            yield "SchemaNotAllowed", "allowedSchemas", f"schema {qualified(container)}"


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
