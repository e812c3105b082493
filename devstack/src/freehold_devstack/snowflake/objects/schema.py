"""SCHEMA: https://docs.snowflake.com/en/sql-reference/sql/create-schema and the pages beside it."""

from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Clause, Given, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.database import check_retention, check_unreferenced, check_unused
from freehold_devstack.snowflake.parameters import STORAGE_PARAMETERS
from freehold_devstack.snowflake.parser import Parser, phrases
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


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Whatever is in a transient database is transient itself."""
    if draft.name == "INFORMATION_SCHEMA":
        raise errors.unnumbered("INFORMATION_SCHEMA is read-only.")
    inherited = draft.parent is not None and context.catalog[draft.parent].properties["TRANSIENT"]
    transient = bool(inherited or draft.properties["TRANSIENT"])
    return check_retention(context, replace(draft, properties={**draft.properties, "TRANSIENT": transient}), given)


def _cloning(context: Context, source: CatalogObject, given: Given) -> None:
    """Managed access takes more rights on the source."""
    if "MANAGED ACCESS" not in given:
        return
    if source.properties["MANAGED ACCESS"]:
        context.require(OWNERSHIP, source, primary_only=True)
    else:
        context.require("MANAGE GRANTS", context.catalog.account, primary_only=True)


def _managed_access(enabled: bool) -> Action:
    def parse(_parser: Parser) -> Act:
        def act(context: Context, schema: CatalogObject) -> None:
            properties = {**schema.properties, "MANAGED ACCESS": enabled}
            context.catalog.update(schema, replace(schema, properties=properties))

        return act

    return Action(f"{'ENABLE' if enabled else 'DISABLE'} MANAGED ACCESS", parse)


def _describe(context: Context, schema: CatalogObject) -> Result:
    inside = [obj for obj in context.catalog.children(schema.id) if context.sees(obj)]
    columns = (timestamp("created_on"), text("name"), text("kind"))
    return Result(columns, [(obj.created_on, obj.name, obj.kind) for obj in inside])


def _options(_context: Context, schema: CatalogObject) -> Scalar:
    options = [option for option in ("TRANSIENT", "MANAGED ACCESS") if schema.properties[option]]
    return ", ".join(options) or None


def _database_name(context: Context, schema: CatalogObject) -> Scalar:
    return context.catalog.path(schema)[0]


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("is_default"), lambda *_: "N"),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(text("database_name"), _database_name),
    OWNER,
    COMMENT,
    ShowColumn(text("options"), _options),
    ShowColumn(text("retention_time"), lambda context, obj: str(context.retention(obj))),
    ShowColumn(timestamp("dropped_on"), lambda _, obj: obj.dropped_on, history=True),
    OWNER_ROLE_TYPE,
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), lambda *_: None),
    ShowColumn(text("database_name"), _database_name),
    ShowColumn(text("schema_name"), lambda *_: None),
)

_CREATABLE = phrases("""
    AGENT, AGGREGATION POLICY, ALERT, AUTHENTICATION POLICY, CORTEX SEARCH SERVICE, DATASET, DYNAMIC TABLE, EVENT
    TABLE, EXTERNAL TABLE, FILE FORMAT, FUNCTION, GIT REPOSITORY, HYBRID TABLE, ICEBERG TABLE, IMAGE REPOSITORY,
    JOIN POLICY, MASKING POLICY, MATERIALIZED VIEW, MODEL, NETWORK RULE, NOTEBOOK, PACKAGES POLICY, PASSWORD POLICY,
    PIPE, PRIVACY POLICY, PROCEDURE, PROJECTION POLICY, ROW ACCESS POLICY, SECRET, SEMANTIC VIEW, SEQUENCE, SERVICE,
    SESSION POLICY, SNAPSHOT, STAGE, STREAM, STREAMLIT, TABLE, TAG, TASK, TEMPORARY TABLE, VIEW
""")

TYPE = ObjectType(
    kind="SCHEMA",
    plural="SCHEMAS",
    container="DATABASE",
    modifiers=(Clause("TRANSIENT", "TRANSIENT"),),
    clauses=(Clause("WITH MANAGED ACCESS", "MANAGED ACCESS"),),
    properties=(Property("COMMENT", Text(), default="", unset=""),),
    parameters=(*STORAGE_PARAMETERS, "PIPE_EXECUTION_PAUSED"),
    rights=Rights(
        grantable=frozenset(
            phrases("ADD SEARCH OPTIMIZATION, APPLYBUDGET, EXECUTE AUTO CLASSIFICATION, MODIFY, MONITOR, USAGE")
        )
        | {f"CREATE {kind}" for kind in _CREATABLE},
        alter="MODIFY",
        describe="MONITOR",
    ),
    actions=(_managed_access(enabled=True), _managed_access(enabled=False)),
    show=Show(_COLUMNS, terse=_TERSE, history=True, starts_with=True, limit=True, privileges=True),
    describe=_describe,
    or_alter=True,
    retained=True,
    cascades=True,
    swaps=True,
    copying=Copying(
        clone="USAGE",
        cloning=_cloning,
    ),
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=check_unused,
        restricting=check_unreferenced,
        created=make_current,
    ),
)
