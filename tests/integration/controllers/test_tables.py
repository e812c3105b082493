"""Tables with data in them: what a change of the manifest makes of their columns, and what it doesn't."""

from __future__ import annotations

import json
from typing import Any

import pytest

from freehold_devstack.processes import until
from freehold_devstack.snowflake.control_client import RefusedError
from tests.integration.controllers.tenant import API, DEADLINE, Tenant

ID = {"name": "ID", "type": "NUMBER", "nullable": False}
KEY = {"name": "K", "type": "PrimaryKey", "columns": ["ID"]}
NOTE = {"name": "NOTE", "type": "VARCHAR(10)", "comment": "theirs"}


class Orders:
    """A table in a schema and a database of its own."""

    def __init__(self, tenant: Tenant, name: str) -> None:
        self.tenant, self.parents = tenant, {"databaseName": name, "schemaName": "S"}
        self.name = f'"{name}"."S"."T"'
        tenant.endpoint.sql(f'CREATE DATABASE "{name}"', role="FREEHOLD")
        tenant.endpoint.sql(f'CREATE SCHEMA "{name}"."S"', role="FREEHOLD")

    def apply(self, *columns: dict[str, Any], **spec: Any) -> None:
        self.tenant.apply("Table", "t", spec={**self.parents, "name": "T", "columns": [*columns], **spec})

    def ready(self, *columns: dict[str, Any], **spec: Any) -> None:
        self.apply(*columns, **spec)
        self.tenant.ready("table", "t")

    @property
    def columns(self) -> list[tuple[str, str]]:
        return [(row["name"], row["type"]) for row in self.tenant.endpoint.sql(f"DESCRIBE TABLE {self.name}")]

    def changes(self, since: int) -> list[str]:
        """What was sent that writes."""
        sent = self.tenant.endpoint.statements("^(CREATE|ALTER|DROP) ", since=since, outcome="ok")
        return [each.text for each in sent if self.name in each.text]


@pytest.fixture
def orders(tenant: Tenant, name: str) -> Orders:
    return Orders(tenant, name)


def test_columns_are_added_widened_renamed_and_given_up_as_the_manifest_says(orders: Orders) -> None:
    orders.ready(ID, NOTE, {"name": "OLD", "type": "DATE"}, clusterBy=["ID"])
    since = orders.tenant.endpoint.sequence
    orders.ready(ID, {"name": "TEXT", "type": "VARCHAR(20)", "previousName": "NOTE"}, {"name": "OLD", "type": "DATE"})
    assert orders.columns == [("ID", "NUMBER(38,0)"), ("TEXT", "VARCHAR(20)"), ("OLD", "DATE")]
    orders.ready(ID, {"name": "TEXT", "type": "STRING"}, {"name": "NEW", "type": "INT"}, droppedColumns=["OLD"])
    assert orders.columns == [("ID", "NUMBER(38,0)"), ("TEXT", "VARCHAR(16777216)"), ("NEW", "NUMBER(38,0)")]
    alter = f"ALTER TABLE {orders.name}"
    assert orders.changes(since) == [
        f'{alter} RENAME COLUMN "NOTE" TO "TEXT"',
        f'{alter} ALTER COLUMN "TEXT" SET DATA TYPE VARCHAR(20), COLUMN "TEXT" UNSET COMMENT',
        f"{alter} DROP CLUSTERING KEY",
        f'{alter} ALTER COLUMN "TEXT" SET DATA TYPE VARCHAR',
        f'{alter} ADD COLUMN "NEW" NUMBER(38,0)',
        f'{alter} DROP COLUMN "OLD"',
    ]


def test_a_column_renamed_without_saying_so_keeps_its_data_and_stops(orders: Orders) -> None:
    orders.ready(ID, NOTE)
    since = orders.tenant.endpoint.sequence
    orders.apply(ID, {"name": "TEXT", "type": "VARCHAR(10)"}, comment="new")
    (message,) = orders.tenant.reaches("table", "t", "DestructiveChange")
    assert "previousName NOTE" in message
    assert "droppedColumns" in message
    assert not orders.changes(since)
    orders.ready(ID, {"name": "TEXT", "type": "VARCHAR(10)", "previousName": "NOTE"}, comment="new")
    assert [name for name, _ in orders.columns] == ["ID", "TEXT"]


