"""Every kind by its sample, as a newcomer would use it: applied, ready, seen in Snowflake, deleted, dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from freehold.identity import Identity, Slot
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import UTILITIES
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
    _utilities_do_their_work(tenant)
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
    verbs = "^(ALTER|CREATE|DROP|GRANT|REVOKE)"
    sent = [each.text for each in tenant.endpoint.statements(verbs, since=since, outcome="ok")]
    for kind, name in objects.items():
        for begin, end in _lives(kind, name):
            expected = [True, False] if end else [True]
            assert [text.startswith(begin) for text in sent if text.startswith((begin, end or begin))] == expected, (
                begin
            )


def _utilities_do_their_work(tenant: Tenant) -> None:
    """They work on what the other samples declare, and go before it."""
    tenant.let_exports_be_written()
    samples = {kind: _sample(kind) for kind in UTILITIES}
    since = tenant.endpoint.sequence
    for kind, sample in samples.items():
        tenant.apply(kind, sample["metadata"]["name"], api=sample["apiVersion"], spec=sample["spec"])
    for kind, sample in samples.items():
        tenant.ready(kind, sample["metadata"]["name"])
    assert (tenant.get("ConfigMap", "loader-settings") or {})["data"] == {"warehouse-size": "Small"}
    for kind, sample in samples.items():
        tenant.delete(kind, sample["metadata"]["name"])
    for kind, sample in samples.items():
        tenant.gone(kind, sample["metadata"]["name"])
    sent = [each.text for each in tenant.endpoint.statements("ORDERS_AS_DELIVERED", since=since, outcome="ok")]
    assert [text for text in sent if not text.startswith("SHOW")] == [
        samples["SQLStatement"]["spec"][each] for each in ("execute", "revert")
    ]
    assert tenant.get("ConfigMap", "loader-settings") is None


def _lives(kind: str, name: str) -> list[tuple[str, str | None]]:
    """How the statements begin by which what a sample stands for comes and goes; None for what stays."""
    declared = KINDS[kind]
    if declared.filling is None:
        # CREATE names what a function is called, and its arguments apart from that.
        bare = f"{name.partition('(')[0]} (" if declared.arguments else name
        return [(f"CREATE {declared.object_type} {bare}", f"DROP {declared.object_type} {name}")]
    lives: list[tuple[str, str | None]] = []
    for fqn in name.split(", "):
        slot = Identity.parse("A", declared.object_class, fqn).name
        assert isinstance(slot, Slot)
        end = declared.filling.empty(slot, False)
        lives.append((_beginning(end.text), end.text) if end else (f"GRANT {fqn} ", None))
    return lives


def _beginning(end: str) -> str:
    """How the statement begins that fills what another one empties."""
    if end.startswith("REVOKE "):
        return end.replace("REVOKE ", "GRANT ", 1).replace(" FROM ", " TO ")
    return end.replace(" UNSET ", " SET ").replace(" DROP ", " ADD ").removesuffix(" RESTRICT")
