"""Scopes: the SHOW of each, its pages, and when the whole is cheaper than its parts."""

from __future__ import annotations

import pytest

from freehold import slots
from freehold.kinds.registry import KINDS
from freehold.snowflake.scopes import PAGE, Scope, around, worth_it
from freehold.sql import words

GRANT = KINDS["GrantPrivilegesToAccountRole"]
USAGE = GRANT.target_of(slots.grant("USAGE", slots.of("DATABASE", "D"), slots.of("ROLE", "R")))


@pytest.mark.parametrize(
    ("kind", "parts", "first", "next_"),
    [
        ("Warehouse", ("W",), "SHOW WAREHOUSES", "SHOW WAREHOUSES"),
        ("AccountRole", ("R",), "SHOW ROLES LIMIT 2000", "SHOW ROLES LIMIT 2000 FROM 'it''s'"),
        ("Database", ("D",), "SHOW DATABASES LIMIT 2000", "SHOW DATABASES LIMIT 2000 FROM 'it''s'"),
        (
            "Schema",
            ("D", "S"),
            'SHOW SCHEMAS IN DATABASE "D" LIMIT 2000',
            "SHOW SCHEMAS IN DATABASE \"D\" LIMIT 2000 FROM 'it''s'",
        ),
        (
            "Table",
            ("D", 'a"b', "T"),
            'SHOW TABLES IN SCHEMA "D"."a""b" LIMIT 2000',
            'SHOW TABLES IN SCHEMA "D"."a""b" LIMIT 2000 FROM \'it\'\'s\'',
        ),
    ],
)
def test_an_object_is_looked_for_in_what_contains_it(kind: str, parts: tuple[str, ...], first: str, next_: str) -> None:
    scope = around(KINDS[kind], KINDS[kind].target(parts))
    assert (scope.page(None).text, scope.page("it's").text) == (first, next_)


def test_a_slot_is_looked_for_among_all_that_its_query_tells_of_on_one_page() -> None:
    scope = around(GRANT, USAGE)
    assert {scope.page(None).text, scope.page("X").text} == {'SHOW GRANTS ON DATABASE "D"'}
    assert scope.named_by == "grantee_name"


@pytest.mark.parametrize(
    ("askers", "rows", "worth"),
    [
        pytest.param(1, None, False, id="the first may be the only one"),
        pytest.param(2, None, True, id="with the second it is found out how large the scope is"),
        pytest.param(1, 1, False, id="one asker never reads more than its own row"),
        pytest.param(2, 10, True, id="a small scope is read for two"),
        pytest.param(2, 1_000, False, id="a large one isn't"),
        pytest.param(3, 1_000, True, id="but for three"),
        pytest.param(25, 10_000, False, id="a few in a huge scope are asked for one by one"),
        pytest.param(26, 10_000, True, id="many in it aren't"),
        pytest.param(100, PAGE * 25, False, id="the largest that is read to its end"),
        pytest.param(127, PAGE * 25, True, id="is worth it for as many askers as are remembered"),
    ],
)
def test_a_whole_scope_is_read_where_that_costs_less(askers: int, rows: int | None, worth: bool) -> None:
    assert worth_it(Scope(words("SHOW TABLES")), askers, rows) is worth


def test_grants_cannot_be_asked_for_by_less_than_the_whole() -> None:
    assert worth_it(around(GRANT, USAGE), 1, 10_000)
