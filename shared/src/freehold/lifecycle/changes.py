"""What a user has changed since a spec was last applied, as far as the status of its resource tells. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freehold import fingerprint
from freehold.lifecycle.decision import Subject


def with_changes(subject: Subject, tracked: Mapping[str, str] | None, applied: Mapping[str, str]) -> Subject:
    """What is known of a resource, with what the user has changed.

    Args:
        subject: the resource.
        tracked: the fields that were ever sent, each with a hash of its value; None where that isn't known.
        applied: what the spec sets, as `fingerprint.applied` tells it.
    """
    # Without values in status, which backups lose, a difference counts as drift: detect-only must hold.
    changed = fingerprint.changed(tracked, applied) if tracked is not None else frozenset[str]()
    lost = tracked is None and subject.spec.management_policies.drift_policy == "correct"
    return replace(subject, tracked=tracked or {}, changed=changed, unsent=frozenset(applied) if lost else changed)
