"""What the API server itself refuses of the PostgreSQL kinds, and in which words."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import orjson
import pytest

from freehold.postgres.common import POSTGRES_GROUP
from freehold_devstack.controlplane import ControlPlane

CLASS = "PostgresClusterClass"
CLUSTER = "PostgresCluster"
DATABASE = "PostgresDatabase"

STORE = {
    "destinationPath": "s3://backups/orders",
    "s3Credentials": {"accessKeyId": {"name": "s3", "key": "id"}, "secretAccessKey": {"name": "s3", "key": "key"}},
}
SPECS: Mapping[str, dict[str, Any]] = {
    CLASS: {
        "provisioner": "postgresql.cnpg.io",
        "config": {
            "instances": 3,
            "postgresVersion": "17",
            "postgresImage": "registry:5000/postgres:17.6-bookworm@sha256:" + "a" * 64,
            "resources": {"requests": {"cpu": 2, "memory": "1Gi"}},
            "connectionPooler": {"enabled": True},
            "backup": {"enabled": True, "schedule": "0 2 * * *"},
            "monitoring": {"connectionPoolerMetrics": {"enabled": True}},
        },
        "cnpg": {
            "primaryUpdateMethod": "switchover",
            "connectionPooler": {},
            "backup": {"barmanObjectStore": STORE, "volumeSnapshot": {}},
            "affinity": {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"disk": "fast"}},
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ],
        },
    },
    CLUSTER: {
        "class": "standard",
        "storage": "100Gi",
        "walStorage": "20Gi",
        "postgresVersion": "17.6",
        "postgresqlConfig": {},
        "pgHBA": [],
        "bootstrapFrom": {
            "volumeSnapshot": {"storage": "data", "walArchive": {"serverName": "old"}},
            "recoveryTarget": {"type": "time", "value": "2026-09-30T02:15:00+02:00"},
        },
        "passwordConfig": {"superuserExternalSecretRef": {"name": "superuser"}},
    },
    DATABASE: {
        "clusterRef": {"name": "orders", "namespace": "databases"},
        "databases": [
            {"name": "kvstore", "extensions": ["pgcrypto"], "schemas": ["audit"], "readOnlyRole": True},
            {
                "name": "analytics",
                "localeProvider": "icu",
                "icuLocale": "de",
                "passwordConfig": {"externalAdminSecretRef": {"name": "a"}, "externalRWSecretRef": {"name": "b"}},
            },
        ],
    },
}

WORKER = secrets.token_hex(4)

GONE = object()
"""Stands for a field that is left out."""

RESTORE = ("bootstrapFrom",)
FIRST = ("databases", 0)
SECOND = ("databases", 1)

REFUSED: Mapping[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "another provisioner": (CLASS, ("provisioner",), "stackgres", "Unsupported value"),
    "CloudNativePG without its block": (CLASS, ("cnpg",), GONE, "needs cnpg"),
    "poolers that aren't set up": (CLASS, ("cnpg", "connectionPooler"), GONE, "needs cnpg.connectionPooler"),
    "backups that go nowhere": (CLASS, ("cnpg", "backup"), {}, "needs cnpg.backup.volumeSnapshot or"),
    "backups at no time": (CLASS, ("config", "backup", "schedule"), GONE, "backup.schedule is needed"),
    "a schedule with seconds": (CLASS, ("config", "backup", "schedule"), "0 0 2 * * *", "should match"),
    "metrics of no pooler": (CLASS, ("config", "connectionPooler"), GONE, "nothing to scrape"),
    "pooler mode statement": (CLASS, ("cnpg", "connectionPooler", "mode"), "statement", "Unsupported value"),
    "a retention in weeks": (CLASS, ("cnpg", "backup", "barmanObjectStore", "retentionPolicy"), "4w", "should match"),
    "certificates of others": (CLASS, ("tls",), {"certificates": {"mode": "certManager"}}, "NotSupported"),
    "no size": (CLASS, ("config", "storage"), "0", "storage must be more than 0"),
    "a size that is none": (CLASS, ("config", "storage"), "50 Gi", "should match"),
    "eleven instances": (CLASS, ("config", "instances"), 11, "less than or equal to 10"),
    "a version with a patch": (CLUSTER, ("postgresVersion",), "17.6.1", "should match"),
    "an image without tag": (CLUSTER, ("postgresImage",), "postgres", "must be an image with a tag"),
    "a URL as image": (CLUSTER, ("postgresImage",), "https://r/postgres:17", "must be an image with a tag"),
    "a blank in an image": (CLUSTER, ("postgresImage",), "post gres:17", "must be an image with a tag"),
    "a digest alone": (CLUSTER, ("postgresImage",), "postgres@sha256:" + "a" * 64, "must be an image with a tag"),
    "a bad digest": (CLUSTER, ("postgresImage",), "postgres:17@sha256:abc", "must be an image with a tag"),
    "tag latest": (CLUSTER, ("postgresImage",), "postgres:latest", "can't have the tag latest"),
    "an image of another major": (CLUSTER, ("postgresImage",), "r:17/postgres:16.2", "another major version"),
    "two sources": (CLUSTER, (*RESTORE, "cluster"), {"name": "live"}, "set exactly one of"),
    "no source": (CLUSTER, (*RESTORE, "volumeSnapshot"), GONE, "set exactly one of"),
    "a copy as of then": (
        CLUSTER, RESTORE, {"cluster": {"name": "live"}, "recoveryTarget": {"type": "immediate"}}, "copied as it is"
    ),
    "a snapshot taken further without a log": (
        CLUSTER, (*RESTORE, "volumeSnapshot", "walArchive"), GONE, "needs volumeSnapshot.walArchive"
    ),
    "a transaction in object storage": (
        CLUSTER,
        RESTORE,
        {"objectStorage": {"serverName": "old"}, "recoveryTarget": {"type": "xid", "value": "7"}},
        "type time or lsn with objectStorage",
    ),
    "a target without value": (CLUSTER, (*RESTORE, "recoveryTarget", "value"), GONE, "needs a value"),
    "a value for immediate": (CLUSTER, (*RESTORE, "recoveryTarget", "type"), "immediate", "takes none"),
    "a time without zone": (
        CLUSTER, (*RESTORE, "recoveryTarget", "value"), "2026-09-30T02:15:00", "must be a time as in"
    ),
    "a bad position in the log": (
        CLUSTER, (*RESTORE, "recoveryTarget"), {"type": "lsn", "value": "0x30"}, "must be a position in the log"
    ),
    "an empty class": (CLUSTER, ("class",), "", "at least 1"),
    "upgrades by two clusters": (CLUSTER, ("blueGreen",), {"enabled": True}, "NotSupported"),
    "no database": (DATABASE, ("databases",), [], "at least 1 items"),
    "eleven databases": (DATABASE, ("databases",), [{"name": f"d{n}"} for n in range(11)], "at most 10 items"),
    "one database twice": (DATABASE, ("databases",), [{"name": "a"}, {"name": "a"}], "Duplicate value"),
    "an underscore in a database": (DATABASE, (*FIRST, "name"), "kv_store", "should match"),
    "a long database": (DATABASE, (*FIRST, "name"), "k" * 31, "Too long"),
    "a role with a blank": (DATABASE, (*FIRST, "rwRoleName"), "my app", "should match"),
    "ICU's locale elsewhere": (DATABASE, (*SECOND, "localeProvider"), "libc", "icuLocale needs localeProvider icu"),
    "a built-in locale elsewhere": (DATABASE, (*SECOND, "builtinLocale"), "C", "needs localeProvider builtin"),
    "extensions of a closed database": (DATABASE, (*FIRST, "allowConnections"), False, "take these out"),
    "fewer connections than none": (DATABASE, (*FIRST, "connectionLimit"), -2, "greater than or equal to -1"),
    "one Secret for two roles": (
        DATABASE, (*SECOND, "passwordConfig", "externalRWSecretRef", "name"), "a", "a Secret of its own"
    ),
    "a reader's name without a reader": (DATABASE, (*SECOND, "roRoleName"), "reader", "needs readOnlyRole"),
    "metrics of one database": (
        DATABASE,
        (*FIRST, "monitoring"),
        {"customQueriesConfigMap": [{"name": "a", "key": "b"}]},
        "NotSupported",
    ),
}  # fmt: skip

CHANGED: Mapping[str, tuple[str, tuple[Any, ...], Any, str]] = {
    "what clusters may override": (CLASS, ("config", "instances"), 2, "config can't be changed"),
    "how clusters are run": (CLASS, ("cnpg", "primaryUpdateMethod"), "restart", ""),
    "a setting of poolers": (CLASS, ("cnpg", "connectionPooler", "config"), {"max_client_conn": "500"}, ""),
    "another class": (CLUSTER, ("class",), "other", "class can't be changed"),
    "more storage": (CLUSTER, ("storage",), "0.2Ti", ""),
    "less storage": (CLUSTER, ("storage",), "99Gi", "storage can't shrink"),
    "storage taken out": (CLUSTER, ("storage",), GONE, "storage can't shrink"),
    "a smaller volume for the log": (CLUSTER, ("walStorage",), "19Gi", "walStorage can't shrink"),
    "no volume for the log": (CLUSTER, ("walStorage",), GONE, "walStorage can't shrink"),
    "a newer major version": (CLUSTER, ("postgresVersion",), "18", ""),
    "an older minor version": (CLUSTER, ("postgresVersion",), "17.1", ""),
    "an older major version": (CLUSTER, ("postgresVersion",), "16", "can't go back"),
    "no version": (CLUSTER, ("postgresVersion",), GONE, "can't be taken out again"),
    "another source": (
        CLUSTER, (*RESTORE, "volumeSnapshot", "storage"), "other", "bootstrapFrom can't be changed"
    ),
    "no source": (CLUSTER, RESTORE, GONE, "bootstrapFrom can't be added or removed"),
    "no password": (CLUSTER, ("passwordConfig",), GONE, "passwordConfig can't be added or removed"),
    "what becomes of it in the end": (CLUSTER, ("clusterDeletionPolicy",), "Delete", ""),
    "another cluster": (DATABASE, ("clusterRef", "name"), "other", "clusterRef can't be changed"),
    "an encoding later": (DATABASE, (*FIRST, "encoding"), "UTF8", "encoding can't be added or removed"),
    "another locale": (DATABASE, (*SECOND, "icuLocale"), "en", "icuLocale can't be changed"),
    "one more extension": (DATABASE, (*FIRST, "extensions"), ["pgcrypto", "pg_trgm"], ""),
    "one database less": (DATABASE, ("databases",), [SPECS[DATABASE]["databases"][1]], ""),
}  # fmt: skip

NAMES = {"orders": True, "o" * 50: True, "o" * 51: False, "1db": False, "a.b": False, "a-": False}


def _spec(kind: str, path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The good spec of a kind with one field set otherwise."""
    spec = deepcopy(SPECS[kind])
    node: Any = spec
    for step in path[:-1]:
        node = node[step]
    if value is GONE:
        del node[path[-1]]
    elif path:
        node[path[-1]] = value
    return spec


