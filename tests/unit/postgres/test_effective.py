"""What a cluster comes to by its class, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.postgres.cluster import admits
from freehold.postgres.effective import advice, faults, refused_change
from tests.unit.postgres.specs import STORE, cluster_of, effective

NAME = "orders"

POOLED = {"connectionPooler": {"enabled": True}}
NIGHTLY = {"backup": {"enabled": True, "schedule": "0 2 * * *"}}


def test_a_cluster_that_says_nothing_is_as_its_class_says() -> None:
    one = effective(
        {"instances": 3, "storage": "1Ti", "postgresqlConfig": {"work_mem": "64MB"}, "pgHBA": ["local all all peer"]}
    )
    assert (one.instances, one.settings.storage, one.version) == (3, "1Ti", "18")
    assert one.settings.postgresql_config == {"work_mem": "64MB"}
    assert one.settings.pg_hba == ["local all all peer"]
    assert one.image == "ghcr.io/cloudnative-pg/postgresql:18"


def test_an_empty_list_or_map_of_the_cluster_means_that_there_is_none() -> None:
    config = {
        "postgresqlConfig": {"work_mem": "64MB"},
        "pgHBA": ["local all all peer"],
        "imagePullSecrets": [{"name": "a"}],
    }
    one = effective(config, postgresqlConfig={}, pgHBA=[], imagePullSecrets=[], resources={})
    assert one.settings.postgresql_config == {}
    assert one.settings.pg_hba == []
    assert one.settings.image_pull_secrets == []
    assert one.settings.resources is not None
    assert one.settings.resources.requests is None


def test_parameters_of_the_cluster_take_the_place_of_all_of_the_class() -> None:
    one = effective({"postgresqlConfig": {"work_mem": "64MB"}}, postgresqlConfig={"jit": "off"})
    assert one.settings.postgresql_config == {"jit": "off"}


@pytest.mark.parametrize(
    ("class_", "own", "instances", "poolers"),
    [
        ({}, {}, 3, ()),
        ({"enabled": True}, {}, 3, ("rw", "ro")),
        ({"enabled": True}, {"enabled": False}, 3, ()),
        ({"enabled": True, "readOnly": False}, {}, 3, ("rw",)),
        ({"enabled": True, "readOnly": False}, {"readOnly": True}, 3, ("rw", "ro")),
        ({"enabled": True}, {"readWrite": False}, 3, ("ro",)),
        ({"enabled": True}, {}, 1, ("rw",)),
    ],
)
def test_switches_of_poolers_are_taken_one_by_one(
    class_: dict[str, bool], own: dict[str, bool], instances: int, poolers: tuple[str, ...]
) -> None:
    one = effective({"connectionPooler": class_}, connectionPooler=own, instances=instances)
    assert one.poolers == poolers
    assert faults(one, NAME) == ()


def test_a_cluster_that_switches_backups_off_takes_none_and_is_asked_for_no_schedule() -> None:
    one = effective({"backup": {"enabled": True}}, {"backup": {}}, backup={"enabled": False})
    assert (one.backs_up, one.archive, one.snapshots) == (False, None, None)
    assert faults(one, NAME) == ()


def test_a_cluster_may_take_backups_at_another_time_than_its_class() -> None:
    one = effective(NIGHTLY, backup={"schedule": "0 4 * * SUN"})
    assert one.settings.backup is not None
    assert (one.backs_up, one.settings.backup.schedule) == (True, "0 4 * * SUN")


def test_a_cluster_may_wait_for_nobody_though_its_class_has_it_wait() -> None:
    config = {"instances": 2, "synchronousReplication": {"number": 1}}
    waiting, free = effective(config), effective(config, synchronousReplication={"number": 0})
    assert waiting.synchronous is not None
    assert free.synchronous is None
    assert faults(effective(config, instances=1, synchronousReplication={"number": 0}), NAME) == ()


@pytest.mark.parametrize(
    ("allowed", "namespace", "admitted"),
    [
        (None, "dbs", True),
        (None, "team", False),
        ([], "team", False),
        (["team"], "team", True),
        (["team"], "other", False),
        (["*"], "other", True),
    ],
)
def test_a_cluster_says_which_namespaces_may_have_databases_on_it(
    allowed: list[str] | None, namespace: str, admitted: bool
) -> None:
    assert admits(cluster_of(allowedNamespaces=allowed), "dbs", namespace) is admitted


def test_metrics_are_the_clusters_to_switch() -> None:
    monitoring = {"postgresqlMetrics": {"enabled": True}, "connectionPoolerMetrics": {"enabled": True}}
    one = effective({"monitoring": monitoring, **POOLED}, monitoring={"connectionPoolerMetrics": False})
    assert (one.postgresql_metrics, one.pooler_metrics) == (True, False)


def test_object_storage_is_there_for_those_who_only_read_it() -> None:
    one = effective(bootstrapFrom={"objectStorage": {"serverName": "old"}})
    assert one.archive is None
    assert one.object_store is not None


FAULTY: Mapping[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "switchover alone": ({}, {"primaryUpdateMethod": "switchover"}, {}, "leaves no standby to switch over to"),
    "older than the class": ({}, {}, {"postgresVersion": "17"}, "17 is older than the class's 18"),
    "an older minor": ({"postgresVersion": "17.4"}, {}, {"postgresVersion": "17.2"}, "older than the class's 17.4"),
    "older than what runs": ({"postgresVersion": "13"}, {}, {}, "13 is older than what CloudNativePG runs"),
    "the class's image of another major": (
        {"postgresImage": "r/postgres:18.1"}, {}, {"postgresVersion": "19"}, "doesn't begin with major version 19"
    ),
    "poolers without set-up": (POOLED, {"connectionPooler": None}, {}, "doesn't say how poolers are set up"),
    "a pooler to no standby": (POOLED, {}, {"connectionPooler": {"readOnly": True}}, "no standbys with 1 instance"),
    "no pooler over": (POOLED, {}, {"connectionPooler": {"readWrite": False}}, "it leaves no pooler over"),
    "metrics of no pooler": ({}, {}, {"monitoring": {"connectionPoolerMetrics": True}}, "no pooler to scrape"),
    "a pooler's unknown parameter": (
        {}, {"connectionPooler": {"config": {"pool_mode": "session"}}}, {}, "pool_mode isn't a parameter"
    ),
    "backups at no time": ({}, {}, {"backup": {"enabled": True}}, "spec.backup.schedule: it is needed"),
    "backups that go nowhere": (NIGHTLY, {"backup": None}, {}, "doesn't say where backups go"),
    "no such hour": (NIGHTLY, {}, {"backup": {"schedule": "0 25 * * *"}}, "'25' is no hour"),
    "reading from nowhere": (
        {}, {"backup": {}}, {"bootstrapFrom": {"objectStorage": {"serverName": "old"}}}, "no object storage to read"
    ),
    "archiving on top": (
        NIGHTLY, {}, {"bootstrapFrom": {"objectStorage": {"serverName": NAME}}}, "on top of the archive that it reads"
    ),
    "a copy of itself": ({}, {}, {"bootstrapFrom": {"cluster": {"name": NAME}}}, "can't be copied from itself"),
    "a log without volume": (
        {},
        {},
        {"bootstrapFrom": {"volumeSnapshot": {"storage": "a", "walStorage": "b"}}},
        "there is no volume for it: set spec.walStorage",
    ),
    "no such day": (
        {},
        {},
        {
            "bootstrapFrom": {
                "volumeSnapshot": {"storage": "a", "walArchive": {"serverName": "b"}},
                "recoveryTarget": {"type": "time", "value": "2026-02-30T00:00:00Z"},
            }
        },
        "must be a time as in",
    ),
    "a fixed parameter": ({"postgresqlConfig": {"log_destination": "stderr"}}, {}, {}, "CloudNativePG's own to set"),
    "another of them": (
        {}, {}, {"postgresqlConfig": {"synchronous_standby_names": "*"}}, "set synchronousReplication"
    ),
    "an injected line": ({}, {}, {"postgresqlConfig": {"a\nport": "1"}}, "is no name of a parameter"),
    "a bad rule": ({}, {}, {"pgHBA": ["host all all all md6"]}, "spec.pgHBA[0]: 'md6' is no authentication method"),
    "a request over its limit": (
        {}, {}, {"resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": 1}}}, "cpu asks for 1500m"
    ),
    "more buffers than memory": (
        {},
        {},
        {"resources": {"requests": {"memory": "1Gi"}}, "postgresqlConfig": {"shared_buffers": "2GB"}},
        "2GB is more than the memory that is asked for, 1Gi",
    ),
    "a size that is none": ({}, {}, {"postgresqlConfig": {"shared_buffers": "much"}}, "'much' is no size"),
    "a log that doesn't fit": (
        {}, {}, {"walStorage": "2Gi", "postgresqlConfig": {"max_wal_size": "2GB"}}, "doesn't fit on the volume"
    ),
    "a log from more to less": ({}, {}, {"postgresqlConfig": {"min_wal_size": "2GB"}}, "be less than max_wal_size"),
    "too little of a log": ({}, {}, {"postgresqlConfig": {"wal_level": "minimal"}}, "isn't enough for archiving"),
    "a log without hints": (
        {}, {}, {"instances": 2, "postgresqlConfig": {"wal_log_hints": "off"}}, "keeps standbys from following"
    ),
    "more standbys than there are": (
        {}, {}, {"instances": 2, "synchronousReplication": {"number": 2}}, "as many as there are instances (2)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTY)
def test_what_can_not_be_is_told_with_field_and_remedy(case: str) -> None:
    config, cnpg, spec, why = FAULTY[case]
    (fault,) = faults(effective(config, cnpg, **spec), NAME)
    assert why in fault


def test_postgresql_17_can_be_had() -> None:
    for one in (effective({"postgresVersion": "17"}), effective({"postgresVersion": "17"}, postgresVersion="17.6")):
        assert faults(one, NAME) == ()
        assert one.image.startswith("ghcr.io/cloudnative-pg/postgresql:17")


def test_snapshots_with_a_log_of_their_own_can_be_restored_where_there_is_a_volume_for_it() -> None:
    source = {"volumeSnapshot": {"storage": "data", "walStorage": "wal"}}
    assert faults(effective(walStorage="10Gi", bootstrapFrom=source), NAME) == ()


def test_an_archive_may_be_read_and_another_written() -> None:
    source = {"objectStorage": {"serverName": "orders-2025"}}
    assert faults(effective(NIGHTLY, bootstrapFrom=source), NAME) == ()


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ({}, {"storage": "49Gi"}, "storage"),
        ({}, {"storage": "50Gi"}, None),
        ({}, {"storage": "0.05Ti"}, None),
        ({"storage": "60Gi"}, {"storage": "60000Mi"}, "storage"),
        ({"walStorage": "10Gi"}, {}, "walStorage"),
        ({}, {"walStorage": "10Gi"}, None),
    ],
)
def test_volumes_only_grow_whoever_had_set_their_size(
    before: dict[str, Any], after: dict[str, Any], field: str | None
) -> None:
    refused = refused_change(effective(**before), effective(**after))
    assert [each.split(":")[0] for each in refused] == ([f"spec.{field}"] if field else [])


def test_the_likely_wrong_is_warned_of() -> None:
    snapshots: dict[str, Any] = {"backup": {"volumeSnapshot": {}}}
    spec = {"instances": 2, "synchronousReplication": {"number": 1}, "pgHBA": ["host all all 10.0.0.0/8 trust"]}
    found = advice(effective(NIGHTLY, snapshots, **spec))
    assert [each.split(":")[0] for each in found] == [
        "spec.synchronousReplication",
        "spec.backup.enabled",
        "spec.pgHBA[0]",
    ]
    assert advice(effective(NIGHTLY, {"backup": {"volumeSnapshot": {}, "barmanObjectStore": STORE}})) == ()
