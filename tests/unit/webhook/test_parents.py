"""What the webhook keeps of the resources that others refer to."""

from __future__ import annotations

from typing import Any

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from freehold.resolve import Resolved, live, resolve
from freehold_webhook.parents import naming, needed
from tests.harness.memory import MemoryKube

TABLE = KINDS["Table"]


async def test_what_is_kept_computes_to_the_same_as_the_whole_object() -> None:
    kube = MemoryKube()
    bulk: dict[str, Any] = {"annotations": {"note": "x" * 1000}, "managedFields": [{"manager": "kubectl"}]}
    account = {"key": "R.A", "name": "O.A"}
    kube.put(
        PROVIDER_CONFIG.path,
        "default",
        "n",
        metadata=bulk,
        spec={"authenticationType": "KeyPair"},
        status={"account": account, "conditions": [{"type": "Ready"}]},
    )
    bulky = {"providerRef": {"name": "default"}, "comment": "x" * 1000, "dataRetentionTimeInDays": 1}
    for path, name, names in (
        (KINDS["Database"].resource.path, "d", {"name": "D"}),
        (KINDS["Schema"].resource.path, "s", {"name": "S", "databaseRef": {"name": "d"}}),
    ):
        kube.put(path, name, "n", metadata=bulk, spec={**names, **bulky}, status={"showOutput": {}})

    async def copies(path: GroupResource, namespace: str, name: str) -> Object | None:
        found = await live(kube)(path, namespace, name)
        assert found is not None
        kept = needed(found, naming(KINDS[path.kind]) if path.kind in KINDS else None)
        assert not kept.spec.keys() & bulky.keys()
        assert kept.metadata.keys() == {"name", "namespace", "resourceVersion"}
        assert kept.status.keys() <= {"account"}
        return kept

    table = TABLE.spec.model_validate(
        {"name": "T", "schemaRef": {"name": "s"}, "columns": [{"name": "C", "type": "DATE"}]}
    )
    found = await resolve(TABLE, "n", table, copies)
    assert isinstance(found, Resolved)
    assert found.parts == ("D", "S", "T")
    assert found == await resolve(TABLE, "n", table, live(kube))
