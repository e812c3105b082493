"""Reasons of conditions and events, and which of them may go by themselves."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Word for programs in a condition or event; stable."""

    AVAILABLE = "Available"
    RECONCILE_SUCCESS = "ReconcileSuccess"
    CREATED = "Created"
    DELETING = "Deleting"
    ADOPTED = "Adopted"
    UPDATED = "Updated"
    DROPPED = "Dropped"
    RELEASED = "Released"
    HANDED_OVER = "HandedOver"
    DRIFT_DETECTED = "DriftDetected"
    DRIFT_CORRECTED = "DriftCorrected"
    NOT_CONVERGING = "NotConverging"
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    OBSERVE_ONLY = "ObserveOnly"
    RECONCILE_PAUSED = "ReconcilePaused"
    READ_ONLY = "ReadOnly"
    IN_USE = "InUse"
    NOT_HELD = "NotHeld"

    DEPENDENCY_NOT_READY = "DependencyNotReady"
    CONFLICT_DETECTED = "ConflictDetected"
    AWAITING_HAND_OVER = "AwaitingHandOver"
    RESOURCE_ALREADY_EXISTS = "ResourceAlreadyExists"
    OWNED_BY_OTHER = "OwnedByOther"
    REPLACED = "Replaced"
    VANISHED = "Vanished"
    NOT_VISIBLE = "NotVisible"
    UNUSABLE = "Unusable"
    IDENTITY_CHANGED = "IdentityChanged"
    IMMUTABLE_FIELD = "ImmutableField"
    DESTRUCTIVE_CHANGE = "DestructiveChange"
    VALIDATION_FAILED = "ValidationFailed"
    DELETE_BLOCKED = "DeleteBlocked"
    TERMINAL_ERROR = "TerminalError"
    RECONCILE_ERROR = "ReconcileError"

    KIND_NOT_ALLOWED = "KindNotAllowed"
    NAMESPACE_NOT_ALLOWED = "NamespaceNotAllowed"
    REF_NAMESPACE_NOT_ALLOWED = "RefNamespaceNotAllowed"
    DATABASE_NOT_ALLOWED = "DatabaseNotAllowed"
    SCHEMA_NOT_ALLOWED = "SchemaNotAllowed"
    ROLE_NOT_ALLOWED = "RoleNotAllowed"
    PRIVILEGED_ROLE_NOT_ALLOWED = "PrivilegedRoleNotAllowed"

    ACCOUNT_CHANGED = "AccountChanged"
    CIRCUIT_OPEN = "CircuitOpen"
    CREDENTIALS_ERROR = "CredentialsError"
    HOST_NOT_ALLOWED = "HostNotAllowed"
    INVALID_CONFIG = "InvalidConfig"
    NOT_SUPPORTED = "NotSupported"
    PING_FAILED = "PingFailed"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105  # a word
    WORKLOAD_IDENTITY_NOT_ALLOWED = "WorkloadIdentityNotAllowed"


PASSING = frozenset(
    {
        Reason.DEPENDENCY_NOT_READY,
        Reason.RECONCILE_ERROR,
        Reason.DELETING,
        Reason.PING_FAILED,
        Reason.CIRCUIT_OPEN,
    }
)
"""Reasons whose cause may go by itself, so that they are tried again soon, then ever later. For all others somebody has
to change something, and most of what they can change wakes us: these are tried again rarely."""

LOST = frozenset({Reason.VANISHED, Reason.NOT_VISIBLE, Reason.REPLACED, Reason.OWNED_BY_OTHER, Reason.OBSERVE_ONLY})
"""Reasons that tell of an object that it isn't there, or is another's: what refers to it isn't as it was either."""

OBSERVED = LOST | {Reason.READ_ONLY, Reason.UNUSABLE}
"""Reasons that rest on what was seen in Snowflake, of whose end nothing tells us."""

AWAITED = frozenset({Reason.RECONCILE_PAUSED, Reason.OBSERVE_ONLY, Reason.READ_ONLY, Reason.AWAITING_HAND_OVER})
"""Reasons that are no failure although nothing goes on: somebody wants it so, or another's next step is awaited."""
