"""What is in a share: privileges that the accounts get to which it is offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from freehold import slots, sql
from freehold.identifiers import printed, split_in_schema
from freehold.identity import Slot
from freehold.kinds import grants
from freehold.kinds.assignments import revoke, words
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import immutable, qualified_name, ref, unsupported
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.grants import PrivilegesSpec, Securable
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import exactly_one
from freehold.observation import Row

_FIELDS = {
    "DATABASE": "on_database", "SCHEMA": "on_schema", "TABLE": "on_table", "VIEW": "on_view", "TAG": "on_tag",
    "FUNCTION": "on_function",
}  # fmt: skip
"""Fields of the spec by the type of object that they name."""

_SHAREABLE: Mapping[str, tuple[str, ...]] = {
    "DATABASE": ("USAGE",),
    "SCHEMA": ("USAGE",),
    "TABLE": ("SELECT", "EVOLVE SCHEMA"),
    "VIEW": ("SELECT",),
    "TAG": ("READ",),
    "FUNCTION": ("USAGE",),
}
"""Privileges that a share may have, by type of object ("GRANT <privilege> ... TO SHARE" in Snowflake's SQL reference),
as far as SHOW GRANTS tells of them: of REFERENCE_USAGE it has no row."""


class GrantPrivilegesToShareSpec(PrivilegesSpec):
    """Privileges on a database, or on an object in it, that the accounts have to which a share is offered. The database
    comes first, then its schemas, then what is in them."""

    share: Name | None = immutable()
    """Stored name of the share."""
    share_ref: Reference | None = ref("Share", instead_of="share", parent=True)
    """The Share, in place of its name."""
    on_database: Name | None = immutable()
    """Stored name of the database that they are on: USAGE, of one database a share."""
    on_database_ref: Reference | None = ref("Database", instead_of="on_database", parent=True)
    """That Database, in place of its name."""
    on_schema: str | None = qualified_name()
    """The schema that they are on, as DATABASE.SCHEMA: USAGE. Names in double quotes keep their case."""
    on_schema_ref: Reference | None = ref("Schema", instead_of="on_schema", parent=True, qualified=True)
    """That Schema, in place of its name."""
    on_table: str | None = qualified_name(split_in_schema)
    """The table of any sort that they are on, as DATABASE.SCHEMA.TABLE: SELECT or EVOLVE SCHEMA."""
    on_table_ref: Reference | None = ref("Table", instead_of="on_table", parent=True, qualified=True)
    """That Table, in place of its name."""
    on_view: str | None = qualified_name(split_in_schema)
    """The view that they are on, as DATABASE.SCHEMA.VIEW: SELECT. It must be secure, unless the share's
    secureObjectsOnly is false."""
    on_view_ref: Reference | None = ref("View", instead_of="on_view", parent=True, qualified=True)
    """That View, in place of its name."""
    on_tag: str | None = qualified_name(split_in_schema)
    """The tag that they are on, as DATABASE.SCHEMA.TAG: READ."""
    on_tag_ref: Reference | None = ref("Tag", instead_of="on_tag", parent=True, qualified=True)
    """That Tag, in place of its name."""
    on_function: str | None = immutable()
    """The secure function that they are on, with its argument types, as DATABASE.SCHEMA.FUNCTION(NUMBER): USAGE."""
    on_all_tables_in_schema: str | None = unsupported(
        "Snowflake keeps no such grant, but one on each table that is there at the time, which could neither be "
        "watched nor told from others' when it is taken back: name each table in onTable",
        max_length=1024,
    )
    """All tables of a schema at the time. This release has no such grants: name each table."""


def _type(spec: GrantPrivilegesToShareSpec) -> str:
    """The type of object that they are on."""
    set_ = (kind for kind, field in _FIELDS.items() if getattr(spec, field) or getattr(spec, f"{field}_ref", None))
    return next(set_, "DATABASE")


def _grants(spec: GrantPrivilegesToShareSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    securable = yield from _securable(spec, namespace, kinds)
    share = yield from named_in(spec, "share", namespace, kinds)
    return grants.granted(spec, securable, slots.of("SHARE", *share))


def _securable(spec: GrantPrivilegesToShareSpec, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    object_type = _type(spec)
    if spec.on_function is not None:
        return grants.named_object(object_type, spec.on_function)
    return slots.of(object_type, *(yield from named_in(spec, _FIELDS[object_type], namespace, kinds)))


def _faults(spec: GrantPrivilegesToShareSpec) -> Iterator[str]:
    object_type = _type(spec)
    for index, each in enumerate(spec.privileges):
        if each == "REFERENCE_USAGE":
            yield (
                f"spec.privileges[{index}]: SHOW GRANTS has no row of REFERENCE_USAGE, which can be neither watched "
                "nor taken back: grant it yourself"
            )
        elif each not in _SHAREABLE[object_type]:
            can = " and ".join(_SHAREABLE[object_type])
            yield f"spec.privileges[{index}]: {each} on a {object_type.lower()} can't be in a share, but {can} can"


def _show(slot: Slot) -> Listing:
    """One list tells all of a share, but prints functions with names and results, so that each is asked for itself."""
    given = slots.granted(slot)
    object_type, name = given.on
    if object_type == "FUNCTION":
        query = sql.sql("SHOW GRANTS ON FUNCTION {name}", name=sql.named(name))
        return Listing(query, "grantee_name", printed(*given.grantee.parts))
    query = sql.sql("SHOW GRANTS TO SHARE {share}", share=sql.named(given.grantee))
    return Listing(query, "name", printed(*name.parts), complete=False)


def _fills(slot: Slot, row: Row) -> bool:
    given = slots.granted(slot)
    object_type, name = given.on
    # A share is printed behind its account.
    to = {str(row["grantee_name"]), str(row["grantee_name"]).partition(".")[2]}
    return (
        row["privilege"] == given.privilege
        and row["granted_to"] == "SHARE"
        and not to.isdisjoint(printed(*given.grantee.parts))
        # Tables of every sort are granted as tables, and all of them share their names with views.
        and words(row["granted_on"]).endswith(object_type)
        and (object_type == "FUNCTION" or row["name"] in printed(*name.parts))
    )


def _fill(slot: Slot, _spec: Any) -> sql.Sql:
    return sql.sql("GRANT {it}", it=sql.named(slot))


GRANT_PRIVILEGES_TO_SHARE = Kind(
    spec=GrantPrivilegesToShareSpec,
    domain=Domain.ACCOUNT,
    object_type="GRANT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("gps",),
    slots=_grants,
    filling=Filling(show=_show, fills=_fills, fill=_fill, empty=lambda slot, _force: revoke(slot, force=False)),
    rules=(
        exactly_one("share", "shareRef"),
        exactly_one(
            "onDatabase",
            "onDatabaseRef",
            "onSchema",
            "onSchemaRef",
            "onTable",
            "onTableRef",
            "onView",
            "onViewRef",
            "onTag",
            "onTagRef",
            "onFunction",
            "onAllTablesInSchema",
        ),
    ),
    faults=lambda spec: tuple(_faults(spec)),
)
