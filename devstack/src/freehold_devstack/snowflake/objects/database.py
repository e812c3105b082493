"""DATABASE: https://docs.snowflake.com/en/sql-reference/sql/create-database and the pages beside it."""

from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake import errors, replication, shared_databases
from freehold_devstack.snowflake.catalog import CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Clause, Given, Property
from freehold_devstack.snowflake.grants.shares import ORIGIN, is_imported
from freehold_devstack.snowflake.network_access import check_unassociated
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parameters import STORAGE_PARAMETERS
from freehold_devstack.snowflake.parser import Parser, phrases
from freehold_devstack.snowflake.policies import check_unused_outside
from freehold_devstack.snowflake.relations.constraints import references
from freehold_devstack.snowflake.replication import FAILOVER, PRIMARY, REPLICATION, is_replica
from freehold_devstack.snowflake.results import Result, text, timestamp
from freehold_devstack.snowflake.session_statements import make_current
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
)
from freehold_devstack.snowflake.values import Text

_RETENTION = "DATA_RETENTION_TIME_IN_DAYS"
_READ_ONLY = {"INFORMATION_SCHEMA": None}
"""The schemas with which a database starts that others fill."""


def check_retention(_context: Context, draft: CatalogObject, _given: frozenset[str]) -> CatalogObject:
    """What is transient keeps one day at most."""
    days = draft.parameters.get(_RETENTION)
    if draft.properties["TRANSIENT"] and isinstance(days, int) and days > 1:
        raise errors.invalid_parameter_value(str(days), _RETENTION)
    return draft


def check_unused(context: Context, container: CatalogObject) -> None:
    """Refuse the end of a database or schema with network rules or policies that something outside has."""
    check_unassociated(context, container)
    check_unused_outside(context, container)


def check_unreferenced(context: Context, container: CatalogObject) -> None:
    """Refuse the end of a database or schema into which foreign keys point from outside."""
    is_inside = partial(context.catalog.contains, container)
    for table in filter(is_inside, context.catalog.of_kind("TABLE")):
        if any(not is_inside(reference.table) for reference in references(context, table)):
            raise errors.unnumbered(f"Cannot drop the {container.kind.lower()} because of dependencies")


def _created(context: Context, database: CatalogObject) -> None:
    """A database is born with two schemas, one that is no account's own with one, and is the session's current one."""
    if context.catalog.members("SCHEMA", database.id):
        make_current(context, database)
        return
    public_role = context.catalog.find("ROLE", "PUBLIC")
    schemas = {"INFORMATION_SCHEMA": None, "PUBLIC": database.owner} if _is_own(database) else _READ_ONLY
    for name, owner in schemas.items():
        schema = context.catalog.add(
            CatalogObject(
                id=context.catalog.next_id,
                kind="SCHEMA",
                namespace="SCHEMA",
                name=name,
                parent=database.id,
                owner=owner,
                created_on=context.now,
                properties={"TRANSIENT": database.properties["TRANSIENT"], "MANAGED ACCESS": False, "COMMENT": ""},
            )
        )
        if owner is None and public_role is not None:
            context.catalog.grant(Grant("USAGE", schema.id, public_role.id, None, context.now))
    make_current(context, database)


def _describe(context: Context, database: CatalogObject) -> Result:
    schemas = [schema for schema in context.catalog.members("SCHEMA", database.id) if context.sees(schema)]
    columns = (timestamp("created_on"), text("name"), text("kind"))
    return Result(columns, [(schema.created_on, schema.name, schema.kind) for schema in schemas])


def _parse_source(parser: Parser) -> Given:
    """Take what a database is made from that is not its own: FROM SHARE … or AS REPLICA OF …."""
    if parser.accept("FROM", "SHARE"):
        return {ORIGIN: shared_databases.parse_share(parser)}
    if parser.accept("AS", "REPLICA", "OF"):
        return {PRIMARY: parser.full_name(parts=3)}
    for other in ("LISTING", "BACKUP"):
        if parser.at("FROM", other):
            raise errors.unsupported(f"CREATE DATABASE FROM {other}")
    return {}


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    if context.catalog.get(draft.id) is not None:
        shared_databases.check_alterable(draft, given)
        return check_retention(context, draft, given)
    if "CLONE" in given:
        # It is offered to nobody.
        own = {name: value for name, value in draft.properties.items() if name not in {REPLICATION, FAILOVER}}
        draft = replace(draft, properties=own)
    draft = check_retention(context, draft, given)
    if ORIGIN in given:
        shared_databases.check_import(context, draft)
    return replication.replicating(context, draft) if PRIMARY in given else draft


def _is_own(database: CatalogObject) -> bool:
    return not (is_imported(database) or is_replica(database))


def _guarding(context: Context, database: CatalogObject) -> None:
    shared_databases.check_writable(context, database)
    replication.check_writable(database)


def _redefining(_context: Context, database: CatalogObject) -> None:
    if not _is_own(database):
        raise errors.unsupported("CREATE OR ALTER of a database that is a replica or from a share")


def _dropping(context: Context, database: CatalogObject) -> None:
    replication.check_no_replicas(context, database)
    check_unused(context, database)


# --- the declaration -------------------------------------------------------------------------------------------------


def _kind(_context: Context, database: CatalogObject) -> Scalar:
    return "IMPORTED DATABASE" if is_imported(database) else "STANDARD"


def _retention_time(context: Context, database: CatalogObject) -> Scalar:
    return "" if is_imported(database) else str(context.retention(database))


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("is_default"), lambda *_: "N"),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(text("origin"), shared_databases.origin),
    OWNER,
    COMMENT,
    ShowColumn(text("options"), lambda _, obj: "TRANSIENT" if obj.properties["TRANSIENT"] else ""),
    ShowColumn(text("retention_time"), _retention_time),
    ShowColumn(timestamp("dropped_on"), lambda _, obj: obj.dropped_on, history=True),
    ShowColumn(text("kind"), _kind),
    ShowColumn(text("budget"), lambda *_: None),
    OWNER_ROLE_TYPE,
    ShowColumn(text("object_visibility"), lambda *_: None),
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), _kind),
    ShowColumn(text("database_name"), lambda *_: None),
    ShowColumn(text("schema_name"), lambda *_: None),
)

TYPE = ObjectType(
    kind="DATABASE",
    plural="DATABASES",
    modifiers=(Clause("TRANSIENT", "TRANSIENT"),),
    signature=_parse_source,
    properties=(Property("COMMENT", Text(), default="", unset="", privilege="MODIFY"),),
    parameters=STORAGE_PARAMETERS,
    rights=Rights(
        grantable=frozenset(
            phrases("""
            APPLYBUDGET, CREATE DATABASE ROLE, CREATE SCHEMA, EXECUTE AUTO CLASSIFICATION, MODIFY, MONITOR, USAGE
        """)
        ),
        describe="MONITOR",
        visible_with=("MONITOR USAGE",),
    ),
    actions=replication.ACTIONS,
    show=Show(_COLUMNS, terse=_TERSE, history=True, starts_with=True, limit=True, privileges=True),
    extra_shows=(("REPLICATION DATABASES", replication.parse_show),),
    describe=_describe,
    or_alter=True,
    retained=True,
    cascades=True,
    swaps=True,
    copying=Copying(
        clone="USAGE",
        clonable=_is_own,
    ),
    sources=frozenset({ORIGIN, PRIMARY}),
    lifecycle=Lifecycle(
        settle=_settle,
        created=_created,
        dropping=_dropping,
        restricting=check_unreferenced,
        redefining=_redefining,
        guarding=_guarding,
    ),
)
