"""`freehold whoowns`: from a name in SQL to the resource behind it."""

from __future__ import annotations

import pytest

from freehold.datatypes import signature
from freehold.identity import Identity, Name
from freehold.kinds.registry import KINDS
from freehold.kube.errors import ApiError, Forbidden, NotServed, Unavailable
from freehold.slots import grant, of
from tests.unit.cli.cluster import ACCOUNT, Cluster


def named(namespace_class: str, *parts: str, account: str = ACCOUNT) -> Identity:
    return Identity(account, namespace_class, Name(parts))


@pytest.mark.parametrize(
    "text", ["db.schema.orders", 'DB."SCHEMA".orders', '"DB"."SCHEMA"."ORDERS"', " DB.SCHEMA.ORDERS "]
)
def test_bare_parts_mean_upper_case_as_in_sql(cluster: Cluster, text: str) -> None:
    cluster.claim(named("TABLE", "DB", "SCHEMA", "ORDERS"), "a", "orders", kind="Table")
    result = cluster.run("whoowns", text)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[:5] == [
        "Table",
        "a/orders",
        "ACME.PROD",
        "TABLE",
        '"DB"."SCHEMA"."ORDERS"',
    ]


def test_what_nobody_owns_is_not_found(cluster: Cluster) -> None:
    cluster.claim(named("TABLE", "DB", "S", "ORDERS"), "a", "orders", kind="Table")
    result = cluster.run("whoowns", "DB.S")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == 'error: no resource of this cluster owns "DB"."S"\n'


def test_a_name_that_differs_in_case_alone_is_pointed_at(cluster: Cluster) -> None:
    cluster.claim(named("TABLE", "DB", "S", "orders"), "a", "orders", kind="Table")
    result = cluster.run("whoowns", "db.s.orders")
    assert result.exit_code == 1
    assert 'but there is "DB"."S"."orders": put in double quotes' in result.stderr


def test_every_account_and_class_of_a_name_is_told_until_it_is_narrowed(cluster: Cluster) -> None:
    cluster.claim(named("DATABASE", "X"), "a", "x")
    cluster.claim(named("WAREHOUSE", "X"), "a", "x", kind="Warehouse")
    cluster.claim(named("DATABASE", "X", account="R.OTHER"), "b", "x", account="ACME.TEST")
    found = cluster.run("whoowns", "x")
    assert found.exit_code == 0
    assert "warning: 3 objects have that name" in found.stderr
    narrowed = cluster.run("whoowns", "x", "--account", "acme-prod", "--kind", "db")
    assert len(narrowed.stdout.splitlines()) == 2
    assert narrowed.stderr == ""
    assert cluster.json("whoowns", "x", "--class=WAREHOUSE")[0]["holder"]["kind"] == "Warehouse"
    assert cluster.run("whoowns", "x", "--account", "r.other").stdout.splitlines()[1].split()[1] == "b/x"


def test_a_function_is_found_by_its_argument_types_in_any_spelling_or_with_its_overloads(cluster: Cluster) -> None:
    for types in (["int"], ["text", "vector(float, 3)"], []):
        identity = Identity(ACCOUNT, "FUNCTION", Name(("DB", "S", "F"), signature(types)))
        cluster.claim(identity, "a", f"f{len(types)}", kind="Function")
    assert len(cluster.json("whoowns", "db.s.f")) == 3
    for text, owner in (("db.s.f (BIGINT)", "f1"), ("db.s.f(VARCHAR(10), vector(FLOAT, 3))", "f2"), ("db.s.f()", "f0")):
        assert [each["holder"]["name"] for each in cluster.json("whoowns", text)] == [owner]


def test_a_grant_is_found_as_it_is_printed(cluster: Cluster) -> None:
    slot = grant("SELECT", of("TABLE", "DB", "S", "T"), of("ROLE", "R"))
    cluster.claim(Identity(ACCOUNT, "GRANT", slot), "a", "select", kind="Grant")
    assert cluster.run("whoowns", str(slot)).exit_code == 0
    assert cluster.run("whoowns", "db.s.t").exit_code == 1


@pytest.mark.parametrize("text", ["", "db..t", 'db."t', "db.s.f(blob)", "db.s.f(int", "a b"])
def test_what_is_no_name_is_refused_with_the_form_of_one(cluster: Cluster, text: str) -> None:
    result = cluster.run("whoowns", text)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "write DB.SCHEMA.NAME" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_whether_the_owner_still_stands_for_it_is_told(cluster: Cluster) -> None:
    identity = named("DATABASE", "SALES")
    cluster.claim(identity, "a", "sales")
    cluster.database("a", "sales", "SALES")
    cluster.later()
    assert cluster.json("whoowns", "sales")[0]["liveness"] == "live"
    cluster.kube.remove(KINDS["Database"].resource.path, "sales", "a")
    assert cluster.json("whoowns", "sales")[0]["liveness"] == "free"


@pytest.mark.parametrize(
    ("refusal", "remedy"),
    [
        (Forbidden(403, "Forbidden", "you may not"), "ClusterRole freehold-claims-view"),
        (NotServed(404, "", "no such path"), "Freehold isn't installed here"),
        (Unavailable(0, "", "nobody there"), "see whether kubectl reaches it"),
    ],
)
def test_a_cluster_that_gives_no_answer_is_told_from_one_that_says_no(
    cluster: Cluster, refusal: ApiError, remedy: str
) -> None:
    def refuse(_verb: str, _plural: str, _name: str) -> None:
        raise refusal

    cluster.kube.before = refuse
    result = cluster.run("whoowns", "db")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {refusal}")
    assert remedy in result.stderr


def test_a_name_is_printed_without_what_a_terminal_would_obey(cluster: Cluster) -> None:
    cluster.claim(named("DATABASE", "\x1b[31m[red]x"), "a", "x")
    shown = cluster.run("claims", "list").stdout
    assert '"\\x1b[31m[red]x"' in shown
    assert "\x1b" not in shown
