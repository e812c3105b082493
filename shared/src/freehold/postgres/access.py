"""Who may do what in a database: what is declared, held against the catalogue, and the statements that mend it.

The owner does what it likes. The role for applications reads and writes data, and has what others grant it beside. The
role that only reads has nothing more. Nobody else may connect. Nothing is sent when nothing differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freehold import sql
from freehold.postgres.catalogue import METRICS_ROLE, PUBLIC, Catalogue, Place, Scope
from freehold.postgres.database import DatabaseDefinition
from freehold.sql import Sql, identifier, words

_DATABASE_OWNER = "pg_database_owner"
"""Whoever owns the database has this role, which owns schema public ("Predefined Roles")."""

_READS, _WRITES = frozenset({"SELECT"}), frozenset({"SELECT", "INSERT", "UPDATE", "DELETE"})
_CONNECT, _USAGE = frozenset({"CONNECT"}), frozenset({"USAGE"})
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what in a database, as declared.

    Attributes:
        database: its name.
        admin: the role that owns it.
        rw: the role for applications.
        ro: the role that only reads; None where there is none.
        schemas: those that the roles may use beside public.
    """

    database: str
    admin: str
    rw: str
    ro: str | None = None
    schemas: tuple[str, ...] = ()

    @classmethod
    def of(cls, entry: DatabaseDefinition) -> Access:
        """What is declared of a database."""
        return cls(entry.name, entry.admin_role, entry.rw_role, entry.ro_role, tuple(entry.schemas or ()))

    def awaited(self, found: Catalogue) -> tuple[str, ...]:
        """Declared schemas that aren't there yet: CloudNativePG makes them."""
        return tuple(each for each in self.schemas if found.owner(each) is None)

    def mending(self, found: Catalogue) -> tuple[Sql, ...]:
        """The statements that make the database as declared, for one transaction; none where it is.

        Args:
            found: what is there.
        """
        return tuple(statement for rule in self._rules(found) for statement in rule.statements(self.database, found))

    def _rules(self, found: Catalogue) -> Iterator[_Rule]:
        database = Place(Scope.DATABASE)
        yield _Rule(database, PUBLIC, _NOTHING, most=frozenset({"TEMPORARY"}))
        yield _Rule(database, self.admin, _CONNECT)
        yield _Rule(database, self.rw, _CONNECT)
        if self.ro:
            yield _Rule(database, self.ro, _CONNECT, most=_CONNECT | {"TEMPORARY"})
        if found.has_role(METRICS_ROLE):
            yield _Rule(database, METRICS_ROLE, _CONNECT)
        for schema in ("public", *self.schemas):
            owner = found.owner(schema)
            if owner is not None:
                yield from self._in_schema(schema, owner)

    def _in_schema(self, schema: str, owner: str) -> Iterator[_Rule]:
        place = Place(Scope.SCHEMA, schema)
        yield _Rule(place, PUBLIC, _NOTHING, most=_USAGE)
        # Before PostgreSQL 15, everybody made tables in public; a database that was upgraded still has it so.
        if owner not in (self.admin, _DATABASE_OWNER):
            yield _Rule(place, self.admin, _USAGE | {"CREATE"})
        yield _Rule(place, self.rw, _USAGE)
        yield from self._data(schema, self.rw, _WRITES, _USAGE | _READS, limited=False)
        if self.ro:
            yield _Rule(place, self.ro, _USAGE, most=_USAGE)
            yield from self._data(schema, self.ro, _READS, _READS, limited=True)

    def _data(
        self, schema: str, role: str, tables: frozenset[str], sequences: frozenset[str], *, limited: bool
    ) -> Iterator[_Rule]:
        for scope, privileges in (
            (Scope.TABLES, tables),
            (Scope.SEQUENCES, sequences),
            (Scope.FUTURE_TABLES, tables),
            (Scope.FUTURE_SEQUENCES, sequences),
        ):
            maker = self.admin if scope in _FUTURE else ""
            yield _Rule(Place(scope, schema, maker), role, privileges, privileges if limited else None)


_FUTURE = {Scope.FUTURE_TABLES: "TABLES", Scope.FUTURE_SEQUENCES: "SEQUENCES"}


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a role has in a place.

    Attributes:
        place: where.
        role: who.
        least: privileges that it has.
        most: privileges that it may have; None for any.
    """

    place: Place
    role: str
    least: frozenset[str]
    most: frozenset[str] | None = None

    def statements(self, database: str, found: Catalogue) -> Iterator[Sql]:
        held = found.on_all(self.place, self.role)
        if held is None:
            # Where there is no table, there is nothing to grant; what is still to be made is another matter.
            held = _NOTHING if self.place.scope in _FUTURE else self.least
        if missing := self.least - held:
            yield self._statement("GRANT", missing, "TO", database)
        if self.most is not None and (excess := found.granted(self.place, self.role) - self.most):
            yield self._statement("REVOKE", excess, "FROM", database)

    def _statement(self, verb: str, privileges: frozenset[str], preposition: str, database: str) -> Sql:
        scope, schema = self.place.scope, identifier(self.place.schema)
        prefix, target = words(""), sql.sql("ALL {scope} IN SCHEMA {schema}", scope=words(scope), schema=schema)
        if scope is Scope.DATABASE:
            target = sql.sql("DATABASE {name}", name=identifier(database))
        elif scope is Scope.SCHEMA:
            target = sql.sql("SCHEMA {schema}", schema=schema)
        elif scope in _FUTURE:
            maker = identifier(self.place.maker)
            prefix = sql.sql(
                "ALTER DEFAULT PRIVILEGES FOR ROLE {maker} IN SCHEMA {schema} ", maker=maker, schema=schema
            )
            target = words(_FUTURE[scope])
        return sql.sql(
            "{prefix}{verb} {privileges} ON {target} {preposition} {role}",
            prefix=prefix,
            verb=words(verb),
            privileges=words(", ".join(sorted(privileges))),
            target=target,
            preposition=words(preposition),
            role=words("PUBLIC") if self.role == PUBLIC else identifier(self.role),
        )


def leaving(role: str, admin: str) -> tuple[Sql, Sql]:
    """The statements, for each database that a role has to do with, without which PostgreSQL refuses to drop it.
    What it owns becomes the owner's: nothing is lost.

    Args:
        role: a role of ours that is to be dropped while its database stays.
        admin: the role that owns the database.
    """
    return (
        sql.sql("REASSIGN OWNED BY {role} TO {admin}", role=identifier(role), admin=identifier(admin)),
        sql.sql("DROP OWNED BY {role}", role=identifier(role)),
    )