def test_a_narrower_type_is_refused_and_the_wider_one_stays(orders: Orders) -> None:
    orders.ready(ID, NOTE)
    orders.apply(ID, {**NOTE, "type": "VARCHAR(5)"})
    orders.tenant.reaches("table", "t", "DestructiveChange")
    assert orders.columns[1] == ("NOTE", "VARCHAR(10)")


def test_a_strangers_column_is_told_and_holds_up_no_change(orders: Orders) -> None:
    orders.ready(ID)
    orders.tenant.endpoint.sql(f"ALTER TABLE {orders.name} ADD COLUMN theirs DATE", role="FREEHOLD")
    orders.apply(ID, comment="new")
    (message,) = orders.tenant.reaches("table", "t", "DriftDetected", "DriftDetected")
    assert "columns[THEIRS]" in message
    orders.tenant.ready("table", "t")
    assert [name for name, _ in orders.columns] == ["ID", "THEIRS"]


def test_a_table_is_adopted_with_the_columns_that_the_manifest_knows(orders: Orders) -> None:
    orders.tenant.endpoint.sql(
        f"CREATE TABLE {orders.name} (id INT NOT NULL, note VARCHAR(5), theirs DATE COMMENT 'kept')", role="FREEHOLD"
    )
    since = orders.tenant.endpoint.sequence
    orders.ready(ID, {"name": "NOTE", "type": "VARCHAR(10)"}, managementPolicies={"adoptionPolicy": "adopt"})
    assert orders.changes(since) == [f'ALTER TABLE {orders.name} ALTER COLUMN "NOTE" SET DATA TYPE VARCHAR(10)']


def test_a_table_that_is_as_declared_is_only_read(orders: Orders) -> None:
    keys = [{"name": "PK", "type": "PrimaryKey", "columns": ["ID"]}, {"name": "C", "type": "Check", "check": "ID > 0"}]
    text = {"name": "TEXT", "type": "STRING", "default": "'x'", "comment": "c"}
    orders.ready(
        {"name": "ID", "type": "INT", "identity": {"start": 5}},
        text,
        {"name": "AT", "type": "TIMESTAMP_LTZ", "default": "current_timestamp"},
        constraints=keys,
        clusterBy=["to_date( AT )", '"ID"'],
        searchOptimization=["EQUALITY(ID)"],
        enableSchemaEvolution=False,
        changeTracking=True,
    )
    since = orders.tenant.endpoint.sequence
    orders.tenant.kubectl("annotate", "table", "t", "freehold.dev/reconcile-now=1")

    def looked() -> bool:
        status = (orders.tenant.get("table", "t") or {})["status"]
        return bool(status.get("lastHandledReconcileNow") == "1")

    until(looked, DEADLINE, "a deep look", orders.tenant.describe)
    orders.tenant.ready("table", "t")
    assert not orders.changes(since)


