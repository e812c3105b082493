"""Database roles in the hands of roles."""

from __future__ import annotations

from collections.abc import Mapping

from freehold import slots
from freehold.identifiers import InvalidName
from freehold.kinds import assignments
from freehold.kinds.assignments import grant_option
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, qualified_name, ref
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import Rule, exactly_one


class DatabaseRoleAssignmentSpec(SnowflakeSpec):
    """A database role that is granted to an account role, to another role of its database or to a share."""

    database_role: str | None = qualified_name()
    """The role, as DATABASE.ROLE; names in double quotes keep their case."""
    database_role_ref: Reference | None = ref("DatabaseRole", instead_of="database_role", parent=True, qualified=True)
    """The DatabaseRole, in place of its name."""
    to_role: Name | None = immutable()
    """Stored name of the account role that gets it."""
    to_role_ref: Reference | None = ref("AccountRole", instead_of="to_role", parent=True)
    """The AccountRole that gets it, in place of its name."""
    to_database_role: str | None = qualified_name()
    """The role of the same database that gets it, as DATABASE.ROLE."""
    to_database_role_ref: Reference | None = ref(
        "DatabaseRole", instead_of="to_database_role", parent=True, qualified=True
    )
    """The DatabaseRole that gets it, in place of its name."""
    to_share: Name | None = immutable()
    """Stored name of the share that gets it."""
    to_share_ref: Reference | None = ref("Share", instead_of="to_share", parent=True)
    """The Share that gets it, in place of its name."""
    with_grant_option: bool | None = grant_option()
    """Whether the role that gets it may pass it on."""


def _assignment(spec: DatabaseRoleAssignmentSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    role = yield from named_in(spec, "database_role", namespace, kinds)
    holder = _holder_type(spec)
    name = yield from named_in(spec, f"to_{holder.lower().replace(' ', '_')}", namespace, kinds)
    if holder == "DATABASE ROLE" and name[0] != role[0]:
        raise InvalidName(f"a role of database {role[0]!r} can't be granted to one of database {name[0]!r}")
    return (slots.assignment(slots.of("DATABASE ROLE", *role), slots.of(holder, *name)),)


def _holder_type(spec: DatabaseRoleAssignmentSpec) -> str:
    if spec.to_share or spec.to_share_ref:
        return "SHARE"
    return "ROLE" if spec.to_role or spec.to_role_ref else "DATABASE ROLE"


_TO = ("toRole", "toRoleRef", "toDatabaseRole", "toDatabaseRoleRef", "toShare", "toShareRef")

DATABASE_ROLE_ASSIGNMENT = Kind(
    spec=DatabaseRoleAssignmentSpec,
    domain=Domain.ACCOUNT,
    object_type="DATABASE ROLE ASSIGNMENT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("dra",),
    slots=_assignment,
    filling=assignments.FILLING,
    rules=(
        exactly_one("databaseRole", "databaseRoleRef"),
        exactly_one(*_TO),
        Rule(
            "!has(self.withGrantOption) || !(has(self.toShare) || has(self.toShareRef))",
            "shares can't pass roles on: remove withGrantOption",
            "withGrantOption",
        ),
    ),
)
