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
    for kind, sample in samples.items():
        tenant.delete(kind, sample["metadata"]["name"])
    for kind, sample in samples.items():
        tenant.gone(kind, sample["metadata"]["name"])
    sent = [each.text for each in tenant.endpoint.statements("^(CREATE|DROP)", since=since, outcome="ok")]
    for kind, name in objects.items():
        of_kind = [text for text in sent if f"{KINDS[kind].object_type} {name}" in text]
        assert [text.split()[0] for text in of_kind] == ["CREATE", "DROP"], kind
