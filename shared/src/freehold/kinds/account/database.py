"""Databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from freehold import sql
from freehold.kinds.common import Name
from freehold.kinds.containers import CONTAINER_PRIVILEGES, CONTAINER_RULES, ContainerSpec, content_of, telemetry_advice
from freehold.kinds.content import Content
from freehold.kinds.fields import action, comment, custom, keyword, own_name, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level
from freehold.kinds.property import Place, Target
from freehold.kinds.replication import REPLICATION, is_primary, own_row
from freehold.kinds.steps import Step
from freehold.kinds.values import Codec
from freehold.observation import Observation, Unknown
from freehold.sql import Sql

AccountIdentifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+\.[A-Za-z0-9_]+$", max_length=511)]


class ReplicationTarget(Model):
    """An account that the database is replicated to."""

    account_identifier: AccountIdentifier
    """The account as ORGANIZATION.ACCOUNT."""
    with_failover: bool = False
    """Whether the database may fail over to it."""


class Replication(Model):
    """Which accounts may hold a replica."""

    enable_to_accounts: list[ReplicationTarget] = Field(min_length=1, max_length=100)
    """All accounts that may replicate the database; others are taken off."""
    ignore_edition_check: bool = False
    """Allow an account of a lower edition."""


Accounts = tuple[frozenset[str], frozenset[str]]
"""Accounts (ORG.ACCOUNT) that may replicate, and those of them that may take over."""


class ReplicationCodec(Codec):
    """Replication as two sets of accounts, compared without order and case."""

    def canonical(self, value: Replication) -> Accounts:
        targets = [(t.account_identifier.upper(), t.with_failover) for t in value.enable_to_accounts]
        return frozenset(a for a, _ in targets), frozenset(a for a, failover in targets if failover)

    def read(self, raw: object) -> object:
        return raw


def _observed_replication(observation: Observation) -> object:
    """The accounts in SHOW REPLICATION DATABASES, without our own, which the lists always contain."""
    row = own_row(observation)
    if isinstance(row, Unknown):
        return row
    if row is None or not is_primary(row):
        return frozenset[str](), frozenset[str]()
    # ORGANIZATION.ACCOUNT.DATABASE, where only the last part may hold dots of its own.
    own = ".".join(str(row["primary"]).upper().split(".", 2)[:2])
    columns = ("replication_allowed_to_accounts", "failover_allowed_to_accounts")
    replicated, failover = (_accounts(row.get(column)) - {own} for column in columns)
    return replicated, failover


def _accounts(raw: object) -> frozenset[str]:
    return frozenset(account.strip().upper() for account in str(raw or "").split(",") if account.strip())


def _alter_replication(target: Target, desired: Replication | None, observed: object) -> Sequence[Sql]:
    """Enable what is missing, then disable what is too much. Disabling replication disables failover as well."""
    wanted = ReplicationCodec().canonical(desired) if desired else (frozenset[str](), frozenset[str]())
    have = observed if isinstance(observed, tuple) else (frozenset[str](), frozenset[str]())
    suffix = " IGNORE EDITION CHECK" if desired and desired.ignore_edition_check else ""
    extra = have[0] - wanted[0]
    return tuple(
        target.alter(clause)
        for clause in (
            *_to_accounts("ENABLE REPLICATION", wanted[0] - have[0], suffix),
            *_to_accounts("ENABLE FAILOVER", wanted[1] - have[1]),
            *_to_accounts("DISABLE FAILOVER", have[1] - wanted[1] - extra),
            *_to_accounts("DISABLE REPLICATION", extra),
        )
    )


def _to_accounts(verb: str, accounts: frozenset[str], suffix: str = "") -> Iterator[Sql]:
    if accounts:
        listed = sql.join((sql.identifier(*account.split(".")) for account in sorted(accounts)), ", ")
        yield sql.sql(
            "{verb} TO ACCOUNTS {accounts}{suffix}", verb=sql.words(verb), accounts=listed, suffix=sql.words(suffix)
        )


class DatabaseSpec(ContainerSpec):
    """A database: the outermost container of schemas and their objects."""

    name: Name = own_name()
    """The database's name as it is stored: case kept, never folded."""
    transient: bool | None = keyword("TRANSIENT", place=Place.BEFORE_TYPE)
    """Without Fail-safe, and with at most one day of Time Travel."""
    drop_public_schema_on_creation: bool | None = action()
    """Drop the schema PUBLIC that every new database has. Acts once, right after creation, while PUBLIC is empty."""
    replication: Replication | None = custom(
        alter=_alter_replication,
        observe=_observed_replication,
        source="replication",
        codec=ReplicationCodec(),
        details=tuple(REPLICATION),
    )
    """Replication to other accounts of the organization; needs ACCOUNTADMIN."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _drop_public_schema(target: Target, spec: DatabaseSpec) -> tuple[Step, ...]:
    if not spec.drop_public_schema_on_creation:
        return ()
    parts = (*target.parts, "PUBLIC")
    public = sql.identifier(*parts)
    return (
        Step(
            sql.sql("DROP SCHEMA {public}", public=public),
            only_if_empty=tuple(each.query(Target("SCHEMA", parts)) for each in content_of("SCHEMA")),
            claims=("SCHEMA", parts),
        ),
    )


def _adoptable(observation: Observation) -> str | None:
    """Shared and application databases stand in the same SHOW as ordinary ones; a secondary one even looks like one."""
    row = own_row(observation)
    if row is not None and not isinstance(row, Unknown) and not is_primary(row):
        return f"it is a replica of {row.get('primary')}: declare a SecondaryDatabase"
    kind, origin = observation.row.get("kind", "STANDARD"), observation.row.get("origin")
    if kind != "STANDARD" or origin:
        return f"it is no ordinary database but {kind}" + (f" from {origin}" if origin else "")
    return None


DATABASE = Kind(
    spec=DatabaseSpec,
    domain=Domain.ACCOUNT,
    object_type="DATABASE",
    level=Level.ACCOUNT,
    holds_data=True,
    history=True,
    short_names=("db",),
    create_or_alter=True,
    parameters=True,
    privileges=CONTAINER_PRIVILEGES,
    rules=CONTAINER_RULES,
    details=REPLICATION,
    after_create=_drop_public_schema,
    # INFORMATION_SCHEMA and an empty PUBLIC come with every database and are nobody's content.
    content=(
        Content(
            lambda target: sql.sql("SHOW SCHEMAS IN DATABASE {name}", name=target.name),
            counts=lambda row: row["name"] not in ("INFORMATION_SCHEMA", "PUBLIC"),
        ),
        Content(lambda target: sql.sql("SHOW DATABASE ROLES IN DATABASE {name}", name=target.name)),
        *content_of("DATABASE"),
    ),
    adoptable=_adoptable,
    adoption_details=frozenset(REPLICATION),
    advice=telemetry_advice,
)
