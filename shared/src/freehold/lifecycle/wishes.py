"""What the annotations of a resource, and its ProviderConfig, say of its object. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freehold.claim_rules import HAND_OVER_ANNOTATION, heir
from freehold.claims import Holder
from freehold.kinds.account.providerconfig import ABANDON_DEPENDENTS
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Subject

FORCE_DESTROY = "freehold.dev/force-destroy"
ABANDON = "freehold.dev/abandon-on-delete"
RECONCILE_NOW = "freehold.dev/reconcile-now"


def abandoned(annotations: Mapping[str, str]) -> bool:
    """Whether the object is to be left behind."""
    return annotations.get(ABANDON) == "true"


def force_destroyed(annotations: Mapping[str, str]) -> bool:
    """Whether the object is to be dropped with all that is inside."""
    return annotations.get(FORCE_DESTROY) == "true"


def with_wishes(subject: Subject, holder: Holder, annotations: Mapping[str, str], config: Object | None) -> Subject:
    """What is known of a resource, with what is said of whether its object is to stay; whether anybody can log in
    doesn't matter.

    Args:
        subject: the resource.
        holder: who it is.
        annotations: its own.
        config: its ProviderConfig, if there is one.
    """
    provider = config or Object({})
    return replace(
        subject,
        abandoned=abandoned(annotations) or provider.annotations.get(ABANDON_DEPENDENTS) == "true",
        unclear=_unclear(holder, annotations, provider.annotations),
        orphaned=(provider.spec.get("deletion") or {}).get("default") == "Orphan",
    )


def _unclear(holder: Holder, annotations: Mapping[str, str], provider: Mapping[str, str]) -> str | None:
    """The annotation that may ask to spare the object, in words that aren't understood."""
    switches = {ABANDON: annotations.get(ABANDON), ABANDON_DEPENDENTS: provider.get(ABANDON_DEPENDENTS)}
    for name, value in switches.items():
        if value not in (None, "true", "false"):
            return f'the annotation {name} is neither "true" nor "false"'
    if HAND_OVER_ANNOTATION in annotations and heir(holder, annotations) is None:
        return f"the annotation {HAND_OVER_ANNOTATION} isn't the <namespace>/<name> of another resource"
    return None
