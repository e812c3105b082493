"""Uninstalling leaves what users have declared, and installing again takes it back."""

from __future__ import annotations

import pytest

from freehold_devstack.processes import until
from tests.harness.chart import CHART, NAMESPACE, REGISTRY
from tests.integration.chart.release import Release

pytestmark = pytest.mark.xdist_group("chart")


def test_definitions_and_resources_outlive_the_release(release: Release) -> None:
    database = {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {"name": "KEPT"},
    }
    release.kubectl("create", "-f", "-", manifest=database)
    before = release.get("database", "kept", "--namespace", "default")["metadata"]
    release.uninstall()
    try:
        after = release.get("database", "kept", "--namespace", "default")["metadata"]
        assert (after["uid"], after["resourceVersion"]) == (before["uid"], before["resourceVersion"])
        assert not release.get("deployments", "--namespace", NAMESPACE)["items"]
        assert not release.get("validatingadmissionpolicies")["items"]
    finally:
        release.install()
    assert release.get("database", "kept", "--namespace", "default")["metadata"]["uid"] == before["uid"]
    release.kubectl("delete", "database", "kept", "--namespace", "default")


def test_nothing_of_strict_admission_stays(release: Release) -> None:
    database = {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "free", "namespace": "default"},
        "spec": {"name": "FREE"},
    }
    release.install("strictAdmission=true")
    release.uninstall()
    try:
        until(
            lambda: (
                not release.kubectl("create", "--dry-run=server", "-f", "-", manifest=database, check=False).returncode
            ),
            30.0,
            "resources to be taken without anybody being asked",
        )
    finally:
        release.install()


def test_a_release_of_another_name_takes_over_the_definitions_when_told_to(release: Release) -> None:
    other = ("install", "other", str(CHART), "--namespace=default", "--set", REGISTRY, "--dry-run=server")
    release.uninstall()
    try:
        refused = release.control_plane.helm(*other, check=False)
        assert "invalid ownership metadata" in refused.stderr
        release.control_plane.helm(*other, "--take-ownership")
    finally:
        release.install()
