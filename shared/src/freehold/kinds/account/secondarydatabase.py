"""Databases that are replicas of those of other accounts."""

from __future__ import annotations

import operator

from freehold import sql
from freehold.identifiers import InvalidName, split
from freehold.kinds.account import database
from freehold.kinds.common import Name
from freehold.kinds.containers import CONTAINER_PRIVILEGES, CONTAINER_RULES, ContainerSpec, telemetry_advice
from freehold.kinds.fields import comment, keyword, own_name, prop
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Place
from freehold.kinds.replication import REPLICATION, is_primary, own_row
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Unknown
from freehold.sql import Sql

_PARTS = 3


def _primary(text: str) -> tuple[str, ...]:
    """The name of another account's database.

    Raises:
        InvalidName: it isn't one.
    """
    parts = split(text)
    if len(parts) != _PARTS:
        raise InvalidName(f"a primary database is named as ORGANIZATION.ACCOUNT.DATABASE: {text!r}")
    # Accounts have no case, whatever stands in quotes.
    organization, account, name = parts
    return organization.upper(), account.upper(), name


class _Primary(Codec):
    """The database that another one is a replica of."""

    def canonical(self, value: str) -> tuple[str, ...]:
        return _primary(value)

    def read(self, raw: object) -> object:
        try:
            return UNKNOWN if raw is None else _primary(str(raw))
        except InvalidName:
            return UNKNOWN


def _replicated_from(observation: Observation) -> object:
    row = own_row(observation)
    # A role that isn't shown the row can't tell.
    return UNKNOWN if row is None or isinstance(row, Unknown) or is_primary(row) else row.get("primary")


def _as_replica_of(value: str) -> Sql:
    return sql.sql("AS REPLICA OF {name}", name=sql.identifier(*_primary(value)))


class SecondaryDatabaseSpec(ContainerSpec):
    """A replica of another account's database, which can only be read. It has what the primary had when it was last
    refreshed, and nothing before the first time: run ALTER DATABASE ... REFRESH from a task. Freehold doesn't."""

    name: Name = own_name()
    """The database's name as it is stored: case kept, never folded. The primary's own name keeps views in it whole."""
    transient: bool | None = keyword("TRANSIENT", place=Place.BEFORE_TYPE)
    """Without Fail-safe, and with at most one day of Time Travel."""
    as_replica_of: str = prop(
        "AS REPLICA OF",
        observe=_replicated_from,
        codec=_Primary(),
        clause=_as_replica_of,
        place=Place.AFTER_NAME,
        details=tuple(REPLICATION),
        reset=KEEP,
        recreate_when=operator.ne,
        check=_primary,
        required=True,
        min_length=1,
        max_length=1024,
    )
    """The primary database, as ORGANIZATION.ACCOUNT.DATABASE with parts quoted where they must be. Its account must
    allow this one: ALTER DATABASE ... ENABLE REPLICATION TO ACCOUNTS."""
    comment: str | None = comment()
    """A note for people."""


def _disowned(observation: Observation) -> str | None:
    row = own_row(observation)
    if row is None or isinstance(row, Unknown) or not is_primary(row):
        return None
    return (
        "was promoted and is a primary database now, so that it is left alone. Promote the other one again, or set "
        "deletionPolicy to Orphan, delete this resource, and declare a Database that adopts it"
    )


def _adoptable(observation: Observation) -> str | None:
    """All databases stand in the same SHOW."""
    row = own_row(observation)
    if row is None or isinstance(row, Unknown):
        return "it is no replica"
    return "it is a primary database" if is_primary(row) else None


def _advice(spec: SecondaryDatabaseSpec) -> tuple[str, ...]:
    primary = _Primary().read(spec.as_replica_of)
    if isinstance(primary, tuple) and primary[-1] != spec.name:
        return (f"views in it that name database {primary[-1]!r} won't find that here", *telemetry_advice(spec))
    return telemetry_advice(spec)


SECONDARY_DATABASE = Kind(
    spec=SecondaryDatabaseSpec,
    domain=Domain.ACCOUNT,
    object_type="DATABASE",
    level=Level.ACCOUNT,
    holds_data=True,
    history=True,
    short_names=("secdb",),
    parameters=True,
    privileges=CONTAINER_PRIVILEGES,
    rules=CONTAINER_RULES,
    details=REPLICATION,
    content=database.DATABASE.content,
    disowned=_disowned,
    adoptable=_adoptable,
    adoption_details=frozenset(REPLICATION),
    advice=_advice,
)