def test_policies_are_put_on_kept_on_and_taken_off_as_the_manifest_says(orders: Orders) -> None:
    schema, sql, warehouse = (
        orders.name.removesuffix('."T"'),
        orders.tenant.endpoint.sql,
        orders.parents["databaseName"],
    )
    # The policies of a table are told by a function, which needs a warehouse.
    sql(f'CREATE WAREHOUSE "{warehouse}"', role="FREEHOLD")
    orders.tenant.provider("ANNA", warehouse=warehouse)
    sql(f"CREATE MASKING POLICY {schema}.\"MASK\" AS (val VARCHAR) RETURNS VARCHAR -> '***'", role="FREEHOLD")
    sql(f'CREATE ROW ACCESS POLICY {schema}."ROWS" AS (n NUMBER) RETURNS BOOLEAN -> n > 0', role="FREEHOLD")
    masked = {**NOTE, "maskingPolicy": {"policy": f'{schema}."MASK"'}}

    def mask() -> str:
        return next(str(row["policy name"]) for row in sql(f"DESCRIBE TABLE {orders.name}") if row["name"] == "NOTE")

    orders.ready(ID, masked, rowAccessPolicy={"policy": f'{schema}."ROWS"', "columns": ["ID"]})
    assert "MASK" in mask()
    with pytest.raises(RefusedError):
        sql(f'DROP ROW ACCESS POLICY {schema}."ROWS"')
    sql(f'ALTER TABLE {orders.name} MODIFY COLUMN "NOTE" UNSET MASKING POLICY')
    orders.tenant.kubectl("annotate", "table", "t", "freehold.dev/reconcile-now=1")
    until(lambda: "MASK" in mask(), DEADLINE, "the mask to be put on again", orders.tenant.describe)
    orders.ready(ID, NOTE)
    assert "MASK" not in mask()
    sql(f'DROP ROW ACCESS POLICY {schema}."ROWS"')


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"databaseRef": {"name": "d"}}, "set exactly one of databaseRef and databaseName"),
        ({"schemaName": None}, "set exactly one of schemaRef and schemaName"),
        ({"columns": []}, "should have at least 1 items"),
        ({"columns": [ID, ID]}, "Duplicate value"),
        ({"columns": [{**ID, "default": "1", "identity": {}}]}, "set at most one of default"),
        ({"columns": [{**ID, "identity": {"increment": 0}}]}, "increment can't be 0"),
        ({"columns": [{**ID, "tags": {"t": "v"}}]}, "NotSupported: declare a TagAssociation"),
        ({"columns": [{**ID, "maskingPolicy": {}}]}, "set exactly one of policy and policyRef"),
        ({"transient": True, "dataRetentionTimeInDays": 2}, "keeps at most 1 day"),
        ({"constraints": [KEY, {**KEY, "name": "L"}]}, "at most one primary key"),
        ({"constraints": [{**KEY, "type": "ForeignKey"}]}, "foreignKey goes with type ForeignKey"),
        ({"constraints": [{**KEY, "foreignKey": {"table": "D.S.T", "columns": ["A"]}}]}, "foreignKey goes with"),
        ({"constraints": [{"name": "C", "type": "Check"}]}, "check goes with type Check"),
        (
            {"constraints": [{**KEY, "type": "ForeignKey", "foreignKey": {"table": "D.S.T", "columns": ["A", "B"]}}]},
            "as many columns as the key",
        ),
    ],
)
def test_the_api_server_refuses_what_no_table_can_be(newcomer: Tenant, change: dict[str, Any], message: str) -> None:
    spec = {"databaseName": "D", "schemaName": "S", "name": "T", "columns": [ID], **change}
    manifest = {
        "apiVersion": API,
        "kind": "Table",
        "metadata": {"name": "t"},
        "spec": {field: value for field, value in spec.items() if value is not None},
    }
    answer = newcomer.kubectl("apply", "--dry-run=server", "-f", "-", input=json.dumps(manifest), check=False)
    assert answer.returncode
    assert message in answer.stderr


def test_a_table_that_others_refer_to_is_not_dropped_unless_forced(orders: Orders) -> None:
    orders.ready(ID, constraints=[KEY])
    lines = orders.name.removesuffix('"T"') + "LINES"
    foreign_key = f"FOREIGN KEY (id) REFERENCES {orders.name} (ID)"
    orders.tenant.endpoint.sql(f"CREATE TABLE {lines} (id INT, {foreign_key})", role="FREEHOLD")
    since = orders.tenant.endpoint.sequence
    orders.tenant.delete("table", "t")
    (message,) = orders.tenant.reaches("table", "t", "DeleteBlocked")
    assert "of table LINES" in message
    assert not orders.changes(since)
    orders.tenant.kubectl("annotate", "table", "t", "freehold.dev/force-destroy=true")
    orders.tenant.gone("table", "t")
    assert orders.changes(since) == [f"DROP TABLE {orders.name}"]


def test_a_table_is_dropped_in_a_way_that_spares_what_refers_to_it(orders: Orders) -> None:
    orders.ready(ID)
    since = orders.tenant.endpoint.sequence
    orders.tenant.delete("table", "t")
    orders.tenant.gone("table", "t")
    assert orders.changes(since) == [f"DROP TABLE {orders.name} RESTRICT"]
