"""DATABASE: https://docs.snowflake.com/en/sql-reference/sql/create-database and the pages beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import (
    Act,
    Action,
    Clause,
    Form,
    ObjectType,
    Property,
    Show,
    ShowColumn,
    Statement,
)
from freehold_devstack.snowflake.parameters import STORAGE_PARAMETERS
from freehold_devstack.snowflake.parser import Name, Parser, phrases, print_name
from freehold_devstack.snowflake.results import Result, boolean, text, timestamp
from freehold_devstack.snowflake.session_statements import make_current
from freehold_devstack.snowflake.show import like, owner_role_type, stored
from freehold_devstack.snowflake.values import Text

_RETENTION = "DATA_RETENTION_TIME_IN_DAYS"


def check_retention(_context: Context, draft: CatalogObject, _given: frozenset[str]) -> CatalogObject:
    """What is transient keeps one day at most."""
    days = draft.parameters.get(_RETENTION)
    if draft.properties["TRANSIENT"] and isinstance(days, int) and days > 1:
        raise errors.invalid_parameter_value(str(days), _RETENTION)
    return draft


def _created(context: Context, database: CatalogObject) -> None:
    """A database is born with two schemas and becomes the session's current one."""
    if context.catalog.members("SCHEMA", database.id):
        make_current(context, database)
        return
    public_role = context.catalog.find("ROLE", "PUBLIC")
    for name, owner in (("INFORMATION_SCHEMA", None), ("PUBLIC", database.owner)):
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


# --- replication -----------------------------------------------------------------------------------------------------


def _accounts(database: CatalogObject, what: str) -> list[str]:
    return [account for account in str(database.properties.get(what) or "").split(",") if account]


def _parse_accounts(parser: Parser) -> list[Name]:
    accounts = [parser.name(parts=2)]
    while parser.accept(","):
        accounts.append(parser.name(parts=2))
    return accounts


def _with_accounts(context: Context, database: CatalogObject, changed: Mapping[str, Sequence[str]]) -> None:
    lists: dict[str, Scalar] = {what: ",".join(sorted(accounts)) for what, accounts in changed.items()}
    context.catalog.update(database, replace(database, properties={**database.properties, **lists}))


def _enable(what: str, parser: Parser) -> Act:
    names = [print_name(account) for account in _parse_accounts(parser)]
    if what == "REPLICATION":
        parser.accept("IGNORE", "EDITION", "CHECK")

    def act(context: Context, database: CatalogObject) -> None:
        context.require_role("ACCOUNTADMIN")
        for name in names:
            if name not in context.identity.peers:
                raise errors.unknown_account(name)
        _with_accounts(context, database, {what: sorted({*_accounts(database, what), *names})})

    return act


def _disable(what: str, parser: Parser) -> Act:
    names = None
    if parser.accept("TO", "ACCOUNTS"):
        names = [print_name(account) for account in _parse_accounts(parser)]

    def act(context: Context, database: CatalogObject) -> None:
        context.require_role("ACCOUNTADMIN")
        # An account that no longer gets the replica can't be failed over to either.
        affected = ("REPLICATION", "FAILOVER") if what == "REPLICATION" else ("FAILOVER",)
        kept = {
            each: [account for account in _accounts(database, each) if names is not None and account not in names]
            for each in affected
        }
        _with_accounts(context, database, kept)

    return act


_REPLICATION_COLUMNS = (
    text("region_group"), text("snowflake_region"), timestamp("created_on"), text("account_name"), text("name"),
    text("comment"), boolean("is_primary"), text("primary"), text("replication_allowed_to_accounts"),
    text("failover_allowed_to_accounts"), text("organization_name"), text("account_locator"),
)  # fmt: skip


