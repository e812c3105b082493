"""The webhook as processes in front of a real API server."""

from __future__ import annotations

import asyncio
import ssl
from datetime import timedelta

import aiohttp
import orjson
import pytest

from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.claims import Evidence
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError
from freehold.kube.objects import Object
from freehold.resolve import live
from freehold_devstack.pki import Authority
from freehold_webhook.admission import Admission
from freehold_webhook.certificates import Certificates
from freehold_webhook.readiness import Readiness
from freehold_webhook.review import Outcome, Request
from tests.integration.webhook.harness import DATABASE, Account, Site, as_json, eventually
from tests.unit.webhook.test_review import review

pytestmark = pytest.mark.xdist_group("webhook")


async def test_kubectl_fails_and_names_the_owner_with_and_without_dry_run(account: Account) -> None:
    here = account.site.namespaces[0]
    kubectl = account.site.instance.kubectl
    first, second = (as_json(account.database(here, name, "ONLY")) for name in ("first", "second"))
    dry = kubectl("apply", "--dry-run=server", "--filename=-", input=first)
    assert dry.returncode == 0
    assert await account.claim("ONLY") is None
    kubectl("apply", "--filename=-", input=first)
    for options in (["--dry-run=server"], []):
        refused = kubectl("apply", *options, "--filename=-", input=second, check=False)
        assert refused.returncode == 1
        assert f'Database "ONLY" in account ACME.PROD is owned by Database {here}/first' in refused.stderr
    again = kubectl("apply", "--filename=-", input=first)
    assert again.stdout.strip().endswith("unchanged")


async def test_an_owner_elsewhere_is_not_named(account: Account) -> None:
    one, other = account.site.namespaces
    await account.create(account.database(one, "hidden-owner", "HIDDEN"))
    refused = await account.create(account.database(other, "second", "HIDDEN"))
    assert isinstance(refused, ApiError)
    assert "is owned by a Database in another namespace" in refused.message
    assert "hidden-owner" not in refused.message
    assert f"{one}/" not in refused.message


async def test_a_generated_name_holds_the_claim(account: Account) -> None:
    body = account.database(account.site.namespaces[0], "", "GENERATED")
    body["metadata"] = {**body["metadata"], "generateName": "generated-"}
    del body["metadata"]["name"]
    created = await account.create(body)
    claim = await account.claim("GENERATED")
    assert isinstance(created, Object)
    assert claim is not None
    assert claim.spec.holder.name == created.name


async def test_a_schema_is_claimed_below_a_database_that_was_just_applied(account: Account) -> None:
    one, other = account.site.namespaces
    await account.create(account.database(one, "parent", "PARENT"))
    child = account.schema(other, "child", "S", databaseRef={"name": "parent", "namespace": one})
    assert isinstance(await account.create(child), Object)
    refused = await account.create(account.schema(one, "child", "S", databaseName="PARENT"))
    assert isinstance(refused, ApiError)
    assert 'Schema "PARENT"."S"' in refused.message


async def test_a_holder_that_is_applied_again_keeps_its_evidence(account: Account) -> None:
    here = account.site.namespaces[0]
    body = account.database(here, "again", "AGAIN")
    first = await account.create(body)
    store = ClaimStore(account.controller)
    claim = await account.claim("AGAIN")
    assert claim is not None
    evidence = Evidence(how="created", created_on=store.now(), role="FREEHOLD", time=store.now())
    await store.replace(claim, claim.spec.model_copy(update={"evidence": evidence}))
    await account.kube.delete(DATABASE, "again", here)
    second = await account.create(body)
    claim = await account.claim("AGAIN")
    assert isinstance(first, Object)
    assert isinstance(second, Object)
    assert first.uid != second.uid
    assert claim is not None
    assert claim.spec.evidence == evidence
    assert claim.spec.holder.uid == second.uid


async def test_the_claim_of_a_vanished_holder_is_taken_after_the_grace(account: Account) -> None:
    one, other = account.site.namespaces
    await account.create(account.database(one, "vanishing", "VANISHING"))
    await account.kube.delete(DATABASE, "vanishing", one)
    body = account.database(other, "next", "VANISHING")
    assert isinstance(await account.create(body), ApiError)
    request = Request(
        uid="1",
        operation="CREATE",
        group=DATABASE.group,
        kind="Database",
        namespace=other,
        sub_resource="",
        user="jane",
        dry_run=False,
        object=Object(body),
        old=None,
    )
    async with account.site.as_component("webhook") as kube:
        later = ClaimStore(kube, now=lambda: kube.server_time + GRACE + timedelta(seconds=2))
        admission = Admission(later, live(kube), allowed_hosts=[])
        assert (await admission.review(request)).outcome is Outcome.ALLOWED
    claim = await account.claim("VANISHING")
    assert claim is not None
    assert claim.spec.holder.namespace == other
    assert isinstance(await account.create(body), Object)


async def test_after_sigterm_requests_are_answered_until_the_process_ends_well(site: Site) -> None:
    replica = site.replica("--drain=2")
    await eventually(replica.ready, "the further replica to be ready")
    replica.terminate()

    async def draining() -> bool:
        return await replica.probe("/readyz") == (503, "shutting down\n")

    await eventually(draining, "the replica to be no longer ready")
    trust = ssl.create_default_context(cadata=site.authority.pair.certificate.decode())
    async with (
        aiohttp.ClientSession() as session,
        session.post(replica.url, data=review(subResource="status"), ssl=trust) as response,
    ):
        assert (await response.json())["response"]["allowed"] is True
        assert response.headers["Connection"] == "close"
    assert await replica.ended() == 0


async def test_ready_only_once_the_api_server_would_trust_the_certificate(unregistered: Site, kube: Kube) -> None:
    readiness = Readiness(kube, unregistered.name)
    url = "https://127.0.0.1:9443/validate"

    async def says(text: str) -> bool:
        return text in (readiness.why_not or "ready")

    running = asyncio.create_task(readiness.run(Certificates(unregistered.folder)))
    await eventually(lambda: says("there is no ValidatingWebhookConfiguration"), "a complaint about no configuration")
    unregistered.register(url, trusted=[Authority()])
    await eventually(lambda: says("doesn't verify our certificate"), "a complaint about the bundle")
    unregistered.register(url)
    await eventually(lambda: says("ready"), "readiness")
    running.cancel()


async def test_what_was_decided_is_counted_and_logged(account: Account) -> None:
    here = account.site.namespaces[0]
    await account.create(account.database(here, "counted", "COUNTED"))
    await account.create(account.database(here, "refused", "COUNTED"))
    replica = account.site.replicas[0]
    metrics = (await replica.probe("/metrics"))[1]
    decided = 'freehold_admission_requests_total{kind="Database",operation="CREATE",'
    assert f'{decided}reason="",verdict="allowed"}}' in metrics
    assert f'{decided}reason="ConflictDetected",verdict="denied"}}' in metrics
    assert 'freehold_admission_claims_total{outcome="created"}' in metrics
    assert "freehold_webhook_certificate_expiry_timestamp_seconds" in metrics
    assert (await replica.probe("/healthz"))[0] == 200
    records = [orjson.loads(line) for line in replica.log.read_text().splitlines()]
    assert any(
        record.get("verdict") == "denied" and record["resource"] == f"Database {here}/refused" for record in records
    )
