"""The account behind the endpoint as a process of its own, with the real driver in between."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from freehold.snowflake.credentials import Password
from freehold.snowflake.driver import Connection
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold_devstack.snowflake.control_client import RefusedError
from tests.harness.endpoint import Endpoint
from tests.model.account import OURS, ROLES, STATEMENTS, Wire

USER, PASSWORD = "U", "correct horse battery staple"

SEED = {
    "accounts": [
        {
            "roles": {role: dict(facts) for role, facts in ROLES.items()},
            "users": {USER: {"password": PASSWORD, "roles": [OURS], "default_role": OURS}},
            "statements": STATEMENTS,
        }
    ]
}

_LIMIT = timedelta(seconds=60)


class Remote:
    """An account that is found empty, whatever was done in it before."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # Roles last: what they own would become another's.
        for kind in ("WAREHOUSE", "DATABASE", "ROLE"):
            for row in self.sql(f"SHOW {kind}S"):
                if row["owner"] and row["name"] not in ROLES:
                    self.sql(f'DROP {kind} "{row["name"]}"', role=row["owner"])
        self.sql(STATEMENTS[0])

    def sql(self, statement: str, role: str = "ACCOUNTADMIN") -> list[Mapping[str, Any]]:
        try:
            return list(self._endpoint.sql(statement, role))
        except RefusedError:
            return []

    async def connect(self) -> Wire:
        endpoint = self._endpoint
        credential = Password("Secret n/default", PASSWORD)
        settings = ConnectionSettings(
            provider="n/default",
            account="FREEHOLD-DEVSTACK",
            host=endpoint.host,
            port=endpoint.port,
            user=USER,
            role=OURS,
            warehouse=None,
            credential=credential,
            ca_bundle=endpoint.ca,
        )
        connection: Connection = (await Session.open(settings, "model", _LIMIT)).connection
        return connection
