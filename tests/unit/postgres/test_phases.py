"""What CloudNativePG's phases mean: whether a database can be used, and when Healthy is believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.phases import HEALTHY, PHASES, SETTLING, Phase, Severity, Standing, Written, standing, usable

NOW = datetime(2026, 1, 1, tzinfo=UTC)

CONSTANTS = (
    "Switchover in progress",
    "Failing over",
    "Setting up primary",
    "Creating a new replica",
    "Upgrading cluster",
    "Upgrading Postgres major version",
    "Cluster upgrade delayed",
    "Waiting for user action",
    "Primary instance is being restarted in-place",
    "Primary instance is being restarted without a switchover",
    "Cluster in healthy state",
    "Cluster cannot proceed to reconciliation due to an unknown plugin being required",
    "Cluster cannot proceed to reconciliation due to an error while interacting with plugins",
    "Cluster has incomplete or invalid image catalog",
    "Cluster is unrecoverable and needs manual intervention",
    "Cluster cannot execute instance online upgrade due to missing architecture binary",
    "Waiting for the instances to become active",
    "Online upgrade in progress",
    "Applying configuration",
    "Promoting to primary cluster",
    "Unable to create required cluster objects",
    "Invalid cluster definition",
)
LITERALS = ("Not enough disk space", "Instance Status Extraction Error: HTTP communication issue")


def cluster(phase: str = HEALTHY, *, generation: int = 3, ready: int = 3, **status: Any) -> Object:
    """A Cluster of three servers, of which the first is the primary."""
    found = {
        "phase": phase,
        "instances": 3,
        "readyInstances": ready,
        "currentPrimary": "orders-1",
        "instancesStatus": {"healthy": ["orders-1", "orders-2", "orders-3"][:ready]},
        **status,
    }
    return Object({"kind": "Cluster", "metadata": {"name": "orders", "generation": generation}, "status": found})


def look(live: Object, written: Written | None = None) -> Standing:
    return standing(live, 3, written, NOW)


def test_every_phase_of_cloudnativepg_has_a_meaning() -> None:
    assert set(PHASES) == {"", *CONSTANTS, *LITERALS}
    assert len(CONSTANTS) == 22


@pytest.mark.parametrize("phase", ["Invalid cluster definition", *LITERALS[:1], "Waiting for user action"])
def test_a_phase_that_needs_people_is_a_failure_that_says_so(phase: str) -> None:
    found = look(cluster(phase, phaseReason="the disk\n is full"))
    assert (found.phase, found.severity) == (Phase.FAILED, Severity.ERROR)
    assert found.message == f"CloudNativePG says: {phase}: the disk is full"


def test_a_phase_of_a_newer_cloudnativepg_is_told_and_taken_for_no_failure() -> None:
    found = look(cluster("Dreaming"))
    assert (found.phase, found.reason, found.available) == (Phase.PENDING, "CNPGPhaseUnknown", True)
    assert "Dreaming" in found.message


def test_a_failover_differs_from_a_cluster_that_was_never_made() -> None:
    assert look(cluster("Failing over")).reason != look(cluster("")).reason
    assert look(cluster("Failing over")).phase is not look(cluster("")).phase


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (cluster(), True),
        (cluster("Creating a new replica", ready=1), True),
        (cluster("Applying configuration"), True),
        (cluster("Cluster cannot proceed to reconciliation due to an unknown plugin being required"), True),
        (cluster("Setting up primary"), False),
        (cluster("Failing over"), False),
        (cluster("Not enough disk space"), False),
        (cluster("Upgrading Postgres major version"), False),
        (cluster("Waiting for the instances to become active", ready=0), False),
        (cluster(currentPrimary=""), False),
        (cluster(currentPrimary="orders-3", ready=2), False),
        (cluster(conditions=[{"type": "cnpg.io/hibernation", "status": "True"}]), False),
    ],
)
def test_a_database_is_available_while_its_primary_is_healthy(live: Object, expected: bool) -> None:
    assert usable(live) is expected
    assert look(live).available is expected


def test_a_cluster_that_waits_for_a_server_it_had_recovers() -> None:
    waiting = "Waiting for the instances to become active"
    assert look(cluster(waiting, ready=2)).reason == "CNPGClusterRecovery"
    assert look(cluster(waiting, instances=2)).reason == "CNPGClusterProvisioning"
    assert look(cluster(waiting), Written(3, NOW)).reason == "CNPGClusterProvisioning"


@pytest.mark.parametrize(
    ("live", "message"),
    [
        (cluster(ready=2), "2 of 3 servers are ready"),
        (cluster(instances=4, readyInstances=4), "4 of 3 servers are ready"),
        (cluster(resizingPVC=["orders-2", "orders-1"]), "volumes grow: orders-1, orders-2"),
    ],
)
def test_healthy_isnt_ready_while_servers_or_volumes_differ(live: Object, message: str) -> None:
    found = look(live)
    assert (found.phase, found.settled, found.message) == (Phase.PROVISIONING, False, message)


def test_healthy_right_after_our_own_write_isnt_believed() -> None:
    written = Written(3, NOW)
    assert not look(cluster(), written).settled
    assert look(cluster(), written).again == SETTLING
    assert not standing(cluster(), 3, written, NOW + SETTLING / 2).settled
    assert standing(cluster(), 3, written, NOW + SETTLING).settled


def test_healthy_is_believed_once_cloudnativepg_has_answered() -> None:
    written = Written(3, NOW).seen(cluster("Applying configuration"))
    assert look(cluster(), written).settled


@pytest.mark.parametrize("phase", [HEALTHY, ""])
def test_no_change_of_phase_is_no_answer(phase: str) -> None:
    assert not Written(3, NOW).seen(cluster(phase)).answered


def test_a_phase_of_an_earlier_generation_is_no_answer() -> None:
    assert not Written(4, NOW).seen(cluster("Upgrading cluster", generation=3)).answered


def test_a_cluster_as_it_was_before_our_write_is_never_believed() -> None:
    later = NOW + timedelta(hours=1)
    found = standing(cluster(generation=2), 3, Written(3, NOW, answered=True), later)
    assert (found.settled, found.again) == (False, None)


def test_a_hibernated_cluster_is_settled_and_can_t_be_used() -> None:
    found = look(cluster(conditions=[{"type": "cnpg.io/hibernation", "status": "True"}], ready=0))
    assert (found.phase, found.settled, found.available) == (Phase.HIBERNATED, True, False)
