"""The client against a real API server."""

from __future__ import annotations

import base64
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes_asyncio.config import incluster_config
from yarl import URL

from freehold.claims import CLAIM
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube import errors
from freehold.kube.client import Kube
from freehold.kube.objects import NAMESPACES, SECRETS
from freehold_devstack.controlplane import ControlPlane

WAREHOUSES = KINDS["Warehouse"].resource.path


def secret(name: str, value: str = "x", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "data": {"key": base64.b64encode(value.encode()).decode()}}


def warehouse(name: str) -> dict[str, Any]:
    return {
        "apiVersion": WAREHOUSES.api_version,
        "kind": WAREHOUSES.kind,
        "metadata": {"name": name},
        "spec": {"name": name.upper()},
    }


async def test_a_name_is_taken_once_and_a_stale_replacement_refused(kube: Kube, namespace: str) -> None:
    first = await kube.create(SECRETS, secret("a"), namespace)
    with pytest.raises(errors.AlreadyExists):
        await kube.create(SECRETS, secret("a"), namespace)
    changed = await kube.replace(SECRETS, {**first.raw, "metadata": {**first.metadata, "labels": {"x": "y"}}})
    assert changed.labels == {"x": "y"}
    with pytest.raises(errors.Conflict):
        await kube.replace(SECRETS, first.raw)


async def test_a_dry_run_creates_nothing(kube: Kube, namespace: str) -> None:
    await kube.create(SECRETS, secret("a"), namespace, dry_run=True)
    with pytest.raises(errors.NotFound):
        await kube.get(SECRETS, "a", namespace)


async def test_a_deletion_holds_only_for_the_incarnation_and_version_meant(kube: Kube, namespace: str) -> None:
    made = await kube.create(SECRETS, secret("a"), namespace)
    with pytest.raises(errors.Conflict):
        await kube.delete(SECRETS, "a", namespace, uid="somebody-else")
    with pytest.raises(errors.Conflict):
        await kube.delete(SECRETS, "a", namespace, resource_version="1")
    await kube.delete(SECRETS, "a", namespace, uid=made.uid, resource_version=made.resource_version)
    with pytest.raises(errors.NotFound):
        await kube.delete(SECRETS, "a", namespace)


async def test_an_unknown_type_is_no_absent_object(kube: Kube, namespace: str) -> None:
    with pytest.raises(errors.NotServed):
        await kube.get(GroupResource("nowhere.dev", "v1", "things", "Thing"), "a", namespace)
    with pytest.raises(errors.NotServed):
        await kube.get(GroupResource(WAREHOUSES.group, WAREHOUSES.version, "things", "Thing"), "a", namespace)


async def test_a_broken_rule_names_itself(kube: Kube, namespace: str) -> None:
    body = warehouse("w")
    body["spec"]["autoSuspend"] = -1
    with pytest.raises(errors.Invalid, match="autoSuspend"):
        await kube.create(WAREHOUSES, body, namespace)


async def test_an_account_without_rights_is_told_so(namespace: str, control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "serviceaccount", "nobody", "-n", namespace)
    async with Kube.from_kubeconfig(control_plane.kubeconfig_for(namespace, "nobody")) as nobody:
        with pytest.raises(errors.Forbidden, match="nobody"):
            await nobody.get(SECRETS, "a", namespace)


async def test_a_token_that_is_no_longer_accepted_is_read_again_from_its_file(
    namespace: str, control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, server = tmp_path / "token", URL(control_plane.server)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(server.host))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(control_plane.ca))
    token.write_text("expired")
    async with Kube.from_environment() as kube:
        with pytest.raises(errors.Unauthorized):
            await kube.get(SECRETS, "a", namespace)
        token.write_text(control_plane.kubectl("create", "token", "default", "-n", namespace).stdout.strip())
        with pytest.raises(errors.Forbidden, match="serviceaccount"):
            await kube.get(SECRETS, "a", namespace)


async def test_status_is_applied_by_its_own_manager_and_spec_left_alone(kube: Kube, namespace: str) -> None:
    made = await kube.create(WAREHOUSES, warehouse("w"), namespace)
    head = {"apiVersion": made.raw["apiVersion"], "kind": made.kind}
    for status, expected in (
        ({"observedGeneration": 1, "account": "O.A"}, {"observedGeneration": 1, "account": "O.A"}),
        ({"observedGeneration": 1}, {"observedGeneration": 1}),
    ):
        applied = await kube.apply(
            WAREHOUSES, "w", namespace, {**head, "status": status}, field_manager="me", subresource="status"
        )
        assert applied.status == expected
    assert applied.generation == made.generation
    patch = {"metadata": {"finalizers": ["freehold.dev/test"]}}
    assert (await kube.patch(WAREHOUSES, "w", namespace, patch)).finalizers == ("freehold.dev/test",)
    await kube.delete(WAREHOUSES, "w", namespace)
    assert (await kube.get(WAREHOUSES, "w", namespace)).deleting
    await kube.patch(WAREHOUSES, "w", namespace, {"metadata": {"finalizers": None}})


async def test_a_field_that_the_schema_lacks_is_warned_of(
    kube: Kube, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    await kube.create(WAREHOUSES, warehouse("w"), namespace)
    await kube.patch(WAREHOUSES, "w", namespace, {"status": {"novelty": 1}}, subresource="status")
    assert 'unknown field \\"status.novelty\\"' in caplog.text


async def test_a_list_comes_in_pages_of_one_moment(kube: Kube, namespace: str) -> None:
    for name in "abcde":
        await kube.create(SECRETS, secret(name, labels={"odd": str(name in "ace")}), namespace)
    pages = [page async for page in kube.list(SECRETS, namespace, limit=2)]
    assert [[each.name for each in page.objects] for page in pages] == [["a", "b"], ["c", "d"], ["e"]]
    assert len({page.resource_version for page in pages}) == 1
    odd = [page async for page in kube.list(SECRETS, namespace, label_selector="odd=True")]
    assert [each.name for page in odd for each in page.objects] == ["a", "c", "e"]


async def test_a_watch_begins_where_the_list_ended(kube: Kube, namespace: str) -> None:
    [page] = [page async for page in kube.list(SECRETS, namespace)]
    await kube.create(SECRETS, secret("a"), namespace)
    await kube.delete(SECRETS, "a", namespace)
    events = kube.watch(SECRETS, namespace, resource_version=page.resource_version, timeout=60)
    seen = []
    async with aclosing(events):
        async for event in events:
            seen.append((event.type, event.object.name))
            if event.type == "DELETED":
                break
    assert seen == [("ADDED", "a"), ("DELETED", "a")]


async def test_the_servers_clock_is_known(kube: Kube) -> None:
    await kube.get(NAMESPACES, "default")
    assert abs(kube.server_time - datetime.now(UTC)) < timedelta(seconds=5)


async def test_claims_are_cluster_scoped(kube: Kube) -> None:
    with pytest.raises(errors.NotFound):
        await kube.get(CLAIM.path, "absent")
