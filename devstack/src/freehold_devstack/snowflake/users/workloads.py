"""SHOW USER WORKLOAD IDENTITY AUTHENTICATION METHODS.

https://docs.snowflake.com/en/sql-reference/sql/show-user-workload-identity-authentication-methods
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake.catalog import Value, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Result, text, timestamp
from freehold_devstack.snowflake.users.access_tokens import named_or_self, parse_for_user

_COLUMNS = (
    text("name"), text("type"), text("comment"), timestamp("last_used"), timestamp("created_on"),
    text("additional_info"),
)  # fmt: skip


def _details(identity: Mapping[str, Value]) -> dict[str, object]:
    """What tells the workload from others, in the words of who attests it."""
    if identity["TYPE"] == "AWS":
        _, partition, _, _, account, resource = str(identity["ARN"]).split(":", 5)
        kind, _, name = resource.partition("/")
        kinds = {"user": "IAM_USER", "role": "IAM_ROLE"}
        issuer = {"issuer": identity["ISSUER"]} if "ISSUER" in identity else {}
        return {
            "iamRole": name,
            "type": kinds.get(kind, "IAM_ROLE"),
            "awsAccount": account,
            "awsPartition": partition,
            **issuer,
        }
    details: dict[str, object] = {name.lower(): identity[name] for name in ("ISSUER", "SUBJECT") if name in identity}
    if identity["TYPE"] == "OIDC":
        details["audienceList"] = texts(identity.get("OIDC_AUDIENCE_LIST"))
    return details


@dataclass(frozen=True)
class ShowWorkloads:
    """SHOW USER WORKLOAD IDENTITY AUTHENTICATION METHODS [FOR USER <user>]."""

    user: Name = ()

    @property
    def form(self) -> Form:
        return Form("SHOW", "USER WORKLOAD IDENTITY AUTHENTICATION METHODS", self.user)

    def execute(self, context: Context) -> Result:
        user = named_or_self(context, self.user)
        if not context.is_self(user):
            context.require("MONITOR", user)
        identity = user.properties.get("WORKLOAD_IDENTITY")
        if not isinstance(identity, Mapping):
            return Result(_COLUMNS, [])
        set_on = user.properties.get("WORKLOAD_IDENTITY_SET_ON")
        info = json.dumps(_details(identity), separators=(",", ":"))
        created_on = set_on if isinstance(set_on, int) else user.created_on
        return Result(_COLUMNS, [("DEFAULT", str(identity["TYPE"]), None, None, created_on, info)])


def parse_show_workloads(parser: Parser) -> Statement:
    return ShowWorkloads(parse_for_user(parser))
