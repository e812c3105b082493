"""Both controllers on a control plane of their own: they work on every resource that they find."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from freehold.kinds.registry import KINDS
from freehold.role_script import Absence, grants
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.snowflake.issuer import Issuer
from tests.harness.chart import install_without_pods
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.tenant import Tenant

PASSWORD = "correct horse battery staple"

WORKLOADS = "workloads"
"""The namespace whose ProviderConfigs may log in as the controllers themselves."""
SILENT = "SILENT"
"""An account that may cease to answer."""
PLATFORM = Issuer("https://kubernetes.test")
"""Who makes the controllers' tokens for Snowflake."""
WORKLOAD = {"issuer": PLATFORM.url, "subject": "system:serviceaccount:freehold:freehold-account"}

SEED = {
    "issuers": {PLATFORM.url: PLATFORM.keys},
    "accounts": [
        {
            "roles": {role: {"granted_to": ["SYSADMIN"]} for role in ("FREEHOLD", "SHORTSIGHTED")}
            | {"DATA_STEWARD": {"granted_to": ["FREEHOLD"]}},
            "users": {
                name: {"password": PASSWORD, "roles": [role], "default_role": role}
                for name, role in (("BERT", "SHORTSIGHTED"), ("CARL", "FREEHOLD"))
            }
            | {"ANNA": {"password": PASSWORD, "roles": ["FREEHOLD", "ACCOUNTADMIN"], "default_role": "FREEHOLD"}}
            | {"WALTER": {"roles": ["FREEHOLD"], "default_role": "FREEHOLD", "workload_identity": WORKLOAD}},
            "statements": [
                *(each.statement.text for each in grants(KINDS.values(), "FREEHOLD", Absence.RESOLVE_ALL)),
                "GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE SHORTSIGHTED",
                # Of the samples.
                "CREATE WAREHOUSE READING",
                "GRANT USAGE ON WAREHOUSE READING TO ROLE FREEHOLD",
                *(f"ALTER USER {user} SET DEFAULT_WAREHOUSE = READING" for user in ("ANNA", "CARL")),
            ],
        },
        {
            "organization": "ACME",
            "name": "PARTNER",
            "locator": "FH00003",
            "peers": ["FREEHOLD.DEVSTACK"],
            "statements": [
                "CREATE DATABASE MARKET",
                "CREATE SHARE MARKET",
                "GRANT USAGE ON DATABASE MARKET TO SHARE MARKET",
                "ALTER SHARE MARKET ADD ACCOUNTS = FREEHOLD.DEVSTACK",
                "CREATE DATABASE PRICES",
                "ALTER DATABASE PRICES ENABLE REPLICATION TO ACCOUNTS FREEHOLD.DEVSTACK",
            ],
        },
        {
            "name": SILENT,
            "locator": "FH00002",
            "users": {
                name: {"password": PASSWORD, "roles": ["SYSADMIN"], "default_role": "SYSADMIN"}
                for name in ("SAM", "SUE")
            },
        },
    ],
}
"""ANNA's role has what the script of the role grants, and sees everything; she may also work as the one that alone
makes some kinds. BERT's role sees only what it has a privilege on; CARL is there to be locked out; WALTER is the
controllers themselves. ACME offers what the samples of SharedDatabase and SecondaryDatabase are made from."""


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


@pytest.fixture(scope="package", autouse=True)
def controllers(
    control_plane: ControlPlane, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Controller]]:
    """The controllers by domain."""
    folder = tmp_path_factory.mktemp("controllers")
    hosts = f"{endpoint.host}:{endpoint.port},127.0.0.2"
    token = folder / "token"
    token.write_text(PLATFORM.token(sub=WORKLOAD["subject"], aud="snowflakecomputing.com", exp=2**32))
    workload = (f"--workload-identity-token={token}", f"--workload-identity-namespaces={WORKLOADS}")
    options = (
        f"--allowed-hosts={hosts}",
        "--lease-duration=6",
        "--resync-interval=2",
        "--field-exports",
        "--sql-statements",
        "--allowed-privileged-roles=ACCOUNTADMIN",
        *workload,
    )
    started = {domain: Controller(control_plane, domain, folder, *options) for domain in ("account", "schema")}
    with pytest.MonkeyPatch.context() as environment:
        # Otherwise the driver gives the token to hosts of Snowflake's own domains alone. Tests start controllers anew.
        environment.setenv("SNOWFLAKE_WIF_ALLOWED_HOST_SUFFIXES", endpoint.host)
        for controller in started.values():
            controller.start()
        yield started
        for controller in started.values():
            controller.kill()


@pytest.fixture
def newcomer(control_plane: ControlPlane, endpoint: Endpoint, namespace: str) -> Iterator[Tenant]:
    """A team that has nothing yet."""
    yield Tenant(control_plane, endpoint, namespace)
    endpoint.clear_faults()


@pytest.fixture
def tenant(newcomer: Tenant) -> Tenant:
    """A team whose ProviderConfig `default` sees everything."""
    newcomer.provide("ANNA", PASSWORD, allowedRoles=["*"])
    return newcomer


@pytest.fixture
def name() -> str:
    """A name in Snowflake that no other test uses."""
    return f"T{secrets.token_hex(4)}".upper()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder share one pair of controllers, so one worker runs them all; first the one that counts
    what the whole API server is asked to write, for others leave namespaces behind that end by and by."""
    items.sort(key=lambda item: item.path.name != "test_idle.py")
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("controllers"))
