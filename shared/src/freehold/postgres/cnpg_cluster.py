"""The CloudNativePG Cluster of a PostgresCluster: as it is to be, and what is compared of it.

Parameters of PostgreSQL are applied apart (`parameters`), roles are the arbiter's. What the cluster is made from counts
once, and is neither compared nor written later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from freehold.kinds.model import Model
from freehold.kube.objects import Object
from freehold.postgres import bootstrap, images, versions
from freehold.postgres.backup_storage import VolumeSnapshots
from freehold.postgres.bootstrap import ARCHIVE_PLUGIN
from freehold.postgres.effective import Effective
from freehold.postgres.names import ClusterNames
from freehold.postgres.normal_form import (
    Absent,
    Among,
    Beside,
    Grown,
    Image,
    Item,
    Items,
    Keys,
    Leaf,
    Map,
    Struct,
    by_value,
    filled,
)
from freehold.postgres.objects import CNPG_CLUSTERS, Owner, made, present
from freehold.postgres.quantities import parse
from freehold.postgres.versions import Upgrade

HIBERNATION = "cnpg.io/hibernation"
SERVER_METRICS, POOLER_METRICS = 9187, 9127
"""Ports."""

SCRAPE = frozenset({"prometheus.io/scrape", "prometheus.io/path", "prometheus.io/port"})
"""Annotations of pods that Prometheus scrapes."""

_DEFAULT_QUERIES = "cnpg-default-monitoring"
_VOLUME = Struct({"size": Grown(), "storageClass": Leaf()}, absent=Absent.KEPT)

FIELDS = Struct(
    {
        "metadata": Struct({"labels": Keys(), "annotations": Keys(frozenset({HIBERNATION}))}),
        "spec": Struct(
            {
                "imageName": Image(),
                "imagePullSecrets": Leaf(filled),
                "instances": Leaf(),
                "primaryUpdateMethod": Leaf(default="restart"),
                "storage": _VOLUME,
                "walStorage": _VOLUME,
                "resources": Struct({"requests": Map(by_value), "limits": Map(by_value), "claims": Leaf(filled)}),
                "superuserSecret": Struct({"name": Leaf()}),
                "enableSuperuserAccess": Leaf(default=False),
                "postgresql": Struct(
                    {
                        "pg_hba": Leaf(),
                        "synchronous": Struct(
                            {"method": Leaf(), "number": Leaf(), "dataDurability": Leaf(default="required")},
                            absent=Absent.GONE,
                        ),
                    }
                ),
                "affinity": Struct(
                    {
                        "enablePodAntiAffinity": Leaf(default=True),
                        "topologyKey": Leaf(),
                        "podAntiAffinityType": Leaf(default="preferred"),
                        "nodeSelector": Map(),
                        "nodeAffinity": Leaf(filled),
                        "tolerations": Leaf(filled),
                    }
                ),
                "topologySpreadConstraints": Leaf(filled),
                "inheritedMetadata": Struct({"annotations": Keys(SCRAPE)}),
                "backup": Struct(
                    {
                        "target": Leaf(default="prefer-standby"),
                        "volumeSnapshot": Struct(
                            {
                                "className": Leaf(),
                                "walClassName": Leaf(),
                                "snapshotOwnerReference": Leaf(default="none"),
                                "online": Leaf(default=True),
                                "labels": Map(),
                                "annotations": Map(),
                            },
                            absent=Absent.GONE,
                        ),
                    },
                    absent=Absent.GONE,
                ),
                "plugins": Item(
                    ARCHIVE_PLUGIN,
                    Struct({"enabled": Leaf(default=True), "isWALArchiver": Leaf(default=False), "parameters": Map()}),
                ),
                "certificates": Struct({"serverAltDNSNames": Among()}),
                "monitoring": Struct({"customQueriesConfigMap": Beside(frozenset({_DEFAULT_QUERIES}))}),
            }
        ),
    }
)
"""What is compared, and may be written, of a Cluster that is there."""

ROLES = Struct(
    {
        "spec": Struct(
            {
                "managed": Struct(
                    {
                        "roles": Items(
                            Struct(
                                {
                                    "ensure": Leaf(default="present"),
                                    "login": Leaf(default=False),
                                    "passwordSecret": Struct({"name": Leaf()}),
                                    "disablePassword": Leaf(default=False),
                                    "connectionLimit": Leaf(default=-1),
                                    "inherit": Leaf(default=True),
                                    "inRoles": Leaf(),
                                    "superuser": Leaf(default=False),
                                    "createdb": Leaf(default=False),
                                    "createrole": Leaf(default=False),
                                    "replication": Leaf(default=False),
                                    "bypassrls": Leaf(default=False),
                                    "validUntil": Leaf(),
                                    "comment": Leaf(),
                                }
                            )
                        )
                    }
                )
            }
        )
    }
)
"""What is compared of its roles. The list is written as a whole, by the arbiter alone."""


def desired(effective: Effective, owner: Owner, superuser_secret: str, live: Object | None = None) -> dict[str, Any]:
    """The Cluster as it is to be.

    Args:
        effective: what the PostgresCluster comes to.
        owner: the PostgresCluster.
        superuser_secret: name of the Secret with the superuser's password.
        live: the Cluster as it is; None before there is one. One whose major version is held keeps its image.
    """
    names = ClusterNames(owner.namespace, owner.name)
    settings, cnpg = effective.settings, effective.cnpg
    hibernated = {HIBERNATION: "on"} if effective.spec.hibernated else None
    spec = present(
        imageName=_image(effective, live),
        imagePullSecrets=[_plain(each) for each in settings.image_pull_secrets or ()] or None,
        instances=effective.instances,
        primaryUpdateMethod=cnpg.primary_update_method,
        storage=present(size=settings.storage, storageClass=cnpg.storage_class),
        walStorage=settings.wal_storage and present(size=settings.wal_storage, storageClass=cnpg.wal_storage_class),
        resources=settings.resources and _plain(settings.resources),
        superuserSecret={"name": superuser_secret},
        enableSuperuserAccess=True,
        postgresql=present(
            pg_hba=settings.pg_hba or None,
            synchronous=effective.synchronous and _plain(effective.synchronous),
        )
        or None,
        affinity=cnpg.affinity and _plain(cnpg.affinity),
        topologySpreadConstraints=[_plain(each) for each in cnpg.topology_spread_constraints or ()] or None,
        inheritedMetadata=scraped(SERVER_METRICS) if effective.postgresql_metrics else None,
        backup=effective.snapshots and _backup(effective, effective.snapshots),
        plugins=[_archiver(names)] if effective.archive else None,
        certificates={"serverAltDNSNames": sorted(_pooler_hosts(effective, names))} if effective.poolers else None,
        monitoring=_queries(effective),
        **bootstrap.sources(effective, names, superuser_secret),
    )
    return made(CNPG_CLUSTERS, owner.name, owner, annotations=hibernated, spec=spec)


def upgrade(effective: Effective, live: Object) -> Upgrade | None:
    """What becomes of another major version than the Cluster has; None where it has that one."""
    found = (live.status.get("pgDataImageInfo") or {}).get("majorVersion")
    major = int(found) if found else images.major(str(live.spec.get("imageName", "")))
    config = effective.spec.postgres_major_upgrade_config
    return versions.upgrade(major, versions.major(effective.version), allowed=bool(config and config.allow))


def larger_than_wanted(wanted: Mapping[str, Any], live: Object) -> tuple[str, ...]:
    """What can't be as declared since volumes only grow, for people.

    Args:
        wanted: the Cluster as it is to be.
        live: the Cluster as it is.
    """
    return tuple(_larger(wanted["spec"], live.spec))


def _larger(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    for field in ("storage", "walStorage"):
        size = (wanted.get(field) or {}).get("size")
        found = (live.get(field) or {}).get("size")
        if found and (size is None or parse(str(size)) < parse(str(found))):
            wish = f"made {size}" if size else "taken away"
            yield f"spec.{field}: the volume has {found}, and can't be {wish}: volumes only grow; set {found}"


def scraped(port: int) -> dict[str, Any]:
    """Metadata of pods that Prometheus scrapes."""
    values = {"scrape": "true", "path": "/metrics", "port": str(port)}
    return {"annotations": {f"prometheus.io/{name}": value for name, value in values.items()}}


def _image(effective: Effective, live: Object | None) -> str:
    change = upgrade(effective, live) if live else None
    return str(live.spec["imageName"]) if live and change and change.hold else effective.image


def _backup(effective: Effective, snapshots: VolumeSnapshots) -> dict[str, Any]:
    target = effective.cnpg.backup.target if effective.cnpg.backup else None
    return present(target=target, volumeSnapshot=_plain(snapshots))


def _archiver(names: ClusterNames) -> dict[str, Any]:
    parameters = {"barmanObjectName": names.object_store}
    return {"name": ARCHIVE_PLUGIN, "enabled": True, "isWALArchiver": True, "parameters": parameters}


def _pooler_hosts(effective: Effective, names: ClusterNames) -> Iterator[str]:
    """Names that clients reach poolers by, which the server's certificate has to hold, since poolers show it."""
    for access in effective.poolers:
        pooler = names.pooler(access)
        yield from (pooler, f"{pooler}.{names.namespace}", f"{pooler}.{names.namespace}.svc", names.host(pooler))


def _queries(effective: Effective) -> dict[str, Any] | None:
    monitoring = effective.spec.monitoring
    queries = monitoring.custom_queries_config_map if monitoring else None
    return {"customQueriesConfigMap": [_plain(each) for each in queries]} if queries else None


def _plain(model: Model) -> dict[str, Any]:
    return model.model_dump(by_alias=True, exclude_none=True)
