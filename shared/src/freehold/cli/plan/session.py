"""A plan from beginning to end: one cluster, and the accounts that its ProviderConfigs lead to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from freehold.cli import console
from freehold.cli.manifests import namespace_of
from freehold.cli.plan.access import Access
from freehold.cli.plan.entries import Entry
from freehold.cli.plan.planner import Planner
from freehold.cli.plan.resources import applied_over, overlaid
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.objects import Key, Object
from freehold.login_policy import LoginPolicy
from freehold.resolve import live
from freehold.snowflake.client import Snowflake


async def entries(
    kube: Kube, manifests: Sequence[Mapping[str, Any]], policy: LoginPolicy, *, prune: bool, selector: str | None
) -> Sequence[Entry]:
    """Plan for manifests, and tell how far it is.

    Args:
        kube: the cluster.
        manifests: as people wrote them, of kinds that have objects and of ProviderConfigs.
        policy: what may be connected to.
        prune: also for resources that no manifest declares.
        selector: labels of these; None for all in the manifests' namespaces.

    Raises:
        ApiError: the cluster gives no answer.
    """
    get = live(kube)
    resources: dict[Key, Object] = {}
    configs: dict[Key, Object] = {}
    with console.err.status("reading resources") as status:
        for manifest in manifests:
            kind = KINDS.get(manifest["kind"])
            path = (kind.resource if kind else PROVIDER_CONFIG).path
            stored = await get(path, namespace_of(manifest), manifest["metadata"]["name"])
            resource = applied_over(manifest, stored)
            (resources if kind else configs)[resource.key] = resource
        done = 0

        def tell() -> None:
            nonlocal done
            done += 1
            status.update(f"{done:,} of {len(resources):,} resources looked at")

        async with Snowflake("freehold-plan") as snowflake:
            access = Access(overlaid(get, configs), policy, os.environ)
            planner = Planner(kube, snowflake, access, resources, configs)
            found = list(await planner.plan(tell))
            for each in await _undeclared(kube, resources, selector) if prune else ():
                status.update(f"looking at {each.key}, which no manifest declares")
                found += await planner.prune(each)
    return found


async def _undeclared(kube: Kube, declared: Mapping[Key, Object], selector: str | None) -> Sequence[Object]:
    """The resources in the manifests' namespaces that no manifest declares; what lies inside others first."""
    namespaces = sorted({key.namespace for key in declared})
    kinds = sorted(KINDS.values(), key=lambda kind: -kind.level.value)
    return [
        each
        for kind in kinds
        for namespace in namespaces
        async for page in kube.list(kind.resource.path, namespace, label_selector=selector)
        for each in page.objects
        if each.key not in declared
    ]
