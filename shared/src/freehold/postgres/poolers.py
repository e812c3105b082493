"""The Poolers of a cluster: PgBouncer in front of the primary, and of the standbys."""

from __future__ import annotations

from typing import Any

from freehold.postgres.clusterclass import PoolerSetup
from freehold.postgres.cnpg_cluster import POOLER_METRICS, SCRAPE, scraped
from freehold.postgres.effective import Effective
from freehold.postgres.names import Access, ClusterNames
from freehold.postgres.normal_form import METADATA, Items, Keys, Leaf, Map, Struct
from freehold.postgres.objects import POOLERS, Owner, made, present

CONTAINER = "pgbouncer"

FIELDS = Struct(
    {
        "metadata": METADATA,
        "spec": Struct(
            {
                "type": Leaf(default="rw"),
                "instances": Leaf(default=1),
                "pgbouncer": Struct({"poolMode": Leaf(default="session"), "parameters": Map()}),
                "template": Struct(
                    {
                        "metadata": Struct({"annotations": Keys(SCRAPE)}),
                        "spec": Struct({"containers": Items(Struct({}))}),
                    }
                ),
            }
        ),
    }
)
"""What is compared, and may be written, of a Pooler that is there. Its cluster can't be changed."""


def desired(effective: Effective, owner: Owner) -> tuple[dict[str, Any], ...]:
    """The Poolers as they are to be; others of ours are to go.

    Args:
        effective: what the PostgresCluster comes to.
        owner: the PostgresCluster.
    """
    return tuple(_pooler(access, effective, owner) for access in effective.poolers)


def _pooler(access: Access, effective: Effective, owner: Owner) -> dict[str, Any]:
    setup = effective.cnpg.connection_pooler or PoolerSetup()
    spec = {
        "cluster": {"name": owner.name},
        "type": access,
        "instances": setup.instances,
        "pgbouncer": present(poolMode=setup.mode, parameters=setup.config or None),
        # CloudNativePG fills in the container of this name; a template has to have one.
        "template": {
            **({"metadata": scraped(POOLER_METRICS)} if effective.pooler_metrics else {}),
            "spec": {"containers": [{"name": CONTAINER}]},
        },
    }
    return made(POOLERS, ClusterNames(owner.namespace, owner.name).pooler(access), owner, spec=spec)
