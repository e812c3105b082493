"""What is made beside the CloudNativePG Cluster: poolers, backups, Secrets and the ConfigMap."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import SystemRandom
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres import backups, cnpg_cluster, connection, credentials, poolers
from freehold.postgres.credentials import Flaw
from freehold.postgres.names import LABEL, LONGEST_NAME, ClusterNames
from freehold.postgres.normal_form import Struct, changes
from freehold.postgres.objects import encoded
from tests.unit.postgres.live import OWNER, merged, stored
from tests.unit.postgres.specs import STORE, cluster_of, effective

NAMES = ClusterNames("dbs", "orders")
POOLED = {"instances": 2, "connectionPooler": {"enabled": True}}
NIGHTLY = {"backup": {"enabled": True, "schedule": "0 2 * * *"}}


def there(wanted: Mapping[str, Any], **spec: Any) -> Object:
    """An object that was created so, with what others have added."""
    return Object(merged(wanted, {"metadata": {"resourceVersion": "7"}, "spec": spec}))


def difference(fields: Struct, wanted: Mapping[str, Any], live: Object) -> Any:
    return (changes(fields, wanted, live) or {}).get("spec")


def test_there_is_a_pooler_for_each_way_in() -> None:
    primary, standbys = poolers.desired(
        effective(POOLED, {"connectionPooler": {"instances": 2, "mode": "session"}}), OWNER
    )
    assert (primary["metadata"]["name"], standbys["metadata"]["name"]) == ("orders-pooler-rw", "orders-pooler-ro")
    assert (primary["spec"]["type"], standbys["spec"]["type"]) == ("rw", "ro")
    assert primary["spec"]["pgbouncer"] == {"poolMode": "session"}
    assert primary["spec"]["instances"] == 2
    assert primary["spec"]["template"] == {"spec": {"containers": [{"name": "pgbouncer"}]}}


def test_defaults_that_others_add_to_a_pooler_are_no_difference() -> None:
    (wanted, _) = poolers.desired(effective(POOLED), OWNER)
    live = there(
        wanted, pgbouncer={"paused": False}, template={"spec": {"containers": [{"name": "pgbouncer", "resources": {}}]}}
    )
    assert changes(poolers.FIELDS, wanted, live) is None


@pytest.mark.parametrize(
    ("config", "cnpg", "patch"),
    [
        ({}, {"connectionPooler": {"instances": 5}}, {"instances": 5}),
        ({}, {"connectionPooler": {"mode": "session"}}, {"pgbouncer": {"poolMode": "session"}}),
        (
            {},
            {"connectionPooler": {"config": {"max_client_conn": "9"}}},
            {"pgbouncer": {"parameters": {"max_client_conn": "9"}}},
        ),
        (
            {"monitoring": {"connectionPoolerMetrics": {"enabled": True}}},
            {},
            {
                "template": {
                    "metadata": {
                        "annotations": {
                            "prometheus.io/path": "/metrics",
                            "prometheus.io/port": "9127",
                            "prometheus.io/scrape": "true",
                        }
                    }
                }
            },
        ),
    ],
)
def test_a_pooler_is_patched_by_what_differs(config: Any, cnpg: Any, patch: dict[str, Any]) -> None:
    (before, _), (after, _) = (poolers.desired(effective(POOLED | x, y), OWNER) for x, y in (({}, {}), (config, cnpg)))
    assert difference(poolers.FIELDS, after, there(before)) == patch
    assert changes(poolers.FIELDS, before, there(after)) is not None


def test_backups_are_scheduled_for_each_place_that_they_go_to() -> None:
    snapshots, archive = backups.schedules(effective(NIGHTLY), OWNER)
    assert snapshots["metadata"]["name"] == "orders-backup"
    assert snapshots["spec"] == {
        "schedule": "0 0 2 * * *",
        "cluster": {"name": "orders"},
        "target": "prefer-standby",
        "backupOwnerReference": "cluster",
        "method": "volumeSnapshot",
    }
    assert archive["metadata"]["name"] == "orders-backup-objectstore"
    assert archive["spec"]["pluginConfiguration"] == {"name": "barman-cloud.cloudnative-pg.io"}
    assert backups.schedules(effective(NIGHTLY, backup={"enabled": False}), OWNER) == ()


def test_defaults_that_others_add_to_a_schedule_are_no_difference() -> None:
    for wanted in backups.schedules(effective(NIGHTLY), OWNER):
        live = there(wanted, suspend=False, immediate=False, onlineConfiguration={"immediateCheckpoint": True})
        assert changes(backups.SCHEDULE_FIELDS, wanted, live) is None
        assert difference(backups.SCHEDULE_FIELDS, wanted, there(wanted, suspend=True)) == {"suspend": None}


def test_an_object_store_is_there_while_it_is_written_to_or_read_from() -> None:
    store = {"backup": {"barmanObjectStore": {**STORE, "endpointURL": "https://s3.x", "retentionPolicy": "30d"}}}
    made = backups.object_store(effective(NIGHTLY, store), OWNER)
    assert made is not None
    assert made["spec"]["configuration"] == {**STORE, "endpointURL": "https://s3.x"}
    assert made["spec"]["retentionPolicy"] == "30d"
    assert changes(backups.STORE_FIELDS, made, there(made, instanceSidecarConfiguration={"env": []})) is None
    source = {"objectStorage": {"serverName": "old"}}
    assert backups.object_store(effective({}, store, bootstrapFrom=source), OWNER) is not None
    assert backups.object_store(effective({}, store), OWNER) is None


def test_passwords_are_long_and_need_no_escaping() -> None:
    made = {credentials.password(SystemRandom()) for _ in range(20)}
    assert len(made) == 20
    for password in made:
        assert re.fullmatch("[A-Za-z0-9]{32}", password)
        assert sum(map(str.isdigit, password)) == 8
        assert any(map(str.islower, password))
        assert any(map(str.isupper, password))


def test_the_superusers_secret_is_followed_by_cloudnativepg_and_goes_with_the_cluster() -> None:
    made = credentials.generated(NAMES.superuser_secret, "postgres", "s3cret", OWNER)
    assert made["data"] == encoded({"username": "postgres", "password": "s3cret"})
    assert made["metadata"]["labels"]["cnpg.io/reload"] == "true"
    assert made["metadata"]["ownerReferences"] == [OWNER.reference]


@pytest.mark.parametrize(
    ("spec", "published", "name"),
    [
        ({}, None, "orders-secret"),
        ({}, "older-secret", "older-secret"),
        ({"passwordConfig": {"superuserExternalSecretRef": {"name": "own"}}}, "older-secret", "own"),
    ],
)
def test_a_cluster_keeps_the_secret_that_it_has(spec: dict[str, Any], published: str | None, name: str) -> None:
    assert credentials.superuser_secret(cluster_of(**spec), published, NAMES) == name


GOOD = {"username": "postgres", "password": "p"}


@pytest.mark.parametrize(
    ("data", "label", "flaw"),
    [
        (None, "true", Flaw.MISSING),
        ({}, "true", Flaw.MISSING_DATA),
        ({"username": "postgres"}, "true", Flaw.MISSING_KEYS),
        ({**GOOD, "password": ""}, "true", Flaw.MISSING_KEYS),
        ({**GOOD, "username": "admin"}, "true", Flaw.INVALID_USERNAME),
        (GOOD, "false", Flaw.MISSING_RELOAD_LABEL),
        (GOOD, "true", None),
    ],
)
def test_what_a_secret_lacks_is_told_and_nothing_of_what_is_in_it(
    data: dict[str, str] | None, label: str, flaw: Flaw | None
) -> None:
    metadata = {"name": "own", "labels": {"cnpg.io/reload": label}}
    found = None if data is None else Object({"metadata": metadata, "data": encoded(data)})
    unusable = credentials.flaw("own", found, "postgres")
    assert (unusable and unusable.flaw) == flaw
    assert "admin" not in str(unusable)


def test_a_username_that_is_no_text_is_another_one() -> None:
    metadata = {"name": "own", "labels": {"cnpg.io/reload": "true"}}
    found = Object({"metadata": metadata, "data": {"username": "/w==", "password": "cA=="}})
    unusable = credentials.flaw("own", found, "postgres")
    assert unusable is not None
    assert unusable.flaw is Flaw.INVALID_USERNAME


def _running(ready: int, ca: str | None = "orders-ca") -> Object:
    live = stored(cnpg_cluster.desired(effective(), OWNER, "s"))
    certificates = {"certificates": {"serverCASecret": ca}} if ca else {}
    status = {"readyInstances": ready, "readService": "orders-r", "writeService": "orders-rw", **certificates}
    return Object({**live.raw, "status": status})


def test_the_read_only_endpoint_leads_to_standbys_alone_and_is_there_with_them() -> None:
    one = effective(POOLED)
    data = connection.config_map(one, OWNER, "orders-secret", _running(2))["data"]
    assert data == {
        "CLUSTER_RW_ENDPOINT": "orders-rw.dbs.svc.cluster.local",
        "CLUSTER_RO_ENDPOINT": "orders-ro.dbs.svc.cluster.local",
        "CLUSTER_R_ENDPOINT": "orders-r.dbs.svc.cluster.local",
        "DEFAULT_CLUSTER_PORT": "5432",
        "CLUSTER_POOLER_RW_ENDPOINT": "orders-pooler-rw.dbs.svc.cluster.local",
        "CLUSTER_POOLER_RO_ENDPOINT": "orders-pooler-ro.dbs.svc.cluster.local",
        "SUPER_USER_NAME": "postgres",
        "SUPER_USER_SECRET_REF": "orders-secret",
        "SERVER_CA_SECRET_REF": "orders-ca/ca.crt",
    }
    alone = connection.config_map(one, OWNER, "orders-secret", _running(1, None))["data"]
    assert (alone["CLUSTER_RO_ENDPOINT"], alone["CLUSTER_POOLER_RO_ENDPOINT"]) == ("", "")
    assert alone["SERVER_CA_SECRET_REF"] == ""


def test_a_config_map_that_was_edited_is_mended() -> None:
    wanted = connection.config_map(effective(), OWNER, "orders-secret", _running(1))
    live = Object(
        merged(wanted, {"metadata": {"resourceVersion": "7"}, "data": {"DEFAULT_CLUSTER_PORT": "1", "X": "y"}})
    )
    patch = changes(connection.FIELDS, wanted, live)
    assert patch is not None
    assert patch["data"] == {"DEFAULT_CLUSTER_PORT": "5432", "X": None}
    assert "CLUSTER_POOLER_RW_ENDPOINT" not in wanted["data"]


def test_all_that_is_made_for_the_longest_name_can_be_named_so() -> None:
    names = ClusterNames("dbs", "o" * LONGEST_NAME)
    derived = (
        *(names.pooler("ro"), names.service("ro"), names.snapshot_backup, names.archive_backup, names.object_store),
        *(names.superuser_secret, names.config_map),
    )
    services = {names.pooler("ro"), names.service("ro")}
    assert all(len(each) <= 63 and re.match(LABEL, each) for each in services)
    assert all(len(each) <= 253 for each in derived)
    assert len(set(derived)) == len(derived)
