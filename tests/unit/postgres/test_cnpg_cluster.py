"""The CloudNativePG Cluster: as it is to be, and the least that makes it so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres import cnpg_cluster
from freehold.postgres.normal_form import changes
from freehold.postgres.versions import Hold
from tests.unit.postgres.live import OWNER, merged, patched, stored
from tests.unit.postgres.specs import STORE, effective

SECRET = "orders-secret"

FULL_CLASS: dict[str, Any] = {
    "instances": 3,
    "postgresVersion": "17",
    "connectionPooler": {"enabled": True},
    "backup": {"enabled": True, "schedule": "0 2 * * *"},
    "monitoring": {"postgresqlMetrics": {"enabled": True}},
}
FULL_CNPG: dict[str, Any] = {
    "primaryUpdateMethod": "switchover",
    "storageClass": "fast",
    "walStorageClass": "faster",
    "affinity": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "db", "operator": "Exists"}]},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "backup": {"volumeSnapshot": {"className": "csi", "labels": {"team": "a"}}, "barmanObjectStore": STORE},
}
FULL: dict[str, Any] = {
    "walStorage": "10Gi",
    "imagePullSecrets": [{"name": "registry"}],
    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 2}},
    "pgHBA": ["hostssl all all 10.0.0.0/8 scram-sha-256"],
    "postgresqlConfig": {"work_mem": "64MB"},
    "synchronousReplication": {"number": 1},
    "monitoring": {"customQueriesConfigMap": [{"name": "queries", "key": "q.yaml"}]},
    "hibernated": True,
}


def wanted(live: Object | None = None, **spec: Any) -> dict[str, Any]:
    """The Cluster of a small PostgresCluster."""
    return cnpg_cluster.desired(effective({"postgresVersion": "17"}, **spec), OWNER, SECRET, live)


def full(**spec: Any) -> dict[str, Any]:
    """The Cluster of a PostgresCluster that sets everything."""
    return cnpg_cluster.desired(effective(FULL_CLASS, FULL_CNPG, **{**FULL, **spec}), OWNER, SECRET)


def spec_of(patch: Mapping[str, Any] | None) -> Any:
    return (patch or {}).get("spec")


def difference(wish: Mapping[str, Any], live: Object) -> Any:
    return spec_of(changes(cnpg_cluster.FIELDS, wish, live))


def test_a_small_cluster_sets_what_it_must_and_nothing_else() -> None:
    made = wanted()
    assert made["metadata"]["ownerReferences"][0]["uid"] == "u-1"
    assert made["spec"] == {
        "imageName": "ghcr.io/cloudnative-pg/postgresql:17",
        "instances": 1,
        "primaryUpdateMethod": "restart",
        "storage": {"size": "50Gi"},
        "superuserSecret": {"name": SECRET},
        "enableSuperuserAccess": True,
        "bootstrap": {"initdb": {"database": "postgres", "owner": "postgres", "secret": {"name": SECRET}}},
    }


def test_a_cluster_that_sets_everything_has_everything() -> None:
    spec = full()["spec"]
    assert spec["storage"] == {"size": "50Gi", "storageClass": "fast"}
    assert spec["walStorage"] == {"size": "10Gi", "storageClass": "faster"}
    assert spec["postgresql"] == {
        "pg_hba": ["hostssl all all 10.0.0.0/8 scram-sha-256"],
        "synchronous": {"method": "any", "number": 1, "dataDurability": "required"},
    }
    assert spec["affinity"] == {
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "db", "operator": "Exists"}],
    }
    assert spec["plugins"] == [
        {
            "name": "barman-cloud.cloudnative-pg.io",
            "enabled": True,
            "isWALArchiver": True,
            "parameters": {"barmanObjectName": "orders-object-store"},
        }
    ]
    assert spec["backup"]["volumeSnapshot"]["className"] == "csi"
    assert spec["inheritedMetadata"]["annotations"]["prometheus.io/port"] == "9187"
    names = spec["certificates"]["serverAltDNSNames"]
    assert names == sorted(names)
    assert {"orders-pooler-rw", "orders-pooler-ro.dbs.svc.cluster.local"} <= set(names)
    assert full()["metadata"]["annotations"] == {"cnpg.io/hibernation": "on"}


def test_parameters_are_left_to_their_own_field_manager() -> None:
    assert "parameters" not in full()["spec"]["postgresql"]
    assert difference(full(), stored(full(), postgresql={"parameters": {"work_mem": "1MB"}})) is None


@pytest.mark.parametrize("made", [wanted(), full()], ids=["small", "full"])
def test_defaults_of_others_are_no_difference(made: dict[str, Any]) -> None:
    assert changes(cnpg_cluster.FIELDS, made, stored(made)) is None


CHANGED: Mapping[str, tuple[dict[str, Any], Any]] = {
    "one more instance": ({"instances": 4}, {"instances": 4}),
    "more storage": ({"storage": "60Gi"}, {"storage": {"size": "60Gi"}}),
    "another image": ({"postgresVersion": "17.6"}, {"imageName": "ghcr.io/cloudnative-pg/postgresql:17.6"}),
    "one rule less": ({"pgHBA": []}, {"postgresql": {"pg_hba": None}}),
    "nobody to wait for": ({"synchronousReplication": {"number": 2}}, {"postgresql": {"synchronous": {"number": 2}}}),
    "no request for a processor": (
        {"resources": {"requests": {"memory": "1Gi"}, "limits": {"cpu": 2}}},
        {"resources": {"requests": {"cpu": None}}},
    ),
    "resources in another spelling": (
        {"resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": "2000m"}}}, None
    ),
    "no metrics": (
        {"monitoring": {**FULL["monitoring"], "postgresqlMetrics": False}},
        {
            "inheritedMetadata": {
                "annotations": {"prometheus.io/path": None, "prometheus.io/port": None, "prometheus.io/scrape": None}
            }
        },
    ),
    "no backups": ({"backup": {"enabled": False}}, {"backup": None, "plugins": []}),
    "no poolers, whose names the certificate keeps": ({"connectionPooler": {"enabled": False}}, None),
    "no queries of its own": (
        {"monitoring": {}},
        {"monitoring": {"customQueriesConfigMap": [{"name": "cnpg-default-monitoring", "key": "queries"}]}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGED)
def test_a_patch_holds_what_differs_and_no_more(case: str) -> None:
    spec, patch = CHANGED[case]
    live = stored(full())
    assert difference(full(**spec), live) == patch
    after = patched(live, changes(cnpg_cluster.FIELDS, full(**spec), live) or {})
    assert changes(cnpg_cluster.FIELDS, full(**spec), after) is None


def test_one_patch_leads_from_any_of_these_to_any_other() -> None:
    # But for volumes, which don't shrink.
    specs = [spec for spec, _ in CHANGED.values() if "storage" not in spec]
    for before in specs:
        live = stored(full(**before))
        for after in specs:
            patch = changes(cnpg_cluster.FIELDS, full(**after), live)
            assert changes(cnpg_cluster.FIELDS, full(**after), patched(live, patch or {})) is None


EDITED: Mapping[str, tuple[dict[str, Any], Any]] = {
    "instances": ({"instances": 1}, {"instances": 3}),
    "superuser access": ({"enableSuperuserAccess": False}, {"enableSuperuserAccess": True}),
    "update method": ({"primaryUpdateMethod": "restart"}, {"primaryUpdateMethod": "switchover"}),
    "rules": ({"postgresql": {"pg_hba": ["host all all all trust"]}}, {"postgresql": {"pg_hba": FULL["pgHBA"]}}),
    "node selector": (
        {"affinity": {"nodeSelector": {"disk": "hdd", "x": "y"}}},
        {"affinity": {"nodeSelector": {"disk": "ssd", "x": None}}},
    ),
    "a plugin switched off": (
        {"plugins": [{"name": "barman-cloud.cloudnative-pg.io", "enabled": False}]},
        {"plugins": full()["spec"]["plugins"]},
    ),
}


@pytest.mark.parametrize("case", EDITED)
def test_edits_by_others_are_taken_back(case: str) -> None:
    edit, patch = EDITED[case]
    assert difference(full(), stored(full(), **edit)) == patch


FOREIGN: Mapping[str, dict[str, Any]] = {
    "another plugin": {"plugins": [{"name": "theirs"}, *full()["spec"]["plugins"]]},
    "another cluster that is known": {"externalClusters": [{"name": "theirs", "connectionParameters": {"host": "h"}}]},
    "libraries": {"postgresql": {"shared_preload_libraries": ["theirs"], "pg_ident": ["a b c"]}},
    "names before those to wait for": {"postgresql": {"synchronous": {"standbyNamesPre": ["theirs"]}}},
    "annotations of what is made": {"inheritedMetadata": {"annotations": {"theirs": "1"}, "labels": {"a": "b"}}},
    "services": {"managed": {"services": {"disabledDefaultServices": ["r"]}}},
    "roles, which the arbiter sees to": {"managed": {"roles": [{"name": "app_rw"}]}},
    "names in the certificate": {
        "certificates": {"serverAltDNSNames": [*full()["spec"]["certificates"]["serverAltDNSNames"], "x"]}
    },
    "a source, which counts once": {"bootstrap": {"initdb": None, "recovery": {"source": "origin"}}},
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN)
def test_what_others_set_is_neither_compared_nor_lost(case: str) -> None:
    live = stored(full(), **FOREIGN[case])
    assert difference(full(), live) is None
    after = patched(live, changes(cnpg_cluster.FIELDS, full(instances=5, pgHBA=[]), live) or {})
    assert after.spec == merged(live.spec, {"instances": 5, "postgresql": {"pg_hba": None}})


def test_a_plugin_of_ours_is_added_to_those_of_others_and_taken_from_among_them() -> None:
    live = stored(wanted(), plugins=[{"name": "theirs"}])
    with_backups = full()
    added = difference(with_backups, live)["plugins"]
    assert [each["name"] for each in added] == ["theirs", "barman-cloud.cloudnative-pg.io"]
    live = stored(with_backups, plugins=added)
    assert difference(full(backup={"enabled": False}), live)["plugins"] == [{"name": "theirs"}]


def test_a_patch_fails_where_the_cluster_has_changed_meanwhile() -> None:
    patch = changes(cnpg_cluster.FIELDS, wanted(instances=2), stored(wanted()))
    assert patch == {"spec": {"instances": 2}, "metadata": {"resourceVersion": "7"}}


def test_hibernation_is_switched_by_an_annotation() -> None:
    asleep = changes(cnpg_cluster.FIELDS, wanted(hibernated=True), stored(wanted()))
    assert asleep is not None
    assert asleep["metadata"]["annotations"] == {"cnpg.io/hibernation": "on"}
    awake = changes(cnpg_cluster.FIELDS, wanted(), stored(wanted(hibernated=True)))
    assert awake is not None
    assert awake["metadata"]["annotations"] == {"cnpg.io/hibernation": None}


def test_a_volume_that_is_larger_than_declared_is_left_alone_and_told() -> None:
    live = stored(wanted(), storage={"size": "80Gi"}, walStorage={"size": "5Gi", "storageClass": "fast"})
    assert difference(wanted(), live) is None
    told = cnpg_cluster.larger_than_wanted(wanted(), live)
    assert [each.split(": ")[0] for each in told] == ["spec.storage", "spec.walStorage"]
    assert cnpg_cluster.larger_than_wanted(wanted(), stored(wanted())) == ()


def test_what_is_empty_and_goes_when_an_operator_writes_it_is_no_difference() -> None:
    tolerations = [{"key": "db", "operator": "Equal", "value": ""}]
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": []}]
    cnpg = {"affinity": {"tolerations": tolerations}, "topologySpreadConstraints": spread}
    made = cnpg_cluster.desired(effective({}, cnpg), OWNER, SECRET)
    kept = {"affinity": {"tolerations": [{"key": "db", "operator": "Equal"}]}}
    assert (
        difference(made, stored(made, **kept, topologySpreadConstraints=[{**spread[0], "matchLabelKeys": None}]))
        is None
    )


def test_a_volume_for_the_log_can_be_added() -> None:
    assert difference(wanted(walStorage="5Gi"), stored(wanted())) == {"walStorage": {"size": "5Gi"}}


def test_a_digest_that_is_declared_counts() -> None:
    pinned: dict[str, Any] = {"postgresImage": "r/postgres:17.6@sha256:" + "a" * 64}
    assert difference(wanted(**pinned), stored(wanted(**pinned))) is None
    other: dict[str, Any] = {"postgresImage": "r/postgres:17.6@sha256:" + "b" * 64}
    assert difference(wanted(**other), stored(wanted(**pinned))) == {"imageName": other["postgresImage"]}


def test_a_digest_that_somebody_has_added_to_a_tag_does_not_count() -> None:
    image = "ghcr.io/cloudnative-pg/postgresql:17"
    assert difference(wanted(), stored(wanted(), imageName=f"{image}@sha256:{'a' * 64}")) is None
    assert difference(wanted(), stored(wanted(), imageName=f"{image}.6")) == {"imageName": image}


def test_a_held_major_version_holds_nothing_else() -> None:
    live = stored(wanted())
    live = Object({**live.raw, "status": {"pgDataImageInfo": {"majorVersion": 17}}})
    spec: dict[str, Any] = {"postgresVersion": "18", "instances": 3}
    change = cnpg_cluster.upgrade(effective({"postgresVersion": "17"}, **spec), live)
    assert change is not None
    assert change.hold is Hold.NOT_ALLOWED
    assert difference(wanted(live, **spec), live) == {"instances": 3}
    allowed = {**spec, "postgresMajorUpgradeConfig": {"allow": True}}
    patch = {"instances": 3, "imageName": "ghcr.io/cloudnative-pg/postgresql:18"}
    assert difference(wanted(live, **allowed), live) == patch


SOURCES: Mapping[str, tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]] | None]] = {
    "a snapshot": (
        {"volumeSnapshot": {"storage": "data"}},
        {
            "volumeSnapshots": {
                "storage": {"name": "data", "kind": "VolumeSnapshot", "apiGroup": "snapshot.storage.k8s.io"}
            }
        },
        None,
    ),
    "an archive up to a time": (
        {"objectStorage": {"serverName": "old"}, "recoveryTarget": {"type": "time", "value": "2026-09-30T02:15:00Z"}},
        {"source": "origin", "recoveryTarget": {"targetTime": "2026-09-30 02:15:00+00:00"}},
        [
            {
                "name": "origin",
                "plugin": {
                    "name": "barman-cloud.cloudnative-pg.io",
                    "parameters": {"barmanObjectName": "orders-object-store", "serverName": "old"},
                },
            }
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SOURCES)
def test_a_restored_cluster_gets_no_database_role_or_secret_named_app(case: str) -> None:
    source, recovery, clusters = SOURCES[case]
    spec = wanted(bootstrapFrom=source)["spec"]
    application = {"database": "postgres", "owner": "postgres", "secret": {"name": SECRET}}
    assert spec["bootstrap"] == {"recovery": {**application, **recovery}}
    assert spec.get("externalClusters") == clusters


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ({"type": "lsn", "value": "0/3000060", "exclusive": True}, {"targetLSN": "0/3000060", "exclusive": True}),
        ({"type": "xid", "value": "7"}, {"targetXID": "7"}),
        ({"type": "name", "value": "before"}, {"targetName": "before"}),
        ({"type": "immediate"}, {"targetImmediate": True}),
    ],
)
def test_recovery_stops_where_it_is_to(target: dict[str, Any], written: dict[str, Any]) -> None:
    snapshot = {"storage": "data", "walArchive": {"serverName": "old"}}
    spec = wanted(bootstrapFrom={"volumeSnapshot": snapshot, "recoveryTarget": target})["spec"]
    assert spec["bootstrap"]["recovery"]["recoveryTarget"] == written


def test_a_cluster_that_runs_is_copied_by_its_replication_certificate() -> None:
    spec = wanted(bootstrapFrom={"cluster": {"name": "old"}})["spec"]
    assert spec["bootstrap"]["pg_basebackup"] == {
        "source": "origin", "database": "postgres", "owner": "postgres", "secret": {"name": SECRET}
    }  # fmt: skip
    (origin,) = spec["externalClusters"]
    assert origin["connectionParameters"] == {
        "host": "old-rw.dbs.svc.cluster.local",
        "user": "streaming_replica",
        "dbname": "postgres",
        "sslmode": "verify-full",
    }
    assert origin["sslCert"] == {"name": "old-replication", "key": "tls.crt"}


def roles(*items: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"managed": {"roles": list(items)}}}


def test_defaults_that_the_schema_adds_to_roles_are_no_difference() -> None:
    ours = {"name": "app_rw", "ensure": "present", "login": True, "passwordSecret": {"name": "app-rw"}}
    live = stored(wanted(), managed={"roles": [{**ours, "connectionLimit": -1, "inherit": True}]})
    assert changes(cnpg_cluster.ROLES, roles(ours), live) is None
    patch = changes(cnpg_cluster.ROLES, roles({**ours, "ensure": "absent"}), live)
    assert patch == {
        "spec": {"managed": {"roles": [{**ours, "ensure": "absent"}]}},
        "metadata": {"resourceVersion": "7"},
    }


def test_the_order_of_roles_does_not_count() -> None:
    live = stored(wanted(), managed={"roles": [{"name": "b"}, {"name": "a"}]})
    assert changes(cnpg_cluster.ROLES, roles({"name": "a"}, {"name": "b"}), live) is None
