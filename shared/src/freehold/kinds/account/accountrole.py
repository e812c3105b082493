"""Account roles."""

from __future__ import annotations

from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.resource import Rule
from freehold.kinds.roles import ownership_kept
from freehold.observation import Observation

SYSTEM_ROLES = ("ACCOUNTADMIN", "ORGADMIN", "GLOBALORGADMIN", "SECURITYADMIN", "USERADMIN", "SYSADMIN", "PUBLIC")
"""Roles that every account has. Source: "System-defined roles" in Snowflake's documentation."""


class AccountRoleSpec(SnowflakeSpec):
    """A role of the account, which holds privileges. Nobody has it until it is granted, not even its owner."""

    name: Name = own_name()
    """The role's name as it is stored: case kept, never folded."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _adoptable(observation: Observation) -> str | None:
    """The role of the session can't be dropped, and must not be by any other session."""
    return "it is the role that Freehold works with" if observation.row.get("is_current") == "Y" else None


ACCOUNT_ROLE = Kind(
    spec=AccountRoleSpec,
    domain=Domain.ACCOUNT,
    object_type="ROLE",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("ar",),
    create_or_alter=True,
    rules=(
        Rule(
            f"!(self.name in {list(SYSTEM_ROLES)})",
            f"{', '.join(SYSTEM_ROLES)} are Snowflake's own roles and are neither made nor dropped",
            "name",
        ),
    ),
    volatile=frozenset({"is_inherited", "assigned_to_users", "granted_to_roles", "granted_roles"}),
    content=ownership_kept("ROLE"),
    adoptable=_adoptable,
)
