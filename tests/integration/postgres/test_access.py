"""Who may do what in a database, on a real server: what is sent, what it brings about, and that it is sent once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace

import pytest

from freehold.postgres.access import Access, leaving
from freehold.postgres.catalogue import METRICS_ROLE, QUERY, Catalogue, Row
from freehold.postgres.removal import closing
from freehold.postgres.sweep import QUERY as LOGINS
from freehold.postgres.sweep import Login, statements
from tests.harness.postgres import DONE, NO_SESSION, Refused, Server, quoted, server

NAMES = {"plain": "{}", "quotes": "x\"{}'; --", "unicode": "Ünïcode 😀 {}", "longest": "{:x<63}"}


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    """A server that the tests of this module share; each has a database and roles of its own."""
    with server() as found:
        yield found


def declare(postgres: Server, pattern: str = "{}") -> Access:
    """A database with its roles and a schema of its own, as CloudNativePG makes them, before anything is granted."""
    mark = secrets.token_hex(4)
    database, admin, rw, ro, schema = (
        pattern.format(f"{name}{mark}") for name in ("database", "admin", "rw", "ro", "schema")
    )
    quoted_database, quoted_schema, *roles = quoted((database, schema, admin, rw, ro))
    postgres.run(*(f"CREATE ROLE {role} LOGIN" for role in roles))
    _alone(postgres, f"CREATE DATABASE {quoted_database} OWNER {roles[0]}")
    postgres.run(f"CREATE SCHEMA {quoted_schema} AUTHORIZATION {roles[0]}", database=database)
    return Access(database, admin, rw, ro, (schema,))


@pytest.fixture(scope="module")
def mended_once(postgres: Server) -> Access:
    """A database as declared, with a table that was made since."""
    access = declare(postgres)
    assert mend(postgres, access)
    made = MAKING.format(schema=quoted(access.schemas)[0])
    postgres.run(made, database=access.database, role=access.admin)
    assert mend(postgres, access) == []
    return access


def _alone(postgres: Server, statement: str) -> None:
    """Run what can't run in a transaction."""
    assert postgres.attempt(statement, database="postgres", role="postgres") == {statement: DONE}


def look(postgres: Server, access: Access) -> Catalogue:
    return Catalogue(Row(*each) for each in postgres.rows(QUERY, access.database))


def mend(postgres: Server, access: Access) -> list[str]:
    """Send what differs; afterwards nothing does."""
    sent = access.mending(look(postgres, access))
    postgres.run(*sent, database=access.database)
    assert access.mending(look(postgres, access)) == ()
    return [each.text for each in sent]


def done(postgres: Server, access: Access, role: str | None, *statements: str) -> set[str]:
    """Those of some statements that a role is let do; the others fail for no other reason."""
    assert role is not None
    states = postgres.attempt(*statements, database=access.database, role=role)
    assert set(states.values()) <= {DONE, NO_SESSION, "42501"}, states
    return {statement for statement, state in states.items() if state == DONE}


def may(postgres: Server, access: Access, role: str | None, statement: str) -> bool:
    """Whether a role is let do something."""
    return bool(done(postgres, access, role, statement))


READING = ("SELECT count(*) FROM {schema}.t",)
WRITING = (
    "INSERT INTO {schema}.t (name) VALUES ('x')",
    "UPDATE {schema}.t SET name = 'y'",
    "DELETE FROM {schema}.t",
    "INSERT INTO {schema}.t DEFAULT VALUES",
)
OWNING = ("TRUNCATE {schema}.t", "CREATE TABLE {schema}.other (id int)", "DROP TABLE {schema}.t")
MAKING = "CREATE TABLE {schema}.t (id serial, name text)"


@pytest.mark.parametrize("pattern", NAMES.values(), ids=NAMES)
def test_each_role_may_do_what_is_declared_whatever_its_name(postgres: Server, pattern: str) -> None:
    access = declare(postgres, pattern)
    mend(postgres, access)
    for schema in ("public", *quoted(access.schemas)):
        assert may(postgres, access, access.admin, MAKING.format(schema=schema))
        for role, allowed in ((access.rw, READING + WRITING), (access.ro, READING)):
            tried = [each.format(schema=schema) for each in READING + WRITING + OWNING]
            assert done(postgres, access, role, *tried) == {each.format(schema=schema) for each in allowed}


