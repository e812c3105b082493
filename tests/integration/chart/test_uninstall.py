"""Uninstalling leaves what users have declared, and installing again takes it back."""

from __future__ import annotations

import pytest

from tests.integration.chart.release import NAMESPACE, Release

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
