"""One object and what is told of it: by the API server, by its claim, by Snowflake and by the journal."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from freehold.claims import CLAIM
from freehold.kinds.kind import Kind
from freehold.kube.errors import NotFound
from freehold.kube.objects import Object
from freehold_devstack.snowflake.journal import Entry
from tests.chaos import account, samples
from tests.chaos.account import STRANGER, Parts, Row
from tests.chaos.lane import Lane
from tests.chaos.world import BLIND_ROLE, BLIND_USER, PLATFORM, ROLE, USER
from tests.harness.endpoint import Endpoint

_MANAGER = "people"
_OWN = frozenset({"created_on", "id", "resumed_on", "updated_on", "uuid"})
"""Columns of SHOW that each object has a value of its own in."""


@dataclass(frozen=True)
class Case:
    """One object of one kind, under names that no other run uses.

    Attributes:
        lane: where.
        endpoint: Snowflake.
        kind: the object's kind.
        token: what its names have in common.
        since: the journal's latest entry before the run.
        blind: whether the role doesn't see everything.
    """

    lane: Lane
    endpoint: Endpoint
    kind: Kind
    token: str
    since: int
    blind: bool

    @property
    def role(self) -> str:
        """Of the controller's session."""
        return BLIND_ROLE if self.blind else ROLE

    @property
    def parts(self) -> Parts:
        return (*samples.container(self.kind), f"{self.token}_A")

    @property
    def lookalikes(self) -> tuple[Parts, ...]:
        """Other objects that may be taken for this one: by case, by LIKE's wildcard, by name alone."""
        *container, name = self.parts
        elsewhere = [(*[samples.OTHERS] * len(container), name)] if container else []
        return ((*container, name.lower()), (*container, name.replace("_", "X")), *elsewhere)

    def told(self, text: str) -> str:
        """A text without what differs from run to run."""
        for own, common in ((self.token, "…"), (self.token.lower(), "…"), (self.lane.namespace, "here")):
            text = text.replace(own, common)
        return text

    # --- what people do ------------------------------------------------------------------------------------------

    async def apply(self, resource: str = "a", *, bare: bool = False, **changes: Any) -> None:
        """Apply the sample under this name, with some fields changed."""
        provider = f"{self.lane.name}-blind" if self.blind else self.lane.name
        spec = samples.spec(self.kind, self.parts[-1], provider, PLATFORM, bare=bare) | changes
        await self._patch(resource, {"spec": spec})

    async def annotate(self, resource: str, name: str, value: str) -> None:
        path, where = self._place(resource)
        await self.lane.kube.patch(path, *where, {"metadata": {"annotations": {f"freehold.dev/{name}": value}}})

    async def delete(self, resource: str = "a") -> None:
        path, where = self._place(resource)
        await self.lane.kube.delete(path, *where)

    async def make(self, parts: Parts, role: str = STRANGER, *, replace: bool = False) -> None:
        """Make an object as a stranger."""
        statement = samples.create(self.kind, parts)
        await self.sql(statement.replace("CREATE", "CREATE OR REPLACE", 1) if replace else statement, role)

    async def sql(self, statement: str, role: str = STRANGER) -> list[dict[str, Any]]:
        return await account.send(self.endpoint, statement, role)

    # --- what there is -------------------------------------------------------------------------------------------

    async def get(self, resource: str = "a") -> Object | None:
        path, where = self._place(resource)
        try:
            return await self.lane.kube.get(path, *where)
        except NotFound:
            return None

    async def standing(self) -> list[str]:
        """The resources that are there."""
        return [each for each in ("a", "b") if await self.get(each)]

    async def ready(self, resource: str = "a") -> tuple[str, str]:
        """Reason and message of the condition Ready for the present generation; nothing where there is none."""
        found = await self.get(resource)
        for each in (found.status.get("conditions") or ()) if found else ():
            if found and each["type"] == "Ready" and each["observedGeneration"] == found.generation:
                return each["reason"], each["message"]
        return "", ""

    async def resources(self) -> dict[str, Any]:
        """What the resources say, without what differs from run to run."""
        found = {}
        async for page in self.lane.kube.list(self.kind.resource.path, self.lane.namespace):
            for each in page.objects:
                status = each.status
                found[each.name] = {
                    "deleting": each.deleting,
                    "finalizers": each.finalizers,
                    "observed": status.get("observedGeneration") == each.generation,
                    "conditions": [
                        {key: told[key] for key in ("type", "status", "reason", "message")}
                        for told in status.get("conditions") or ()
                    ],
                    "applied": [status.get("lastAppliedSpecHash"), status.get("trackedParameters")],
                    "shown": {k: v for k, v in (status.get("showOutput") or {}).items() if k not in _OWN},
                }
        comparable: dict[str, Any] = self._comparable(found)
        return comparable

    async def claims(self) -> list[Object]:
        listed = [each async for page in self.lane.kube.list(CLAIM.path) for each in page.objects]
        return [each for each in listed if self.token in each.spec["identity"]["fqn"]]

    async def rows(self) -> dict[Parts, Row]:
        """The rows of SHOW whose names have the token, by name, without what changes by itself."""
        return await account.rows(self.endpoint, self.kind, f"%{self.token}%")

    async def state(self) -> dict[str, Any]:
        """All there is, without what differs from run to run: what two runs are compared by."""
        claims = [each.spec for each in await self.claims()]
        return {
            "resources": await self.resources(),
            "claims": self._comparable(
                [
                    {
                        "fqn": each["identity"]["fqn"],
                        "holder": f"{each['holder']['kind']} {each['holder']['name']}",
                        "evidence": (each.get("evidence") or {}).get("how"),
                        "unknown": "since" in (each.get("mark") or {}),
                        "outcome": (each.get("mark") or {}).get("outcome"),
                        "intent": each.get("intent"),
                    }
                    for each in claims
                ]
            ),
            "objects": self._comparable(
                {
                    ".".join(parts): {key: value for key, value in row.items() if key not in _OWN}
                    for parts, row in sorted((await self.rows()).items())
                }
            ),
        }

    async def sent(self) -> list[Entry]:
        """What the controllers have sent about names with the token."""
        entries = await asyncio.to_thread(self.endpoint.since, self.since)
        return [
            each
            for each in entries
            if each.kind == "statement" and each.user in (USER, BLIND_USER) and self.token in each.text
        ]

    async def outcomes(self) -> Counter[str]:
        """How often each verb that changes something was sent, by verb and outcome."""
        return Counter(f"{each.text.split()[0]} {each.outcome}" for each in await self.sent() if not each.reads)

    async def clear(self) -> None:
        """Take away all that is left, by hand."""
        kube, path = self.lane.kube, self.kind.resource.path
        for resource in await self.standing():
            await kube.patch(path, *self._place(resource)[1], {"metadata": {"finalizers": None}})
            await self.delete(resource)
        for claim in await self.claims():
            await kube.delete(CLAIM.path, claim.name)
        for parts in await self.rows():
            await self.sql(f"DROP {self.kind.object_type} {samples.target(self.kind, parts).name.text}")

    def _place(self, resource: str) -> tuple[Any, tuple[str, str]]:
        return self.kind.resource.path, (f"{self.token.lower()}-{resource}", self.lane.namespace)

    async def _patch(self, resource: str, body: dict[str, Any]) -> None:
        path, (name, namespace) = self._place(resource)
        manifest = {
            "apiVersion": path.api_version,
            "kind": path.kind,
            "metadata": {"name": name, "namespace": namespace},
            **body,
        }
        await self.lane.kube.apply(path, name, namespace, manifest, field_manager=_MANAGER)

    def _comparable(self, value: Any) -> Any:
        return json.loads(self.told(json.dumps(value, default=str, sort_keys=True, ensure_ascii=False)))