def test_nobody_else_may_connect(postgres: Server) -> None:
    ours, theirs = declare(postgres), declare(postgres)
    assert may(postgres, ours, theirs.rw, "SELECT 1")
    mend(postgres, ours)
    assert not may(postgres, ours, theirs.rw, "SELECT 1")
    assert not may(postgres, ours, theirs.admin, "SELECT 1")
    assert may(postgres, ours, ours.admin, "SELECT 1")


def test_tables_that_were_there_before_are_granted_and_views_with_them(postgres: Server) -> None:
    access = declare(postgres)
    made = ("CREATE TABLE t (id serial)", "CREATE VIEW v AS TABLE t", "CREATE MATERIALIZED VIEW m AS TABLE t")
    postgres.run(*made, database=access.database, role=access.admin)
    mend(postgres, access)
    assert len(done(postgres, access, access.ro, "TABLE t", "TABLE v", "TABLE m")) == 3
    assert may(postgres, access, access.rw, "INSERT INTO t DEFAULT VALUES")


@pytest.mark.parametrize(
    ("drift", "mended"),
    [
        ("GRANT CONNECT ON DATABASE {database} TO PUBLIC", "REVOKE CONNECT ON DATABASE {database} FROM PUBLIC"),
        ("REVOKE CONNECT ON DATABASE {database} FROM {rw}", "GRANT CONNECT ON DATABASE {database} TO {rw}"),
        ("REVOKE CONNECT ON DATABASE {database} FROM {admin}", "GRANT CONNECT ON DATABASE {database} TO {admin}"),
        ("REVOKE USAGE ON SCHEMA {schema} FROM {ro}", "GRANT USAGE ON SCHEMA {schema} TO {ro}"),
        ("REVOKE SELECT ON s.t FROM {ro}", "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {ro}"),
        ("REVOKE UPDATE ON s.t FROM {rw}", "GRANT UPDATE ON ALL TABLES IN SCHEMA {schema} TO {rw}"),
        ("GRANT INSERT ON s.t TO {ro}", "REVOKE INSERT ON ALL TABLES IN SCHEMA {schema} FROM {ro}"),
        ("GRANT USAGE ON SEQUENCE s.t_id_seq TO {ro}", "REVOKE USAGE ON ALL SEQUENCES IN SCHEMA {schema} FROM {ro}"),
        ("GRANT CREATE ON SCHEMA {schema} TO PUBLIC", "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC"),
        ("GRANT CREATE ON SCHEMA {schema} TO {ro}", "REVOKE CREATE ON SCHEMA {schema} FROM {ro}"),
        (
            "ALTER DEFAULT PRIVILEGES FOR ROLE {admin} IN SCHEMA {schema} REVOKE DELETE ON TABLES FROM {rw}",
            "ALTER DEFAULT PRIVILEGES FOR ROLE {admin} IN SCHEMA {schema} GRANT DELETE ON TABLES TO {rw}",
        ),
        (
            "ALTER DEFAULT PRIVILEGES FOR ROLE {admin} IN SCHEMA {schema} GRANT UPDATE ON SEQUENCES TO {ro}",
            "ALTER DEFAULT PRIVILEGES FOR ROLE {admin} IN SCHEMA {schema} REVOKE UPDATE ON SEQUENCES FROM {ro}",
        ),
        ("GRANT TRUNCATE ON s.t TO {rw}", None),
        ("GRANT INSERT (id) ON s.t TO {rw}", None),
        ("CREATE SCHEMA other AUTHORIZATION {rw}", None),
    ],
)
def test_only_what_differs_is_sent(postgres: Server, mended_once: Access, drift: str, mended: str | None) -> None:
    access = mended_once
    made = {"database": access.database, "admin": access.admin, "rw": access.rw, "schema": access.schemas[0]}
    names = dict(zip((*made, "ro"), quoted((*made.values(), access.ro or "")), strict=True))
    postgres.run(drift.format(**names).replace(" s.t", f" {names['schema']}.t"), database=access.database)
    assert mend(postgres, access) == ([mended.format(**names)] if mended else [])


def test_without_a_role_that_only_reads_nothing_is_said_of_one(postgres: Server) -> None:
    access = replace(declare(postgres), ro=None)
    assert not [each for each in mend(postgres, access) if '"ro' in each]


def test_a_schema_that_isnt_there_yet_is_waited_for(postgres: Server) -> None:
    access = declare(postgres)
    later = replace(access, schemas=(*access.schemas, "later"))
    mend(postgres, later)
    assert later.awaited(look(postgres, later)) == ("later",)
    postgres.run(f"CREATE SCHEMA later AUTHORIZATION {access.admin}", database=access.database)
    assert later.awaited(look(postgres, later)) == ()
    assert mend(postgres, later)


