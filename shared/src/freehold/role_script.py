"""The role that Freehold works as: the statements that make one which may do what kinds take, and no more. Pure.

Rules: "Access control privileges" in Snowflake's documentation. What the role creates it owns, and may change, grant
and drop without a further privilege; what others own it needs privileges on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from freehold import planning, sql
from freehold.kinds.kind import Kind
from freehold.kinds.names import Level
from freehold.sql import Sql


class Absence(StrEnum):
    """How the role proves that an object is gone, which is what lets go of a resource that is deleted."""

    RESOLVE_ALL = "resolve-all"
    MANAGE_GRANTS = "manage-grants"
    NONE = "none"


_COSTS = {
    Absence.RESOLVE_ALL: (
        "RESOLVE ALL shows the role every object of the account, and nothing in it: what it doesn't see is gone.",
        "It costs that the names of all objects are known to it.",
    ),
    Absence.MANAGE_GRANTS: (
        "MANAGE GRANTS shows the role every object of the account, and has it grant and revoke anything to and from",
        "anybody. It takes that to declare privileges on the account, on what others own, and who owns what.",
        "It costs that the role is as good as SECURITYADMIN, and that its REVOKE takes away what all have granted.",
    ),
    Absence.NONE: (
        "The role sees only what it has a privilege on, so that what is gone looks like what is hidden from it.",
        "It costs that a resource whose object isn't seen stays, as NotVisible, until somebody grants a privilege or",
        "sets freehold.dev/abandon-on-delete, and that a database is dropped by freehold.dev/force-destroy alone.",
    ),
}


@dataclass(frozen=True, slots=True)
class Granting:
    """A statement of the script.

    Attributes:
        statement: the statement.
        why: what it is for, for people.
    """

    statement: Sql
    why: str = ""


def grants(
    kinds: Iterable[Kind],
    role: str,
    absence: Absence,
    *,
    databases: Sequence[str] = (),
    schemas: Sequence[tuple[str, str]] = (),
) -> Iterator[Granting]:
    """What a role gets.

    Args:
        kinds: what it is to work on.
        role: its stored name.
        absence: how it proves that something is gone.
        databases: stored names of databases of other roles that it is to create in.
        schemas: likewise schemas, each with its database.
    """
    wanted = tuple(kinds)
    for privilege, why in _on_account(wanted).items():
        yield Granting(_grant((privilege,), sql.words("ACCOUNT"), role), why)
    if absence is not Absence.NONE:
        privilege = absence.value.replace("-", " ").upper()
        yield Granting(_grant((privilege,), sql.words("ACCOUNT"), role), "proof that something is gone")
    for database in dict.fromkeys((*databases, *(schema[0] for schema in schemas))):
        creating = _creating(wanted, Level.DATABASE) if database in databases else ()
        yield Granting(_grant(("USAGE", *creating), sql.sql("DATABASE {name}", name=sql.identifier(database)), role))
    for schema in schemas:
        of = sql.sql("SCHEMA {name}", name=sql.identifier(*schema))
        yield Granting(_grant(("USAGE", *_creating(wanted, Level.SCHEMA)), of, role))


def text(statements: Iterable[Granting], role: str, absence: Absence, user: str | None = None) -> Iterator[str]:
    """The lines of the script.

    Args:
        statements: what the role gets.
        role: its stored name.
        absence: how it proves that something is gone.
        user: stored name of the user that works as it.
    """
    named = sql.identifier(role)
    yield "-- The role that Freehold works as. Run this as ACCOUNTADMIN, who alone may grant some of it; again at will."
    yield from (f"-- {line}" for line in _COSTS[absence])
    yield f"CREATE ROLE IF NOT EXISTS {named};"
    for each in statements:
        yield f"{each.statement};" + (f" -- {each.why}" if each.why else "")
    yield "-- Whoever has SYSADMIN may do with what Freehold makes as Freehold may."
    yield f"GRANT ROLE {named} TO ROLE SYSADMIN;"
    if user is not None:
        yield f"GRANT ROLE {named} TO USER {sql.identifier(user)};"


def _on_account(kinds: Iterable[Kind]) -> dict[str, str]:
    """Privileges on the account, each with what it is for."""
    found: dict[str, dict[str, list[str]]] = {}

    def needs(kind: Kind, privilege: str, what: str = "") -> None:
        found.setdefault(privilege, {}).setdefault(what, []).append(kind.name)

    for kind in kinds:
        if kind.level is Level.ACCOUNT and not kind.slots and not kind.created_by:
            needs(kind, planning.privilege_to_create(kind))
        if kind.shown_with:
            needs(kind, kind.shown_with, "to see it:")
        for privilege, fields in kind.privileges.items():
            needs(kind, privilege, fields and f"{fields} of")
    return {
        privilege: "; ".join(f"{what} {', '.join(names)}".strip() for what, names in reasons.items())
        for privilege, reasons in found.items()
    }


def _creating(kinds: Iterable[Kind], level: Level) -> tuple[str, ...]:
    inside = (planning.privilege_to_create(kind) for kind in kinds if kind.level is level and not kind.slots)
    return tuple(dict.fromkeys(inside))


def _grant(privileges: Sequence[str], securable: Sql, role: str) -> Sql:
    return sql.sql(
        "GRANT {privileges} ON {securable} TO ROLE {role}",
        privileges=sql.words(", ".join(privileges)),
        securable=securable,
        role=sql.identifier(role),
    )
