"""Log-ins over all processes: nobody tries again what one was refused with."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from freehold.kube.client import Kube
from freehold.kube.turns import LeaseTurns
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.errors import CredentialsRefused
from freehold.snowflake.guard import Guard
from freehold.snowflake.settings import ConnectionSettings
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant

REFUSED = "390100"
LATER = "Later1 than that"
"""The password that follows; the account's policy asks for digits and capitals."""


@pytest.fixture
def user(endpoint: Endpoint) -> Iterator[str]:
    """A user of its own, which may be locked out."""
    name = f"U{secrets.token_hex(4)}".upper()
    endpoint.sql(f"CREATE USER {name} PASSWORD = '{PASSWORD}' DEFAULT_ROLE = FREEHOLD")
    endpoint.sql(f"GRANT ROLE FREEHOLD TO USER {name}")
    yield name
    endpoint.clear_faults()
    endpoint.sql(f"DROP USER {name}")


def refused(endpoint: Endpoint, user: str) -> int:
    return endpoint.logins(user).count(REFUSED)


def test_a_password_that_one_controller_was_refused_with_is_tried_by_no_other_until_it_changes(
    newcomer: Tenant, user: str, name: str
) -> None:
    newcomer.provide(user, PASSWORD)
    newcomer.apply("Database", "db", spec={"name": name})
    newcomer.apply("Schema", "schema", spec={"name": "S", "databaseRef": {"name": "db"}})
    newcomer.ready("database", "db")
    newcomer.ready("schema", "schema")
    endpoint = newcomer.endpoint
    assert set(endpoint.logins(user)) == {"ok"}

    endpoint.sql(f"ALTER USER {user} SET PASSWORD = '{LATER}'")
    # The account controller's own session lives on.
    endpoint.fault("SCHEMAS", "lose-session", user=user, times=None)
    (message,) = newcomer.reaches("providerconfig", "default", "CredentialsError")
    newcomer.reaches("database", "db", "DependencyNotReady", "Synced")
    newcomer.reaches("schema", "schema", "DependencyNotReady", "Synced")
    assert f"Secret {newcomer.namespace}/default" in message
    assert "Nobody tries it again before the Secret or the ProviderConfig changes" in message
    assert refused(endpoint, user) == 1

    newcomer.secret("default", "wrong")
    until(lambda: refused(endpoint, user) == 2, DEADLINE, "the new password to be tried")
    newcomer.reaches("providerconfig", "default", "CredentialsError")
    look(newcomer)
    assert refused(endpoint, user) == 2

    endpoint.clear_faults()
    newcomer.secret("default", LATER)
    newcomer.ready("providerconfig", "default")
    newcomer.ready("database", "db")
    newcomer.ready("schema", "schema")
    assert refused(endpoint, user) == 2


def look(tenant: Tenant) -> None:
    """Have everything looked at again, and wait until a later resource has been."""
    for kind, name in (("ProviderConfig", "default"), ("Database", "db"), ("Schema", "schema")):
        tenant.kubectl("annotate", kind, name, "freehold.dev/reconcile-now=again", "--overwrite")
    tenant.apply("Warehouse", "later", spec={"name": "LATER"})
    tenant.reaches("warehouse", "later", "DependencyNotReady")
    tenant.delete("warehouse", "later")


@pytest.fixture
async def processes(control_plane: ControlPlane) -> AsyncIterator[list[Snowflake]]:
    """What five processes of an installation log in by."""
    async with AsyncExitStack() as stack:
        clients = []
        for number in range(5):
            config = control_plane.kubeconfig_for(NAMESPACE, "freehold-schema")
            kube = await stack.enter_async_context(Kube.from_kubeconfig(config))
            turns = LeaseTurns(kube, NAMESPACE, f"process-{number}", timedelta(seconds=6))
            clients.append(await stack.enter_async_context(Snowflake("test", guard=Guard(turns))))
        yield clients


async def test_five_processes_with_a_wrong_password_make_one_attempt_and_one_more_when_it_changes(
    processes: list[Snowflake], endpoint: Endpoint, user: str
) -> None:
    wrong = ConnectionSettings(
        provider="team/default",
        account="FREEHOLD-DEVSTACK",
        host=endpoint.host,
        port=endpoint.port,
        user=user,
        role=None,
        warehouse=None,
        credential=Password("Secret team/default, key password", "wrong"),
        ca_bundle=endpoint.ca,
        revision="1",
    )
    for attempts, settings in enumerate((wrong, replace(wrong, revision="2")), start=1):
        for _ in range(2):
            asked = (each.verify(settings.acting_as(role)) for each in processes for role in (None, "FREEHOLD"))
            answers = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(each) for each in answers} == {CredentialsRefused}
            assert {str(each).count("Secret team/default") for each in answers} == {1}
        assert endpoint.logins(user) == [REFUSED] * attempts

    good = replace(wrong, credential=Password("Secret", PASSWORD), revision="3")
    facts = await asyncio.gather(*(each.verify(good) for each in processes))
    assert {each.user for each in facts} == {user}
    assert endpoint.logins(user) == [REFUSED] * 2 + ["ok"] * 5
