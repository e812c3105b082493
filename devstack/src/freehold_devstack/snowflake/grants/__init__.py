"""GRANT, REVOKE and SHOW GRANTS: privileges, roles, ownership, future grants and what is granted to shares."""

from freehold_devstack.snowflake.grants.parsing import parse_grant, parse_revoke
from freehold_devstack.snowflake.grants.show import parse_show_future_grants, parse_show_grants

__all__ = ["parse_grant", "parse_revoke", "parse_show_future_grants", "parse_show_grants"]
