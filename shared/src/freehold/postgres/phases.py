"""What CloudNativePG's word on a Cluster means: whether the database can be used, and how far our own work is.

CloudNativePG says in a phase what it is doing. It doesn't say which generation of the Cluster it has seen: right after
a write of ours, its phase is that of before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import Any

from freehold.kube.objects import Object

HEALTHY = "Cluster in healthy state"

HIBERNATED = "cnpg.io/hibernation"
"""The condition of a Cluster whose pods are put away."""

SETTLING = timedelta(seconds=10)
"""How long Healthy isn't believed after a write of ours that CloudNativePG has shown no answer to: some changes never
show in its phase."""


class Phase(StrEnum):
    """Where a PostgresCluster stands, as its status says."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    CONFIGURING = "Configuring"
    READY = "Ready"
    HIBERNATED = "Hibernated"
    FAILED = "Failed"


class Severity(Enum):
    """What a phase asks of people."""

    NONE = "nothing: it passes"
    WARNING = "attention: the database may be out of reach for now"
    ERROR = "help: it won't pass by itself"


class Use(Enum):
    """Whether the database can be used in a phase."""

    NO = "there is no primary"
    IF_PRIMARY = "if the primary is among the healthy instances"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a phase of CloudNativePG's means.

    Attributes:
        phase: ours.
        reason: of the condition, stable.
        use: whether the database can be used.
        severity: what it asks of people.
    """

    phase: Phase
    reason: str
    use: Use = Use.IF_PRIMARY
    severity: Severity = Severity.NONE


_PROVISIONING = Meaning(Phase.PROVISIONING, "CNPGClusterProvisioning")
_RECOVERY = Meaning(Phase.PENDING, "CNPGClusterRecovery", severity=Severity.WARNING)
_RESTARTING = Meaning(Phase.CONFIGURING, "CNPGRestarting")
_UPGRADING = Meaning(Phase.CONFIGURING, "CNPGUpgrading")


def _failed(reason: str, use: Use = Use.IF_PRIMARY) -> Meaning:
    return Meaning(Phase.FAILED, reason, use, Severity.ERROR)


UNKNOWN = Meaning(Phase.PENDING, "CNPGPhaseUnknown", severity=Severity.WARNING)
"""Of a phase that the table lacks: a newer CloudNativePG has more of them."""

PHASES: Mapping[str, Meaning] = {
    "": Meaning(Phase.PENDING, "CNPGClusterProvisioning", Use.NO),
    HEALTHY: Meaning(Phase.READY, "CNPGClusterHealthy"),
    "Setting up primary": Meaning(Phase.PROVISIONING, "CNPGClusterProvisioning", Use.NO),
    "Creating a new replica": _PROVISIONING,
    "Waiting for the instances to become active": _PROVISIONING,
    "Switchover in progress": Meaning(Phase.CONFIGURING, "CNPGSwitchover"),
    "Failing over": Meaning(Phase.CONFIGURING, "CNPGFailingOver", Use.NO, Severity.WARNING),
    "Primary instance is being restarted in-place": _RESTARTING,
    "Primary instance is being restarted without a switchover": _RESTARTING,
    "Upgrading cluster": _UPGRADING,
    "Upgrading Postgres major version": Meaning(Phase.CONFIGURING, "CNPGUpgrading", Use.NO),
    "Cluster upgrade delayed": _UPGRADING,
    "Online upgrade in progress": _UPGRADING,
    "Applying configuration": Meaning(Phase.CONFIGURING, "CNPGApplyingConfiguration"),
    "Promoting to primary cluster": Meaning(Phase.CONFIGURING, "CNPGPromoting"),
    "Waiting for user action": _failed("CNPGWaitingForUser"),
    "Cluster is unrecoverable and needs manual intervention": _failed("CNPGUnrecoverable", Use.NO),
    "Unable to create required cluster objects": _failed("CNPGProvisioningFailed"),
    "Cluster cannot proceed to reconciliation due to an unknown plugin being required": _failed("CNPGPluginError"),
    "Cluster cannot proceed to reconciliation due to an error while interacting with plugins": _failed(
        "CNPGPluginError"
    ),
    "Cluster has incomplete or invalid image catalog": _failed("CNPGImageError"),
    "Cluster cannot execute instance online upgrade due to missing architecture binary": _failed("CNPGImageError"),
    "Invalid cluster definition": _failed("CNPGInvalidDefinition"),
    # These two are literals in CloudNativePG's controller, and no constants.
    "Not enough disk space": _failed("CNPGDiskFull", Use.NO),
    "Instance Status Extraction Error: HTTP communication issue": Meaning(
        Phase.CONFIGURING, "CNPGInstanceUnreachable", severity=Severity.WARNING
    ),
}
"""All phases of CloudNativePG 1.28 to 1.30, and what each means."""


@dataclass(frozen=True, slots=True)
class Written:
    """Our last write of a Cluster's spec, as it is kept in the status so that a restart forgets nothing.

    Attributes:
        generation: of the Cluster after it.
        at: when it was.
        answered: whether CloudNativePG has shown another phase than Healthy since.
    """

    generation: int
    at: datetime
    answered: bool = False

    def seen(self, live: Object) -> Written:
        """The same write after a look at the Cluster."""
        answered = live.generation >= self.generation and str(live.status.get("phase", "")) not in ("", HEALTHY)
        return Written(self.generation, self.at, answered=True) if answered else self


@dataclass(frozen=True, slots=True)
class Standing:
    """How a cluster stands.

    Attributes:
        phase: ours.
        reason: of its condition, stable.
        message: for people.
        available: whether the database can be used, by CloudNativePG's word.
        settled: whether CloudNativePG is through with all that we have written. Ready needs more: our own work.
        severity: what it asks of people.
        again: when to look again although nothing will be heard of; None to wait for CloudNativePG.
    """

    phase: Phase
    reason: str
    message: str
    available: bool
    settled: bool = False
    severity: Severity = Severity.NONE
    again: timedelta | None = None


def standing(live: Object, wanted_instances: int, written: Written | None, now: datetime) -> Standing:
    """How a cluster stands by what CloudNativePG says.

    Args:
        live: the CloudNativePG Cluster.
        wanted_instances: servers that it is to have.
        written: our last write; None when we know of none.
        now: the time.
    """
    said = str(live.status.get("phase", ""))
    meaning = PHASES.get(said, UNKNOWN)
    available = usable(live)
    if _hibernated(live):
        message = "it is hibernated: its data is kept, and no server runs"
        return Standing(Phase.HIBERNATED, "ClusterHibernated", message, available, settled=True)
    if said == HEALTHY:
        return _healthy(live, wanted_instances, written, now, available=available)
    if said == "Waiting for the instances to become active" and _had_all(live, wanted_instances) and written is None:
        meaning = _RECOVERY
    return Standing(meaning.phase, meaning.reason, _message(said, live.status), available, severity=meaning.severity)


def usable(live: Object) -> bool:
    """Whether a cluster's database can be used, by CloudNativePG's word: whatever becomes of its roles, its backups and
    its poolers."""
    if _hibernated(live) or PHASES.get(str(live.status.get("phase", "")), UNKNOWN).use is Use.NO:
        return False
    primary = live.status.get("currentPrimary")
    healthy = (live.status.get("instancesStatus") or {}).get("healthy") or ()
    return bool(primary) and primary in healthy


def _healthy(
    live: Object, wanted_instances: int, written: Written | None, now: datetime, *, available: bool
) -> Standing:
    again: timedelta | None = None
    if written and live.generation < written.generation:
        unsettled = "what was read of it is older than what we have written"
    elif written and not written.answered and (rest := written.at + SETTLING - now) > timedelta():
        unsettled, again = "CloudNativePG hasn't answered our last change yet", rest
    elif _short(live, wanted_instances):
        ready = live.status.get("readyInstances") or 0
        unsettled = f"{ready} of {wanted_instances} servers are ready"
    elif claims := live.status.get("resizingPVC"):
        unsettled = f"volumes grow: {', '.join(sorted(claims))}"
    else:
        meaning = PHASES[HEALTHY]
        return Standing(meaning.phase, meaning.reason, "CloudNativePG says that it is healthy", available, settled=True)
    return Standing(_PROVISIONING.phase, _PROVISIONING.reason, unsettled, available, again=again)


def _short(live: Object, wanted_instances: int) -> bool:
    return any(int(live.status.get(count) or 0) != wanted_instances for count in ("instances", "readyInstances"))


def _had_all(live: Object, wanted_instances: int) -> bool:
    """Whether all servers had been made: it waits for one that it has lost."""
    return int(live.status.get("instances") or 0) == wanted_instances


def _hibernated(live: Object) -> bool:
    return any(
        each.get("type") == HIBERNATED and each.get("status") == "True" for each in live.status.get("conditions") or ()
    )


def _message(said: str, status: Mapping[str, Any]) -> str:
    if not said:
        return "CloudNativePG hasn't begun with it: see that its operator runs"
    why = " ".join(str(status.get("phaseReason") or "").split())
    return f"CloudNativePG says: {said}{f': {why}' if why and why != said else ''}"
