"""The limits of tags, which take more statements than a case should have."""

import pytest

from freehold_devstack.snowflake.errors import SqlError
from tests.endpoint.bench import Bench, Case

UNNUMBERED = "999999"


@pytest.fixture
def bench() -> Bench:
    bench = Bench(Case("", "", {}, ()))
    _run(bench, "CREATE DATABASE d")
    return bench


def _run(bench: Bench, sql: str) -> None:
    bench.run({"sql": sql})


def _refused(bench: Bench, sql: str) -> str:
    with pytest.raises(SqlError) as caught:
        _run(bench, sql)
    assert caught.value.code == UNNUMBERED
    return caught.value.message


def _make_tags(bench: Bench, count: int) -> list[str]:
    names = [f"t{number}" for number in range(count)]
    for name in names:
        _run(bench, f"CREATE TAG {name}")
    return names


def _assigned(names: list[str]) -> str:
    return ", ".join(f"{name} = 'x'" for name in names)


def test_an_object_has_at_most_fifty_tags_that_are_there(bench: Bench) -> None:
    names = _make_tags(bench, 51)
    _run(bench, "CREATE SCHEMA s")
    _run(bench, "USE SCHEMA public")
    _run(bench, f"ALTER SCHEMA s SET TAG {_assigned(names[:50])}")
    assert "at most 50 tags" in _refused(bench, f"ALTER SCHEMA s SET TAG {names[50]} = 'x'")
    _run(bench, f"ALTER SCHEMA s SET TAG {names[49]} = 'y'")
    _run(bench, f"DROP TAG {names[0]}")
    _run(bench, f"ALTER SCHEMA s SET TAG {names[50]} = 'x'")


def test_the_columns_of_a_table_have_at_most_fifty_different_tags(bench: Bench) -> None:
    names = _make_tags(bench, 51)
    parts = [names[:20], names[20:40], names[40:50]]
    columns = [f"c{number} STRING WITH TAG ({_assigned(part)})" for number, part in enumerate(parts)]
    assert "at most 50 tags" in _refused(bench, f"CREATE TABLE t ({', '.join(columns)}, d STRING TAG (t50 = 'x'))")
    _run(bench, f"CREATE TABLE t ({', '.join(columns)}, d STRING TAG (t0 = 'x'))")
    assert "at most 50 tags" in _refused(bench, "ALTER TABLE t ALTER COLUMN d SET TAG t50 = 'x'")
    _run(bench, "ALTER TABLE t SET TAG t50 = 'x'")


def test_a_value_has_at_most_256_characters(bench: Bench) -> None:
    _make_tags(bench, 1)
    _run(bench, f"ALTER SCHEMA public SET TAG t0 = '{'ü' * 256}'")
    assert "at most 256 characters" in _refused(bench, f"ALTER SCHEMA public SET TAG t0 = '{'x' * 257}'")
    assert "at most 256 characters" in _refused(bench, f"CREATE TAG t ALLOWED_VALUES '{'x' * 257}'")


def test_a_tag_has_at_most_5000_allowed_values(bench: Bench) -> None:
    values = ", ".join(f"'{number}'" for number in range(5000))
    _run(bench, f"CREATE TAG t ALLOWED_VALUES {values}")
    assert "at most 5000 allowed values" in _refused(bench, "ALTER TAG t ADD ALLOWED_VALUES 'one more'")
    _run(bench, "ALTER TAG t ADD ALLOWED_VALUES '0'")
