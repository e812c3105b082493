"""Admission while webhook processes come and go, and while the API server has little room for anybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial

import pytest

from freehold.claims import CLAIM
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError
from freehold.kube.objects import Object
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from tests.integration.webhook.harness import DATABASE, Account, Site, WebhookProcess, eventually
from tests.integration.webhook.service import Service

pytestmark = pytest.mark.xdist_group("webhook")

LOAD = 8
"""Clients that create one resource after the other."""

CROWD = 500


@pytest.fixture(scope="module")
def site(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A certificate and namespaces; the processes come and go with each test."""
    site = Site(control_plane, "freehold", Authority(), tmp_path_factory.mktemp("certificates"))
    site.prepare()
    try:
        yield site
    finally:
        site.close()


@pytest.fixture
async def service(site: Site) -> AsyncIterator[Service]:
    """Two replicas behind a Service; what they don't answer is refused."""
    async with Service(*(pod(site) for _ in range(2))) as service:
        site.register(service.url)
        await eventually(lambda: service.connects_to(*service.pods), "the replicas to be ready")
        yield service
        for each in service.pods:
            each.process.kill()


def pod(site: Site) -> WebhookProcess:
    return site.replica("--drain=2", "--budget=25", "--strict")


async def test_a_rolling_update_under_load_fails_no_admission(service: Service, account: Account) -> None:
    here = account.site.namespaces[0]
    stop = asyncio.Event()

    async def traffic(client: int) -> list[Object]:
        created: list[Object] = []
        while not stop.is_set():
            name = f"rolling-{client}-{len(created)}"
            created.append(await account.kube.create(DATABASE, account.database(here, name, name.upper()), here))
        return created

    running = [asyncio.create_task(traffic(client)) for client in range(LOAD)]
    for old in tuple(service.pods):
        new = pod(account.site)
        service.pods.append(new)
        await eventually(partial(service.connects_to, new), "the new replica to be ready")
        old.terminate()
        assert await old.ended() == 0
        service.pods.remove(old)
    stop.set()
    created = [each for client in await asyncio.gather(*running) for each in client]
    assert len(created) > LOAD
    assert await holders(account) == {each.name for each in created}


async def test_strict_admission_comes_back_after_a_full_restart(service: Service, account: Account) -> None:
    here = account.site.namespaces[0]
    control_plane = account.site.instance
    assert isinstance(control_plane, ControlPlane)
    assert isinstance(await account.create(account.database(here, "before", "BEFORE")), Object)
    for each in service.pods:
        each.process.kill()
    await asyncio.to_thread(control_plane.stop_apiserver)
    await asyncio.to_thread(control_plane.start_apiserver)
    refused = await account.create(account.database(here, "meanwhile", "MEANWHILE"))
    assert isinstance(refused, ApiError)
    assert "failed calling webhook" in refused.message
    service.pods[:] = [pod(account.site)]
    await eventually(lambda: service.connects_to(*service.pods), "a replica to be ready")
    assert isinstance(await account.create(account.database(here, "meanwhile", "MEANWHILE")), Object)
    refused = await account.create(account.database(here, "second", "BEFORE"))
    assert isinstance(refused, ApiError)
    assert refused.status == 403


@pytest.mark.usefixtures("service")
async def test_a_crowd_with_few_seats_leaves_nothing_unclaimed(account: Account) -> None:
    """All service accounts share three seats, but for what the chart gives the webhook for itself."""
    here = account.site.namespaces[0]
    account.site.apply(*few_seats(), *tenant(here))
    try:
        async with Kube.from_kubeconfig(account.site.instance.kubeconfig_for(here, "tenant")) as kube:
            bodies = (account.database(here, f"crowd-{i}", f"CROWD_{i}") for i in range(CROWD))
            created = await asyncio.gather(*(kube.create(DATABASE, body, here) for body in bodies))
        assert await holders(account) == {each.name for each in created}
    finally:
        names = ("flowschema/crowd", "prioritylevelconfiguration/crowd")
        account.site.instance.kubectl("delete", *names)


async def holders(account: Account) -> set[str]:
    """Names of the resources that hold something in an account."""
    pages = account.kube.list(CLAIM.path)
    claims = [each async for page in pages for each in page.objects]
    return {
        each.spec["holder"]["name"] for each in claims if each.spec["identity"]["account"]["key"] == account.key.upper()
    }


def few_seats() -> tuple[dict[str, object], ...]:
    """A priority level of 3 of the API server's 600 seats, for every service account that has none of its own."""
    queue = {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 2 * CROWD}}
    rules = [
        {
            "subjects": [{"kind": "Group", "group": {"name": "system:serviceaccounts"}}],
            "resourceRules": [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "namespaces": ["*"], "clusterScope": True}
            ],
        }
    ]
    return (
        {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "PriorityLevelConfiguration",
            "metadata": {"name": "crowd"},
            "spec": {
                "type": "Limited",
                "limited": {"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": queue},
            },
        },
        {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "FlowSchema",
            "metadata": {"name": "crowd"},
            "spec": {
                "priorityLevelConfiguration": {"name": "crowd"},
                "matchingPrecedence": 600,
                "rules": rules,
            },
        },
    )


def tenant(namespace: str) -> tuple[dict[str, object], ...]:
    """A service account that may create databases in a namespace."""
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tenant", "namespace": namespace}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "tenant", "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "freehold-edit"},
            "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": namespace}],
        },
    )
