"""Reasons of conditions, and what each of them means for the next try."""

from __future__ import annotations

from enum import Enum, StrEnum


class Reason(StrEnum):
    """Word for programs in a condition or event; stable."""

    AVAILABLE = "Available"
    RECONCILE_SUCCESS = "ReconcileSuccess"
    CREATING = "Creating"
    DELETING = "Deleting"
    ADOPTED = "Adopted"
    UPDATED = "Updated"
    DROPPED = "Dropped"
    RELEASED = "Released"
    DRIFT_DETECTED = "DriftDetected"
    DRIFT_CORRECTED = "DriftCorrected"
    NOT_CONVERGING = "NotConverging"
    OBSERVE_ONLY = "ObserveOnly"
    RECONCILE_PAUSED = "ReconcilePaused"
    IN_USE = "InUse"

    DEPENDENCY_NOT_READY = "DependencyNotReady"
    CONFLICT_DETECTED = "ConflictDetected"
    RESOURCE_ALREADY_EXISTS = "ResourceAlreadyExists"
    OWNED_BY_OTHER = "OwnedByOther"
    REPLACED = "Replaced"
    VANISHED = "Vanished"
    NOT_VISIBLE = "NotVisible"
    IDENTITY_CHANGED = "IdentityChanged"
    ACCOUNT_CHANGED = "AccountChanged"
    IMMUTABLE_FIELD = "ImmutableField"
    VALIDATION_FAILED = "ValidationFailed"
    DELETE_BLOCKED = "DeleteBlocked"
    TERMINAL_ERROR = "TerminalError"
    RECONCILE_ERROR = "ReconcileError"


class Retry(Enum):
    """When a stopped resource is tried again, beside being woken by a change of what it waits for."""

    BACKOFF = "backoff"
    """Soon, then ever later: the cause may go by itself."""
    SLOW = "slow"
    """Rarely: somebody has to change something, and most of what they can change wakes us."""


WAITING = frozenset({Reason.DEPENDENCY_NOT_READY, Reason.RECONCILE_ERROR, Reason.CREATING, Reason.DELETING})
"""Reasons that may go by themselves; all others need somebody."""


def retry_of(reason: str) -> Retry:
    return Retry.BACKOFF if reason in WAITING else Retry.SLOW
