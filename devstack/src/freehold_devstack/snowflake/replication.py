"""Databases that accounts replicate to each other: to whom they are offered, and the read-only replicas.

https://docs.snowflake.com/en/user-guide/db-replication-config, sql-reference/sql/alter-database,
show-replication-databases
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar, Value, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action
from freehold_devstack.snowflake.listing import like
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser, print_name
from freehold_devstack.snowflake.results import Result, boolean, text, timestamp

PRIMARY = "PRIMARY"
"""Property: what a replica is of, its account and its id there; of a new one, its name in three parts."""

REPLICATION, FAILOVER = "REPLICATION", "FAILOVER"
"""Properties: the accounts that a database is offered to, parted by commas."""


_HIGHEST_EDITION = "BUSINESS_CRITICAL"


def accounts(database: CatalogObject, what: str) -> list[str]:
    """The accounts that a database is offered to for REPLICATION or FAILOVER, as ORGANIZATION.ACCOUNT."""
    return [account for account in str(database.properties.get(what) or "").split(",") if account]


def is_replica(database: CatalogObject) -> bool:
    return isinstance(database.properties.get(PRIMARY), Mapping)


# --- replicas --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Primary:
    """The database that a replica is of.

    Attributes:
        account: Where it is, as ORGANIZATION.ACCOUNT.
        catalog: That account's.
    """

    account: str
    catalog: Catalog
    database: CatalogObject

    @property
    def name(self) -> str:
        return f"{self.account}.{print_name((self.database.name,))}"


def replicating(context: Context, draft: CatalogObject) -> CatalogObject:
    """The record of a new replica.

    Raises:
        SqlError: 002003 when there is no such database, or it is not offered to this account.
    """
    organization, account, database = texts(draft.properties[PRIMARY])
    catalog = context.peers.get(f"{organization}.{account}")
    primary = None if catalog is None else catalog.find("DATABASE", database)
    if primary is None or context.identity.qualified not in accounts(primary, REPLICATION):
        raise context.missing("DATABASE", print_name((organization, account, database)))
    known: Value = {"ACCOUNT": f"{organization}.{account}", "ID": primary.id}
    return replace(draft, properties={**draft.properties, PRIMARY: known})


def primary_of(context: Context, replica: CatalogObject) -> Primary | None:
    """What a replica is of; None when its account is gone, or when it is none."""
    known = replica.properties.get(PRIMARY)
    if not isinstance(known, Mapping):
        return None
    account, database_id = str(known["ACCOUNT"]), known["ID"]
    catalog = context.peers.get(account)
    if catalog is None or not isinstance(database_id, int):
        return None
    return Primary(account, catalog, catalog[database_id])


def check_writable(database: CatalogObject) -> None:
    """Refuse to change what is in a replica."""
    if is_replica(database):
        raise errors.unnumbered(f"Database '{database.name}' is a read-only secondary database and cannot be modified.")


def check_no_replicas(context: Context, database: CatalogObject) -> None:
    """Refuse the end of a database that there are replicas of."""
    known = {"ACCOUNT": context.identity.qualified, "ID": database.id}
    for account, catalog in context.peers.items():
        if any(each.properties.get(PRIMARY) == known for each in catalog.members("DATABASE")):
            raise errors.unnumbered(f"Database '{database.name}' has a secondary database in account {account}.")


def _refresh(_parser: Parser) -> Act:
    def act(context: Context, database: CatalogObject) -> None:
        primary = primary_of(context, database)
        if primary is None:
            raise errors.unnumbered(f"Database '{database.name}' is not a secondary database.")
        offered = accounts(primary.database, REPLICATION)
        if not primary.catalog.is_live(primary.database) or context.identity.qualified not in offered:
            raise errors.unnumbered(f"Database {primary.name} is not replicated to account {context.identity.name}.")
        _mirror(context, database, primary)

    return act


def _mirror(context: Context, replica: CatalogObject, primary: Primary) -> None:
    """Give the replica the schemas that its primary has."""
    theirs = {schema.name: schema for schema in primary.catalog.members("SCHEMA", primary.database.id)}
    for schema in theirs.values():
        if primary.catalog.children(schema.id):
            raise errors.unsupported("REFRESH of a database with objects in its schemas")
    own = {schema.name: schema for schema in context.catalog.members("SCHEMA", replica.id)}
    for name in own.keys() - theirs.keys():
        context.catalog.drop(own[name], context.now)
    for name, schema in theirs.items():
        if name in own:
            mirrored = replace(own[name], properties=schema.properties, parameters=schema.parameters)
            context.catalog.update(own[name], mirrored)
        else:
            added = replace(schema, id=context.catalog.next_id, parent=replica.id, owner=replica.owner, tags={})
            context.catalog.add(replace(added, created_on=context.now))


def _promote(_parser: Parser) -> Act:
    raise errors.unsupported("ALTER DATABASE PRIMARY")


# --- whom a database is offered to -----------------------------------------------------------------------------------


def _with_accounts(context: Context, database: CatalogObject, changed: Mapping[str, Sequence[str]]) -> None:
    lists: dict[str, Scalar] = {what: ",".join(sorted(offered)) for what, offered in changed.items()}
    context.catalog.update(database, replace(database, properties={**database.properties, **lists}))


def _check_account(context: Context, name: str, *, any_edition: bool) -> None:
    """Refuse to offer a database to an account that is not there, or whose edition protects it less."""
    if name not in context.identity.peers:
        raise errors.unknown_account(name)
    peer = context.peers.get(name)
    if any_edition or peer is None or context.identity.edition != _HIGHEST_EDITION:
        return
    if peer.account.properties["EDITION"] != _HIGHEST_EDITION:
        raise errors.unnumbered(
            f"The edition of account {name} is lower than this account's. Use IGNORE EDITION CHECK."
        )


def _enable(what: str, parser: Parser) -> Act:
    names = [print_name(account) for account in parser.names(parts=2)]
    any_edition = what == FAILOVER or parser.accept("IGNORE", "EDITION", "CHECK")

    def act(context: Context, database: CatalogObject) -> None:
        context.require_role("ACCOUNTADMIN")
        if what == FAILOVER and context.identity.edition != _HIGHEST_EDITION:
            raise errors.unsupported(FAILOVER)
        check_writable(database)
        for name in names:
            _check_account(context, name, any_edition=any_edition)
        _with_accounts(context, database, {what: sorted({*accounts(database, what), *names})})

    return act


def _disable(what: str, parser: Parser) -> Act:
    names = None
    if parser.accept("TO", "ACCOUNTS"):
        names = [print_name(account) for account in parser.names(parts=2)]

    def act(context: Context, database: CatalogObject) -> None:
        context.require_role("ACCOUNTADMIN")
        # An account that no longer gets the replica can't be failed over to either.
        affected = (REPLICATION, FAILOVER) if what == REPLICATION else (FAILOVER,)
        kept = {
            each: [account for account in accounts(database, each) if names is not None and account not in names]
            for each in affected
        }
        _with_accounts(context, database, kept)

    return act


ACTIONS = (
    Action("ENABLE REPLICATION TO ACCOUNTS", partial(_enable, REPLICATION)),
    Action("DISABLE REPLICATION", partial(_disable, REPLICATION)),
    Action("ENABLE FAILOVER TO ACCOUNTS", partial(_enable, FAILOVER)),
    Action("DISABLE FAILOVER", partial(_disable, FAILOVER)),
    Action("REFRESH", _refresh),
    Action("PRIMARY", _promote),
)
"""The forms of ALTER DATABASE that are about replication."""


# --- SHOW REPLICATION DATABASES --------------------------------------------------------------------------------------

_COLUMNS = (
    text("region_group"), text("snowflake_region"), timestamp("created_on"), text("account_name"), text("name"),
    text("comment"), boolean("is_primary"), text("primary"), text("replication_allowed_to_accounts"),
    text("failover_allowed_to_accounts"), text("organization_name"), text("account_locator"),
)  # fmt: skip


@dataclass(frozen=True)
class _Replicated:
    """A primary database or a replica, and the account that it is in, as ORGANIZATION.ACCOUNT."""

    account: str
    catalog: Catalog
    database: CatalogObject
    primary: str

    def row(self) -> tuple[Scalar, ...]:
        organization, _, account = self.account.partition(".")
        database, known = self.database, self.catalog.account.properties
        is_primary = not is_replica(database)
        lists = [
            ", ".join((self.account, *accounts(database, what))) if is_primary else ""
            for what in (REPLICATION, FAILOVER)
        ]
        region, locator = str(known.get("REGION", "")), str(known.get("LOCATOR", ""))
        name, created_on, comment = database.name, database.created_on, str(database.properties["COMMENT"])
        return (
            "PUBLIC", region, created_on, account, name, comment, is_primary, self.primary, *lists, organization,
            locator,
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
        listed = (*_own(context), *_elsewhere(context))
        return Result(_COLUMNS, [each.row() for each in listed if self._admits(each)])

    def _admits(self, replicated: _Replicated) -> bool:
        if self.pattern is not None and not like(self.pattern).fullmatch(replicated.database.name):
            return False
        return self.primary is None or replicated.primary == print_name(self.primary)


def _own(context: Context) -> Iterator[_Replicated]:
    """This account's primaries and replicas that the session sees."""
    own = context.identity.qualified
    for database in context.catalog.members("DATABASE"):
        primary = primary_of(context, database)
        if (primary is not None or accounts(database, REPLICATION)) and context.sees(database):
            name = f"{own}.{print_name((database.name,))}" if primary is None else primary.name
            yield _Replicated(own, context.catalog, database, name)


def _elsewhere(context: Context) -> Iterator[_Replicated]:
    """What other accounts offer to this one, and the replicas that they have of its databases."""
    own = context.identity.qualified
    for account, catalog in sorted(context.peers.items()):
        for database in catalog.members("DATABASE"):
            known = database.properties.get(PRIMARY)
            if own in accounts(database, REPLICATION):
                yield _Replicated(account, catalog, database, f"{account}.{print_name((database.name,))}")
            elif isinstance(known, Mapping) and known["ACCOUNT"] == own and isinstance(known["ID"], int):
                name = print_name((context.catalog[known["ID"]].name,))
                yield _Replicated(account, catalog, database, f"{own}.{name}")


def parse_show(parser: Parser) -> Statement:
    """Take what follows SHOW REPLICATION DATABASES."""
    pattern = parser.string() if parser.accept("LIKE") else None
    primary = parser.name(parts=3) if parser.accept("WITH", "PRIMARY") else None
    return _ShowReplicationDatabases(pattern, primary)