def test_a_database_without_schema_public_is_as_declared(postgres: Server) -> None:
    access = declare(postgres)
    postgres.run("DROP SCHEMA public", database=access.database)
    mend(postgres, access)


def test_a_schema_public_of_before_postgresql_15_is_closed_to_all_but_the_owner(postgres: Server) -> None:
    access = declare(postgres)
    old = ("ALTER SCHEMA public OWNER TO postgres", "GRANT CREATE ON SCHEMA public TO PUBLIC")
    postgres.run(*old, database=access.database)
    mend(postgres, access)
    assert may(postgres, access, access.admin, "CREATE TABLE t (id int)")
    assert not may(postgres, access, access.rw, "CREATE TABLE u (id int)")


def test_cloudnativepgs_metrics_can_still_be_read(postgres: Server) -> None:
    access = declare(postgres)
    postgres.run(f"CREATE ROLE {METRICS_ROLE} LOGIN")
    try:
        sent = mend(postgres, access)
        assert f'GRANT CONNECT ON DATABASE "{access.database}" TO "{METRICS_ROLE}"' in sent
        assert may(postgres, access, METRICS_ROLE, "SELECT 1")
    finally:
        postgres.run(f"REVOKE CONNECT ON DATABASE {access.database} FROM {METRICS_ROLE}")
        postgres.run(f"DROP ROLE {METRICS_ROLE}")


def test_what_others_have_granted_isnt_revoked_in_vain(postgres: Server) -> None:
    access = declare(postgres)
    mend(postgres, access)
    granting = ("CREATE TABLE t (id int)", f"GRANT INSERT ON t TO {access.rw} WITH GRANT OPTION")
    postgres.run(*granting, database=access.database, role=access.admin)
    postgres.run(f"GRANT INSERT ON t TO {access.ro}", database=access.database, role=access.rw)
    assert mend(postgres, access) == []


@pytest.mark.parametrize("pattern", NAMES.values(), ids=NAMES)
def test_a_role_can_be_dropped_while_its_database_stays(postgres: Server, pattern: str) -> None:
    access = declare(postgres, pattern)
    mend(postgres, access)
    (role,) = quoted([access.rw])
    postgres.run(f"CREATE SCHEMA kept AUTHORIZATION {role}", database=access.database)
    postgres.run("CREATE TABLE kept.t (id int)", database=access.database, role=access.rw)
    with pytest.raises(Refused, match="2BP01"):
        postgres.run(f"DROP ROLE {role}")
    postgres.run(*leaving(access.rw, access.admin), database=access.database)
    postgres.run(f"DROP ROLE {role}")
    assert may(postgres, access, access.admin, "TABLE kept.t")


@pytest.mark.parametrize("pattern", [*NAMES.values(), "back\\{}"], ids=[*NAMES, "backslash"])
def test_a_database_that_is_to_go_takes_no_more_sessions(postgres: Server, pattern: str) -> None:
    access = declare(postgres, pattern)
    for statement in closing(access.database):
        postgres.run(statement)
    assert not may(postgres, access, access.admin, "SELECT 1")
    _alone(postgres, f"DROP DATABASE {quoted([access.database])[0]}")


def test_roles_that_came_with_the_data_lose_log_in_and_password() -> None:
    with server() as restored:
        stale = {f"{name} role": pattern.format("stale") for name, pattern in NAMES.items()}
        restored.run(*(f"CREATE ROLE {each} LOGIN PASSWORD 'known'" for each in quoted(stale.values())))
        restored.run("CREATE ROLE resting NOLOGIN PASSWORD 'known'", "CREATE ROLE team NOLOGIN")
        restored.run("CREATE ROLE streaming_replica LOGIN REPLICATION PASSWORD 'known'")
        restored.run("CREATE ROLE cnpg_pooler_pgbouncer LOGIN", "ALTER ROLE postgres PASSWORD 'ours'")
        swept = statements([Login(*each) for each in restored.rows(LOGINS)])
        restored.run(*swept)
        assert restored.rows(LOGINS) == [
            ["cnpg_pooler_pgbouncer", False],
            ["postgres", True],
            ["streaming_replica", False],
        ]
        assert statements([Login(*each) for each in restored.rows(LOGINS)]) == ()
        restored.run("SELECT 1", role="streaming_replica")
