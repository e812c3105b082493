"""Whose a database or role is: one PostgresDatabase's on each cluster, across namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.claim_store import ClaimStore
from freehold.claims import Account, Holder
from freehold.conflicts import Detail
from freehold.kinds.utility.fieldexport import FIELD_EXPORT, FieldExportSpec
from freehold.kube.objects import Object
from freehold.postgres.common import CLUSTERS, POSTGRES_GROUP
from freehold.postgres.database import DATABASE, PostgresDatabaseSpec
from freehold.resolve import Unresolved, account_of, live
from freehold.script import Policy
from freehold_webhook.review import Cause, Outcome, Verdict
from freehold_webhook.utilities import Utilities
from tests.harness.memory import MemoryKube


@pytest.fixture
def kube() -> MemoryKube:
    """The clusters dbs/orders and dbs/ledger."""
    kube = MemoryKube()
    for name in ("orders", "ledger"):
        kube.put(CLUSTERS, name, "dbs", metadata={"uid": f"{name}-1"}, spec={"class": "standard"})
    return kube


def _spec(*databases: str | Mapping[str, Any], cluster: str = "orders") -> dict[str, Any]:
    entries = [{"name": each} if isinstance(each, str) else dict(each) for each in databases]
    return {"clusterRef": {"name": cluster, "namespace": "dbs"}, "databases": entries}


async def ask(
    kube: MemoryKube, namespace: str, name: str, spec: dict[str, Any], old: dict[str, Any] | None = None
) -> Verdict:
    """What admission says of a PostgresDatabase; of an update when there is an old spec."""
    utilities = Utilities(ClaimStore(kube), Detail.FULL, Policy(), frozenset())
    asker = Holder(group=POSTGRES_GROUP, kind=DATABASE.name, namespace=namespace, name=name, uid=f"{namespace}-{name}")
    metadata = {"name": name, "namespace": namespace}
    new, before = (
        Object({"kind": DATABASE.name, "metadata": metadata, "spec": each}) if each else None for each in (spec, old)
    )
    assert new is not None
    return await utilities.decide(DATABASE, new, before, asker, dry_run=False)


async def test_a_database_has_one_owner_across_namespaces(kube: MemoryKube) -> None:
    assert (await ask(kube, "a", "first", _spec("app"))).outcome is Outcome.ALLOWED
    verdict = await ask(kube, "b", "second", _spec("app"))
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.CONFLICT)
    assert "is owned by PostgresDatabase a/first" in verdict.message


async def test_a_role_has_one_owner_whatever_database_it_is_of(kube: MemoryKube) -> None:
    await ask(kube, "a", "first", _spec("app"))
    verdict = await ask(kube, "b", "second", _spec({"name": "other", "rwRoleName": "app_admin"}))
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.CONFLICT)
    assert '"app_admin"' in verdict.message


async def test_clusters_have_nothing_to_do_with_one_another(kube: MemoryKube) -> None:
    await ask(kube, "a", "first", _spec("app"))
    assert (await ask(kube, "b", "second", _spec("app", cluster="ledger"))).outcome is Outcome.ALLOWED


async def test_a_cluster_that_was_made_anew_is_another_account(kube: MemoryKube) -> None:
    spec = PostgresDatabaseSpec.model_validate(_spec("app"))
    before = await account_of(DATABASE, spec, "a", live(kube))
    kube.put(CLUSTERS, "orders", "dbs", metadata={"uid": "orders-2"}, spec={"class": "standard"})
    after = await account_of(DATABASE, spec, "a", live(kube))
    assert isinstance(before, Account)
    assert isinstance(after, Account)
    assert (before.key, after.key) == ("dbs/orders/orders-1", "dbs/orders/orders-2")
    assert before.name == after.name == "dbs/orders"


async def test_a_database_without_cluster_claims_nothing_yet(kube: MemoryKube) -> None:
    verdict = await ask(kube, "a", "first", _spec("app", cluster="missing"))
    assert verdict.outcome is Outcome.UNDECIDED
    assert "PostgresCluster dbs/missing in spec.clusterRef doesn't exist" in verdict.message
    spec = PostgresDatabaseSpec.model_validate(_spec("app", cluster="missing"))
    assert isinstance(await account_of(DATABASE, spec, "a", live(kube)), Unresolved)


async def test_a_change_that_claims_nothing_needs_no_cluster(kube: MemoryKube) -> None:
    old = _spec("app", cluster="missing")
    verdict = await ask(kube, "a", "first", {**old, "paused": True}, old)
    assert (verdict.outcome, verdict.warnings) == (Outcome.ALLOWED, ())
    added = await ask(kube, "a", "first", _spec("app", "web", cluster="missing"), old)
    assert added.outcome is Outcome.UNDECIDED


async def test_a_database_more_is_all_that_an_update_claims(kube: MemoryKube) -> None:
    await ask(kube, "a", "first", _spec("app"))
    written = len(kube.writes)
    assert (await ask(kube, "a", "first", _spec("app", "web"), _spec("app"))).outcome is Outcome.ALLOWED
    assert len(kube.writes) - written == 3


async def test_what_lies_in_kubernetes_needs_no_resource_for_its_account(kube: MemoryKube) -> None:
    source = {"resource": {"kind": "Warehouse", "name": "wh"}, "path": ".status.account"}
    spec = FieldExportSpec.model_validate({"from": source, "to": {"kind": "Secret", "name": "x", "key": "y"}})
    account = await account_of(FIELD_EXPORT, spec, "a", live(kube))
    assert account == Account(key="kubernetes", name="Kubernetes")