@dataclass(frozen=True)
class _ShowReplicationDatabases:
    """SHOW REPLICATION DATABASES [LIKE …] [WITH PRIMARY <organization>.<account>.<database>]."""

    pattern: str | None
    primary: Name | None

    @property
    def form(self) -> Form:
        return Form("SHOW", "REPLICATION DATABASES", self.primary or (), self.pattern or "")

    def execute(self, context: Context) -> Result:
        return Result(_REPLICATION_COLUMNS, [self._row(context, database) for database in self._replicated(context)])

    def _replicated(self, context: Context) -> list[CatalogObject]:
        own = (context.identity.organization, context.identity.name)
        return [
            database
            for database in context.catalog.members("DATABASE")
            if _accounts(database, "REPLICATION")
            and context.sees(database)
            and (self.pattern is None or like(self.pattern).fullmatch(database.name))
            and (self.primary is None or self.primary == (*own, database.name))
        ]

    def _row(self, context: Context, database: CatalogObject) -> tuple[Scalar, ...]:
        identity = context.identity
        lists = [", ".join((identity.qualified, *_accounts(database, what))) for what in ("REPLICATION", "FAILOVER")]
        comment, primary = str(database.properties["COMMENT"]), f"{identity.qualified}.{print_name((database.name,))}"
        name, created_on = database.name, database.created_on
        return (
            "PUBLIC", identity.region, created_on, identity.name, name, comment, True, primary, *lists,
            identity.organization, identity.locator,
        )  # fmt: skip


def _parse_show_replication(parser: Parser) -> Statement:
    pattern = parser.string() if parser.accept("LIKE") else None
    primary = parser.name(parts=3) if parser.accept("WITH", "PRIMARY") else None
    return _ShowReplicationDatabases(pattern, primary)


# --- the declaration -------------------------------------------------------------------------------------------------

_COLUMNS = (
    ShowColumn(timestamp("created_on"), lambda _, obj: obj.created_on),
    ShowColumn(text("name"), lambda _, obj: obj.name),
    ShowColumn(text("is_default"), lambda *_: "N"),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(text("origin"), lambda *_: ""),
    ShowColumn(text("owner"), lambda context, obj: context.owner_name(obj)),
    ShowColumn(text("comment"), stored("COMMENT")),
    ShowColumn(text("options"), lambda _, obj: "TRANSIENT" if obj.properties["TRANSIENT"] else ""),
    ShowColumn(text("retention_time"), lambda context, obj: str(context.retention(obj))),
    ShowColumn(timestamp("dropped_on"), lambda _, obj: obj.dropped_on, history=True),
    ShowColumn(text("kind"), lambda *_: "STANDARD"),
    ShowColumn(text("budget"), lambda *_: None),
    ShowColumn(text("owner_role_type"), owner_role_type),
    ShowColumn(text("object_visibility"), lambda *_: None),
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), lambda *_: "STANDARD"),
    ShowColumn(text("database_name"), lambda *_: None),
    ShowColumn(text("schema_name"), lambda *_: None),
)

TYPE = ObjectType(
    kind="DATABASE",
    plural="DATABASES",
    modifiers=(Clause("TRANSIENT", "TRANSIENT"),),
    properties=(Property("COMMENT", Text(), default="", unset="", privilege="MODIFY"),),
    parameters=STORAGE_PARAMETERS,
    privileges=frozenset(
        phrases("""
            APPLYBUDGET, CREATE DATABASE ROLE, CREATE SCHEMA, EXECUTE AUTO CLASSIFICATION, MODIFY, MONITOR, USAGE
        """)
    ),
    actions=(
        Action("ENABLE REPLICATION TO ACCOUNTS", partial(_enable, "REPLICATION")),
        Action("DISABLE REPLICATION", partial(_disable, "REPLICATION")),
        Action("ENABLE FAILOVER TO ACCOUNTS", partial(_enable, "FAILOVER")),
        Action("DISABLE FAILOVER", partial(_disable, "FAILOVER")),
    ),
    show=Show(_COLUMNS, terse=_TERSE, history=True, starts_with=True, limit=True, privileges=True),
    extra_shows=(("REPLICATION DATABASES", _parse_show_replication),),
    describe=_describe,
    describe_privilege="MONITOR",
    visible_with=("MONITOR USAGE",),
    or_alter=True,
    retained=True,
    cascades=True,
    swaps=True,
    clone="USAGE",
    settle=check_retention,
    created=_created,
)
