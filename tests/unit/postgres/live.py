"""Objects as CloudNativePG leaves them: with what its schema and its webhook add."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from freehold.kube.objects import Object
from freehold.postgres.common import CLUSTERS
from freehold.postgres.objects import Owner

OWNER = Owner(CLUSTERS, "dbs", "orders", "u-1")

DEFAULTS: Mapping[str, Any] = {
    "enablePDB": True,
    "failoverDelay": 0,
    "logLevel": "info",
    "maxSyncReplicas": 0,
    "minSyncReplicas": 0,
    "postgresUID": 26,
    "primaryUpdateStrategy": "unsupervised",
    "smartShutdownTimeout": 180,
    "affinity": {"podAntiAffinityType": "preferred"},
    "monitoring": {
        "customQueriesConfigMap": [{"name": "cnpg-default-monitoring", "key": "queries"}],
        "disableDefaultQueries": False,
        "enablePodMonitor": False,
    },
    "postgresql": {"parameters": {"wal_level": "logical", "max_worker_processes": "32"}},
    "probes": {"liveness": {"isolationCheck": {"enabled": True, "requestTimeout": 1000}}},
    "replicationSlots": {"highAvailability": {"enabled": True, "slotPrefix": "_cnpg_"}, "updateInterval": 30},
    "storage": {"resizeInUseVolumes": True},
}


def merged(target: Any, patch: Any) -> Any:
    """What a merge patch makes of a value (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def stored(wanted: Mapping[str, Any], **spec: Any) -> Object:
    """A Cluster that was created so, and has been changed since."""
    body = merged(wanted, {"metadata": {"resourceVersion": "7", "uid": "c-1", "generation": 1}})
    defaults = deepcopy(dict(DEFAULTS))
    if "backup" in body["spec"]:
        defaults["backup"] = {"volumeSnapshot": {"onlineConfiguration": {"waitForArchive": True}}}
    if "walStorage" in body["spec"]:
        defaults["walStorage"] = {"resizeInUseVolumes": True}
    created = merged(defaults, body["spec"])
    queries = [*defaults["monitoring"]["customQueriesConfigMap"]]
    queries += body["spec"].get("monitoring", {}).get("customQueriesConfigMap", [])
    created["monitoring"]["customQueriesConfigMap"] = queries
    return Object({**body, "spec": merged(created, spec)})


def patched(live: Object, patch: Mapping[str, Any]) -> Object:
    """An object after a patch."""
    return Object(merged(live.raw, patch))