def _manifest(kind: str, name: str, spec: Mapping[str, Any]) -> str:
    api = f"{POSTGRES_GROUP}/v1alpha1"
    return orjson.dumps({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}).decode()


def _name(at: int) -> str:
    """What a case is called; classes lie in no namespace, and other workers make the same ones."""
    return f"case-{WORKER}-{at}"


def _said(cluster: ControlPlane, verb: str, namespace: str, manifests: Iterable[str]) -> str:
    """What kubectl says against manifests, in a dry run; nothing where all are taken."""
    arguments = (verb, "--dry-run=server", "-n", namespace, "-f", "-")
    return cluster.kubectl(*arguments, input="\n---\n".join(manifests), check=False).stderr


def _said_of(said: str, name: str) -> str:
    """The part of what kubectl says that is about one resource."""
    return "".join(each for each in re.split(r"\n(?=The |Error )", said) if f'"{name}"' in each)


@pytest.fixture(scope="module")
def refusals(postgres_kinds: ControlPlane) -> str:
    """What is said against everything that can't be."""
    bad = [(kind, _name(at), _spec(kind, path, value)) for at, (kind, path, value, _) in enumerate(REFUSED.values())]
    return _said(postgres_kinds, "create", "default", [_manifest(*each) for each in bad])


@pytest.fixture(scope="module")
def changes(postgres_kinds: ControlPlane) -> Iterator[str]:
    """What is said against changes of what is there."""
    where = f"changes-{secrets.token_hex(4)}"
    named = [(kind, _name(at), _spec(kind, path, value)) for at, (kind, path, value, _) in enumerate(CHANGED.values())]
    good = [_manifest(kind, name, SPECS[kind]) for kind, name, _ in named]
    postgres_kinds.kubectl("create", "namespace", where)
    postgres_kinds.kubectl("create", "-n", where, "-f", "-", input="\n---\n".join(good))
    yield _said(postgres_kinds, "replace", where, [_manifest(*each) for each in named])
    postgres_kinds.kubectl("delete", "namespace", where, "--wait=false")
    classes = [name for kind, name, _ in named if kind == CLASS]
    postgres_kinds.kubectl("delete", "postgresclusterclass", *classes, "--wait=false")


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_is_refused_at_once(refusals: str, case: str) -> None:
    assert REFUSED[case][-1] in _said_of(refusals, _name(list(REFUSED).index(case)))


