"""Permissions that follow from the kinds: what processes and people may do with our resources, and what admission asks
about.

The chart reads them from one file and adds what has nothing to do with kinds: Secrets, Leases, Events, Namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import yaml

from freehold.claims import CLAIM
from freehold.kinds.kind import Domain, Kind, parents_among
from freehold.kinds.resource import GroupResource, Resource
from freehold.kinds.utility.declaration import Declared, Utility

GET = ("get",)
WATCH = ("list", "watch")
READ = (*GET, *WATCH)
PATCH = ("patch",)
EDIT = ("create", "update", "patch", "delete", "deletecollection")

WEBHOOK_ON_CLAIMS = ("get", "create", "update", "delete")
"""The webhook finds a claim by its name alone, and deletes only what the same request has created."""

CONTROLLERS_ON_CLAIMS = (*READ, "create", "update", "delete")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a Role: verbs on resources of one API group, where names are given on objects of these names alone."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def manifest(self) -> dict[str, list[str]]:
        named = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [self.group], "resources": list(self.resources), **named, "verbs": list(self.verbs)}


def webhook(declared: Sequence[Declared], provider_config: Resource) -> tuple[Rule, ...]:
    """What the webhook may do: read all that people declare, watch what others refer to, and claim."""
    kinds = [each for each in declared if isinstance(each, Kind)]
    return (
        *_rules(_paths(declared, provider_config), GET),
        *_rules(_paths(parents_among(kinds), provider_config), WATCH),
        *_rules([CLAIM.path], WEBHOOK_ON_CLAIMS),
    )


def controller(domain: Domain, declared: Sequence[Declared], provider_config: Resource) -> tuple[Rule, ...]:
    """What a domain's controller may do: read all that people declare, write its own (finalizers, status), and keep
    claims.

    ProviderConfigs are verified by the account domain; the others count their DROPs in the status, and an admission
    policy keeps them from the rest of it. The definition of a kind is read before a DROP, since nothing is dropped
    while that is on its way out, and watched while it isn't there, so that its return is noticed.
    """
    own = [each.resource.path for each in declared if each.domain is domain]
    definitions = tuple(sorted(path.definition for path in (*_paths(declared, provider_config), CLAIM.path)))
    if domain is Domain.ACCOUNT:
        own.append(provider_config.path)
    return (
        *_rules(_paths(declared, provider_config), READ),
        *_rules(own, PATCH),
        *_rules({*own, provider_config.path}, PATCH, subresource="status"),
        Rule("apiextensions.k8s.io", ("customresourcedefinitions",), READ, definitions),
        *_rules([CLAIM.path], CONTROLLERS_ON_CLAIMS),
    )


def people(declared: Sequence[Declared], provider_config: Resource) -> dict[str, tuple[Rule, ...]]:
    """What people may do, by the role: `view` and `edit` in their namespaces, as well as one role for each privileged
    utility, which `edit` leaves out; the others in the whole cluster.

    Nobody gets `*/status`, which tells drift from a user's change, nor writes claims, which decide what is dropped;
    `claims-admin` releases them.
    """
    privileged = [each for each in declared if isinstance(each, Utility) and each.privileged]
    common = [each for each in declared if each not in privileged]
    return {
        "view": _rules(_paths(declared, provider_config), READ),
        "edit": _rules(_paths(common, provider_config), EDIT),
        **{f"{each.resource.path.plural}-edit": _rules([each.resource.path], EDIT) for each in privileged},
        "claims-view": _rules([CLAIM.path], READ),
        "claims-admin": _rules([CLAIM.path], (*READ, "delete")),
    }


def permissions(declarations: Iterable[Declared], provider_config: Resource) -> str:
    """The file that the chart reads, as YAML.

    `admission` lists the resources that the webhook is asked about; every other key is a process, or a role of people,
    and lists the rules of its ClusterRole.

    Args:
        declarations: every kind and utility.
        provider_config: the ProviderConfig resource.
    """
    declared = sorted(declarations, key=lambda each: each.name)
    domains = sorted({Domain.ACCOUNT, *(each.domain for each in declared)}, key=lambda domain: domain.value)
    roles = {"webhook": webhook(declared, provider_config)}
    roles |= {domain.value: controller(domain, declared, provider_config) for domain in domains}
    roles |= people(declared, provider_config)
    document = {
        "admission": [
            {
                "apiGroups": [group],
                "apiVersions": sorted({path.version for path in paths}),
                "resources": _plurals(paths),
            }
            for group, paths in _by_group(_paths(declared, provider_config))
        ],
        **{role: [rule.manifest() for rule in rules] for role, rules in roles.items()},
    }
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=120)


def _paths(declared: Iterable[Declared], provider_config: Resource) -> list[GroupResource]:
    return [*(each.resource.path for each in declared), provider_config.path]


def _rules(paths: Iterable[GroupResource], verbs: tuple[str, ...], *, subresource: str = "") -> tuple[Rule, ...]:
    suffix = f"/{subresource}" if subresource else ""
    return tuple(
        Rule(group, tuple(plural + suffix for plural in _plurals(members)), verbs)
        for group, members in _by_group(paths)
    )


def _by_group(paths: Iterable[GroupResource]) -> list[tuple[str, list[GroupResource]]]:
    ordered = sorted(paths, key=lambda path: path.group)
    return [(group, list(members)) for group, members in groupby(ordered, key=lambda path: path.group)]


def _plurals(paths: Iterable[GroupResource]) -> list[str]:
    return sorted(path.plural for path in paths)
