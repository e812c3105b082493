"""What PostgreSQL's catalogue says of a database's privileges, by one query that takes no arguments.

Privileges count per schema, not per table, so that the answer is small however many tables there are. Those that
somebody else than an object's owner has granted are left out: revoking doesn't reach them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from freehold.sql import Sql, words


class Scope(StrEnum):
    """What privileges are on."""

    DATABASE = "DATABASE"
    SCHEMA = "SCHEMA"
    TABLES = "TABLES"
    SEQUENCES = "SEQUENCES"
    FUTURE_TABLES = "FUTURE TABLES"
    FUTURE_SEQUENCES = "FUTURE SEQUENCES"
    ROLE = "ROLE"
    """No privileges: the role is there."""


METRICS_ROLE = "cnpg_metrics_exporter"
"""Role by which CloudNativePG measures databases that its queries name."""

PUBLIC = ""
"""All roles together, which no role can be named."""

QUERY: Sql = words(
    """
WITH objects AS (
  SELECT 'DATABASE' AS scope, '' AS schema, datdba AS owner,
         coalesce(datacl, pg_catalog.acldefault('d', datdba)) AS acl
    FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()
  UNION ALL
  SELECT 'SCHEMA', nspname, nspowner, coalesce(nspacl, pg_catalog.acldefault('n', nspowner))
    FROM pg_catalog.pg_namespace
  UNION ALL
  SELECT CASE relkind WHEN 'S' THEN 'SEQUENCES' ELSE 'TABLES' END, nspname, relowner,
         coalesce(relacl, pg_catalog.acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  UNION ALL
  SELECT CASE defaclobjtype WHEN 'S' THEN 'FUTURE SEQUENCES' ELSE 'FUTURE TABLES' END, nspname, defaclrole, defaclacl
    FROM pg_catalog.pg_default_acl JOIN pg_catalog.pg_namespace AS n ON n.oid = defaclnamespace
    WHERE defaclobjtype IN ('r', 'S')
), ours AS (
  SELECT scope, schema, owner, acl,
         CASE WHEN scope IN ('TABLES', 'SEQUENCES') THEN '' ELSE pg_catalog.pg_get_userbyid(owner) END AS owned_by
    FROM objects WHERE schema <> 'information_schema' AND NOT pg_catalog.starts_with(schema::text, 'pg_')
)
SELECT scope, schema, owned_by, NULL AS grantee, NULL AS privilege, false AS own, pg_catalog.count(*) AS objects
  FROM ours GROUP BY scope, schema, owned_by
UNION ALL
SELECT scope, schema, owned_by, CASE grantee WHEN 0 THEN '' ELSE pg_catalog.pg_get_userbyid(grantee) END,
       privilege_type, grantee = owner, pg_catalog.count(*)
  FROM ours CROSS JOIN LATERAL pg_catalog.aclexplode(acl)
  WHERE grantor = owner GROUP BY scope, schema, owned_by, grantee, privilege_type, grantee = owner
UNION ALL
SELECT 'ROLE', '', '', rolname, NULL, false, 1
  FROM pg_catalog.pg_roles WHERE rolname = 'cnpg_metrics_exporter'
"""
)
"""Answers with the columns of `Row`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the answer.

    Attributes:
        scope: what the privilege is on.
        schema: the schema; empty for the database.
        owned_by: whose it is; empty for tables and sequences. Of what is still to be made: who makes it.
        grantee: who has the privilege; `PUBLIC`; None where the line says how many objects there are.
        privilege: which.
        own: whether the grantee has it as the owner.
        objects: on how many objects.
    """

    scope: str
    schema: str
    owned_by: str
    grantee: str | None
    privilege: str | None
    own: bool
    objects: int


@dataclass(frozen=True, slots=True)
class Place:
    """What privileges are on.

    Attributes:
        scope: what.
        schema: in, or being, which schema; empty for the database.
        maker: who makes what is still to be made; empty for all else.
    """

    scope: Scope
    schema: str = ""
    maker: str = ""


class Catalogue:
    """What is there."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Args:
        rows: the answer to `QUERY`.
        """
        self._rows = tuple(rows)

    def owner(self, schema: str) -> str | None:
        """Whose a schema is; None where there is no such schema."""
        found = (each for each in self._rows if each.scope == Scope.SCHEMA and each.schema == schema)
        return next((each.owned_by for each in found), None)

    def has_role(self, role: str) -> bool:
        """Whether there is a role of CloudNativePG's own."""
        return any(each.scope == Scope.ROLE and each.grantee == role for each in self._rows)

    def on_all(self, place: Place, grantee: str) -> frozenset[str] | None:
        """The privileges that a role has on each object of a place; None where there is no object."""
        lines = self._at(place)
        total = sum(each.objects for each in lines if each.grantee is None)
        if total == 0:
            return None
        held = [each for each in lines if each.grantee == grantee and each.privilege]
        names = {each.privilege for each in held if each.privilege}
        return frozenset(
            name for name in names if sum(each.objects for each in held if each.privilege == name) >= total
        )

    def granted(self, place: Place, grantee: str) -> frozenset[str]:
        """The privileges that a role was granted on any object of a place; an owner's own are none of them."""
        lines = (each for each in self._at(place) if each.grantee == grantee and not each.own)
        return frozenset(each.privilege for each in lines if each.privilege)

    def _at(self, place: Place) -> list[Row]:
        return [
            each
            for each in self._rows
            if each.scope == place.scope and each.schema == place.schema and place.maker in ("", each.owned_by)
        ]
