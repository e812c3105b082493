"""What the webhook keeps of the resources that others refer to."""

from __future__ import annotations

from typing import Any

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from freehold.resolve import live, resolve
from freehold_webhook.parents import needed
from tests.harness.memory import MemoryKube

SCHEMA = KINDS["Schema"]


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
    kube.put(KINDS["Database"].resource.path, "d", "n", metadata=bulk, spec={"name": "D"}, status={"showOutput": {}})

    async def copies(path: GroupResource, namespace: str, name: str) -> Object | None:
        found = await live(kube)(path, namespace, name)
        assert found is not None
        kept = needed(found)
        assert kept.metadata.keys() == {"name", "namespace", "resourceVersion"}
        assert kept.status.keys() <= {"account"}
        return kept

    spec = SCHEMA.spec.model_validate({"name": "S", "databaseRef": {"name": "d"}})
    assert await resolve(SCHEMA, "n", spec, copies) == await resolve(SCHEMA, "n", spec, live(kube))