@pytest.mark.parametrize("case", CHANGED)
def test_a_change_is_taken_or_refused(changes: str, case: str) -> None:
    said, why = _said_of(changes, _name(list(CHANGED).index(case))), CHANGED[case][-1]
    assert why in said if why else said == ""


def test_a_source_can_not_be_added_to_a_cluster_that_runs(postgres_kinds: ControlPlane, namespace: str) -> None:
    manifest = _manifest(CLUSTER, "orders", _spec(CLUSTER, RESTORE, GONE))
    postgres_kinds.kubectl("create", "-n", namespace, "-f", "-", input=manifest)
    said = _said(postgres_kinds, "replace", namespace, [_manifest(CLUSTER, "orders", SPECS[CLUSTER])])
    assert "bootstrapFrom can't be added or removed" in said


@pytest.mark.parametrize("kind", [CLUSTER, DATABASE])
def test_names_are_those_that_what_is_made_can_be_named_after(postgres_kinds: ControlPlane, kind: str) -> None:
    said = _said(postgres_kinds, "create", "default", [_manifest(kind, name, SPECS[kind]) for name in NAMES])
    refused = {name for name in NAMES if "metadata.name must have at most 50 characters" in _said_of(said, name)}
    assert refused == {name for name, taken in NAMES.items() if not taken}
