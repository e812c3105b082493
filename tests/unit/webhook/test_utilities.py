"""Requests for utilities: their own rules, and who has what they claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.kinds.resources import UTILITIES
from freehold.kube.objects import Object
from freehold_webhook.review import Cause, Outcome, Request, Verdict
from tests.unit.webhook.test_admission import World

EXPORT: Mapping[str, Any] = {
    "from": {"resource": {"kind": "Warehouse", "name": "wh"}, "path": ".status.showOutput"},
    "to": {"kind": "ConfigMap", "name": "wh-info", "key": "show.json"},
}


@pytest.fixture
def world() -> World:
    return World()


async def ask(
    world: World, name: str, spec: Mapping[str, Any], old: Mapping[str, Any] | None = None, *, kind: str = "FieldExport"
) -> Verdict:
    path = UTILITIES[kind].resource.path

    def resource(of: Mapping[str, Any]) -> Object:
        metadata = {"name": name, "namespace": "a", "uid": name}
        return Object({"apiVersion": path.api_version, "kind": kind, "metadata": metadata, "spec": of})

    new, before = resource(spec), None if old is None else resource(old)
    operation = "CREATE" if old is None else "UPDATE"
    request = Request("7", operation, path.group, kind, "a", "", "jane", False, new, before)  # type: ignore[arg-type]
    return await world.admission.review(request)


async def test_the_second_export_to_a_key_is_refused_and_told_of_the_first(world: World) -> None:
    assert (await ask(world, "first", EXPORT)).outcome is Outcome.ALLOWED
    world.kube.put(UTILITIES["FieldExport"].resource.path, "first", "a", spec=dict(EXPORT))
    verdict = await ask(world, "second", EXPORT)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.CONFLICT)
    assert 'KEY "show.json" OF CONFIGMAP "a"."wh-info"' in verdict.message
    assert "is owned by FieldExport a/first" in verdict.message


async def test_an_export_to_another_key_is_let_in(world: World) -> None:
    await ask(world, "first", EXPORT)
    other = {**EXPORT, "to": {**EXPORT["to"], "key": "other.json"}}
    assert (await ask(world, "second", other)).outcome is Outcome.ALLOWED


async def test_what_a_config_map_may_not_show_is_refused(world: World) -> None:
    source = {"resource": {"kind": "Table", "name": "t"}, "path": ".status.showOutput.cluster_by"}
    bad = {**EXPORT, "from": source}
    verdict = await ask(world, "x", bad)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.INVALID)
    assert "is sensitive: set spec.to.kind to Secret" in verdict.message
    # It was so before: who mends it step by step is warned.
    verdict = await ask(world, "x", {**bad, "refreshInterval": "5m"}, bad)
    assert verdict.outcome is Outcome.ALLOWED
    assert "is sensitive" in verdict.warnings[0]


async def test_a_change_that_claims_nothing_new_writes_nothing(world: World) -> None:
    await ask(world, "x", EXPORT)
    written = len(world.kube.writes)
    changed = {**EXPORT, "from": {**EXPORT["from"], "path": ".status.account"}}
    assert (await ask(world, "x", changed, EXPORT)).outcome is Outcome.ALLOWED
    assert len(world.kube.writes) == written


PROVIDED: Mapping[str, Any] = {"providerRef": {"name": "default", "namespace": "platform"}}


async def statement(world: World, execute: str, old: str | None = None, **spec: Any) -> Verdict:
    before = None if old is None else {**PROVIDED, "execute": old}
    return await ask(world, "x", {**PROVIDED, "execute": execute, **spec}, before, kind="SQLStatement")


@pytest.mark.parametrize(
    ("execute", "why"),
    [
        ("DROP TABLE DB.SC.OLD", "set dangerousAllowDestructive to true"),
        ("USE ROLE x", "it changes a session"),
        ("SELECT 'x", "has no certain end"),
    ],
)
async def test_a_text_that_would_not_be_run_is_refused(world: World, execute: str, why: str) -> None:
    verdict = await statement(world, execute)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.INVALID)
    assert why in verdict.message


async def test_a_statement_claims_nothing_at_admission(world: World) -> None:
    assert (await statement(world, "INSERT INTO t SELECT 1")).outcome is Outcome.ALLOWED
    assert world.claims == {}


async def test_a_statement_keeps_to_the_lists_of_its_provider(world: World) -> None:
    world.provider(allowedDatabases=["OURS"])
    verdict = await statement(world, "INSERT INTO t SELECT 1", context={"database": "THEIRS"})
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, "DatabaseNotAllowed")
    verdict = await statement(world, "INSERT INTO t SELECT 1", useRole="ACCOUNTADMIN")
    assert verdict.cause == "RoleNotAllowed"


async def test_what_a_kind_stands_for_is_warned_of(world: World) -> None:
    (warning,) = (await statement(world, "CREATE DATABASE d")).warnings
    assert "makes what a Database stands for" in warning
