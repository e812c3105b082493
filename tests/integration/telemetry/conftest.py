"""All three processes, with all that they can tell switched on."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from freehold_devstack.processes import until
from freehold_devstack.snowflake.issuer import Issuer
from freehold_devstack.snowflake.tls import issue
from tests.harness.chart import install_without_pods, register_webhook
from tests.harness.controllers import START_SECONDS, Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.tenant import Tenant
from tests.integration.telemetry.others import Collector, Proxy, TokenEndpoint, serving
from tests.integration.webhook.harness import Site, WebhookProcess

PASSWORD = secrets.token_hex(12)
"""Of ANNA, who may do all that the tests need."""

SEED = {
    "accounts": [
        {
            "roles": {"FREEHOLD": {"granted_to": ["SYSADMIN"]}},
            "users": {"ANNA": {"password": PASSWORD, "roles": ["FREEHOLD"], "default_role": "FREEHOLD"}},
            "statements": [
                "GRANT CREATE WAREHOUSE, CREATE USER, RESOLVE ALL ON ACCOUNT TO ROLE FREEHOLD",
                "CREATE DATABASE CANARY",
                "GRANT OWNERSHIP ON DATABASE CANARY TO ROLE FREEHOLD",
                "GRANT OWNERSHIP ON SCHEMA CANARY.PUBLIC TO ROLE FREEHOLD",
            ],
        }
    ]
}


@dataclass(frozen=True)
class World:
    """The processes and whom they talk to.

    Attributes:
        tenant: a team whose ProviderConfigs may log in as the workload, too.
        controllers: the controllers.
        webhook: the webhook.
        traces: what the collector has received.
        workload_token: the workload's token for Snowflake.
        access_token: what the token endpoint gives.
        token_port: the token endpoint.
        token_ca: whom to trust for it, PEM.
        proxy_port: the proxy.
    """

    tenant: Tenant
    controllers: tuple[Controller, ...]
    webhook: WebhookProcess
    traces: list[bytes]
    workload_token: str
    access_token: str
    token_port: int
    token_ca: str
    proxy_port: int


@pytest.fixture(scope="package")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane() as started:
        install_without_pods(started)
        yield started


@pytest.fixture(scope="package")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    started = Endpoint(tmp_path_factory.mktemp("endpoint"), SEED)
    yield started
    started.stop()


@pytest.fixture(scope="package")
def world(control_plane: ControlPlane, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("telemetry")
    certificate = issue(folder / "tls", ["127.0.0.1"])
    traces: list[bytes] = []
    workload_token = Issuer("https://kubernetes.test").token(sub="system:serviceaccount:freehold:freehold-account")
    (folder / "token").write_text(workload_token)
    access_token = secrets.token_hex(12)
    collector = type("Collecting", (Collector,), {"received": traces})
    tokens = type("Giving", (TokenEndpoint,), {"token": access_token})
    namespace = "telemetry"
    control_plane.kubectl("create", "namespace", namespace)
    with (
        serving(collector) as collector_port,
        serving(tokens, certificate.server_context()) as token_port,
        serving(Proxy) as proxy_port,
        ExitStack() as stack,
    ):
        options = (
            f"--allowed-hosts={endpoint.host}:{endpoint.port},127.0.0.1",
            f"--workload-identity-namespaces={namespace}",
            "--log-level=debug",
            "--log-format=json",
        )
        own = ("--lease-duration=6", "--sql-statements", f"--workload-identity-token={folder / 'token'}")
        controllers = tuple(
            Controller(control_plane, domain, folder, *options, *own) for domain in ("account", "schema")
        )
        site = Site(control_plane, "freehold", Authority(), folder)
        stack.callback(site.close)
        site.mount(site.issue())
        # Only while they are started: whatever else this worker starts afterwards is not to have it.
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector_port}")
            environment.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
            environment.setenv("SNOWFLAKE_WIF_ALLOWED_HOST_SUFFIXES", endpoint.host)
            webhook = site.replica(*options, "--drain=0.5")
            for each in controllers:
                each.begin()
                stack.callback(each.kill)
        register_webhook(control_plane, webhook.url, site.authority.pair.certificate)
        for each in controllers:
            each.ready()
        until(lambda: asyncio.run(webhook.ready()), START_SECONDS, "the webhook to be ready", webhook.log.read_text)
        tenant = Tenant(control_plane, endpoint, namespace)
        tenant.provide("ANNA", PASSWORD)
        tenant.ready("providerconfig", "default")
        yield World(
            tenant=tenant,
            controllers=controllers,
            webhook=webhook,
            traces=traces,
            workload_token=workload_token,
            access_token=access_token,
            token_port=token_port,
            token_ca=certificate.ca.read_text(),
            proxy_port=proxy_port,
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder share the processes, so one worker runs them all."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("telemetry"))
