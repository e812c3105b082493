"""Privileges of database roles."""

from __future__ import annotations

from collections.abc import Mapping

from freehold import slots
from freehold.identifiers import InvalidName
from freehold.identity import Name as Named
from freehold.kinds import grants
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import immutable, qualified_name, ref
from freehold.kinds.grants import GrantSpec, OnSchema, OnSchemaObject, Securable
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import exactly_one


class GrantPrivilegesToDatabaseRoleSpec(GrantSpec):
    """Privileges on a database, or on an object in it, or on objects to come, that a role of that database has."""

    database_role: str | None = qualified_name()
    """The role, as DATABASE.ROLE; names in double quotes keep their case."""
    database_role_ref: Reference | None = ref("DatabaseRole", instead_of="database_role", parent=True, qualified=True)
    """The DatabaseRole, in place of its name."""
    on_database: Name | None = immutable()
    """Stored name of the database that they are on, which is the role's."""
    on_database_ref: Reference | None = ref("Database", instead_of="on_database", parent=True)
    """The Database that they are on, in place of its name."""
    on_schema: OnSchema | None = immutable()
    """The schema that they are on, or the schemas to come."""
    on_schema_object: OnSchemaObject | None = immutable()
    """The object in a schema that they are on, or the objects to come."""


def _grants(spec: GrantPrivilegesToDatabaseRoleSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    securable = yield from _securable(spec, namespace, kinds)
    role = yield from named_in(spec, "database_role", namespace, kinds)
    (database, *_) = (piece.parts[0] for piece in securable if isinstance(piece, Named))
    if database != role[0]:
        raise InvalidName(f"a role of database {role[0]!r} has no privileges in database {database!r}")
    return grants.granted(spec, securable, slots.of("DATABASE ROLE", *role))


def _securable(spec: GrantPrivilegesToDatabaseRoleSpec, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    if spec.on_schema is not None:
        return (yield from grants.schema(spec.on_schema, namespace, kinds))
    if spec.on_schema_object is not None:
        return (yield from grants.in_schema(spec.on_schema_object, namespace, kinds))
    return slots.of("DATABASE", *(yield from named_in(spec, "on_database", namespace, kinds)))


def _type(spec: GrantPrivilegesToDatabaseRoleSpec) -> str:
    """The type of object whose privileges they are."""
    on_database = spec.on_database or spec.on_database_ref
    return "DATABASE" if on_database else grants.type_in_schema(spec.on_schema_object)


GRANT_PRIVILEGES_TO_DATABASE_ROLE = Kind(
    spec=GrantPrivilegesToDatabaseRoleSpec,
    domain=Domain.ACCOUNT,
    object_type="GRANT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("gpdr",),
    slots=_grants,
    filling=grants.FILLING,
    rules=(
        exactly_one("privileges", "allPrivileges"),
        exactly_one("databaseRole", "databaseRoleRef"),
        exactly_one("onDatabase", "onDatabaseRef", "onSchema", "onSchemaObject"),
    ),
    faults=lambda spec: tuple(grants.faults(spec, _type(spec))),
    advice=lambda spec: grants.advice(spec, _type(spec)),
)
