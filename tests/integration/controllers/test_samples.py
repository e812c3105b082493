"""Every kind by its sample, as a newcomer would use it: applied, ready, seen in Snowflake, deleted, dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from freehold.kinds.registry import KINDS
from tests.integration.controllers.tenant import Tenant

SAMPLES = Path(__file__).parents[3] / "docs/samples"


def _sample(kind: str) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load((SAMPLES / f"{kind.lower()}.yaml").read_text())
    return manifest


def test_the_sample_of_every_kind_is_created_and_dropped(tenant: Tenant) -> None:
    samples = {kind: _sample(kind) for kind in KINDS}
    since = tenant.endpoint.sequence
    for kind, sample in samples.items():
        tenant.apply(kind, sample["metadata"]["name"], spec=sample["spec"])
    for kind, sample in samples.items():
        tenant.ready(kind, sample["metadata"]["name"])
    objects = {
        kind: (tenant.get(kind, sample["metadata"]["name"]) or {})["status"]["fullyQualifiedName"]
        for kind, sample in samples.items()
    }
    # What is set on objects before these: it goes with them, without a statement of its own.
    for slots in (True, False):
        going = {kind: sample for kind, sample in samples.items() if bool(KINDS[kind].slots) is slots}
        for kind, sample in going.items():
            tenant.delete(kind, sample["metadata"]["name"])
        for kind, sample in going.items():
            tenant.gone(kind, sample["metadata"]["name"])
    sent = [each.text for each in tenant.endpoint.statements("^(CREATE|DROP|GRANT|REVOKE)", since=since, outcome="ok")]
    for kind, name in objects.items():
        for begin, end in _lives(kind, name):
            assert [text.startswith(begin) for text in sent if text.startswith((begin, end))] == [True, False], begin


def _lives(kind: str, name: str) -> list[tuple[str, str]]:
    """How the statements begin by which what a sample stands for comes and goes."""
    declared = KINDS[kind]
    if declared.slots is None:
        return [(f"CREATE {declared.object_type} {name}", f"DROP {declared.object_type} {name}")]
    return [(f"GRANT {slot}", f"REVOKE {slot.replace(' TO ', ' FROM ')}") for slot in name.split(", ")]
