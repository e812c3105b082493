"""Manifests as the reconciler reads them: what admission refuses stops it, too, and hinders no deletion."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from tests.harness.declarations import TASK


def task(**metadata: Any) -> Object:
    spec = {"databaseName": "D", "schemaName": "S", "name": "T", "schedule": "1 DAY"}
    return Object({"kind": "Task", "metadata": {"name": "x", "namespace": "n", **metadata}, "spec": spec})


def test_a_spec_that_no_statement_can_hold_stops_with_its_faults() -> None:
    with pytest.raises(Stopped) as caught:
        Managed.read(task(), TASK)
    assert caught.value.stop.reason is Reason.VALIDATION_FAILED
    assert "spec.schedule: '1 DAY' is no schedule" in caught.value.stop.message


def test_whatever_is_wrong_with_a_spec_it_can_be_deleted() -> None:
    assert Managed.read(task(deletionTimestamp="2026-11-30T12:00:00Z"), TASK).key.name == "x"


def test_what_is_abandoned_can_be_deleted_although_its_policies_can_not_be_read() -> None:
    deleted = task(deletionTimestamp="2026-11-30T12:00:00Z")
    spec = {**deleted.spec, "deletionPolicy": "Keep"}
    with pytest.raises(Stopped, match="deletionPolicy"):
        Managed.read(Object({**deleted.raw, "spec": spec}), TASK)
    annotated = {**deleted.metadata, "annotations": {"freehold.dev/abandon-on-delete": "true"}}
    assert Managed.read(Object({**deleted.raw, "metadata": annotated, "spec": spec}), TASK).abandoned
