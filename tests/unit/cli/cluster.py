"""A cluster that commands ask, and what there is in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from typer.testing import CliRunner, Result

from freehold.claim_contest import acquire
from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, Evidence, Holder, new_claim
from freehold.cli import app
from freehold.identity import Identity
from freehold.kinds.registry import KINDS
from tests.harness.memory import MemoryKube

RUNNER = CliRunner()
ACCOUNT = "AWS_EU_CENTRAL_1.AB12345"


@dataclass(frozen=True)
class Cluster:
    """An API server with the verified ProviderConfig `default` in the namespaces a and b.

    Attributes:
        kube: the API server.
    """

    kube: MemoryKube

    def run(self, *arguments: str, typed: str | None = None) -> Result:
        """Run `freehold`.

        Args:
            arguments: of the command line.
            typed: what is typed into it.
        """
        return RUNNER.invoke(app, arguments, input=typed)

    def json(self, *arguments: str) -> Any:
        """What a command prints for programs."""
        return orjson.loads(self.run(*arguments, "--output=json").stdout)

    def claim(
        self, identity: Identity, namespace: str, name: str, *, kind: str = "Database", account: str = "ACME.PROD"
    ) -> None:
        """Have a resource hold a claim."""
        group = KINDS["Database"].resource.path.group
        holder = Holder(group=group, kind=kind, namespace=namespace, name=name, uid="1")
        asyncio.run(acquire(ClaimStore(self.kube), new_claim(identity, account, holder)))

    def database(self, namespace: str, name: str, database: str, **spec: Any) -> None:
        """Have a Database."""
        self.put("Database", namespace, name, {"name": database, **spec})

    def put(self, kind: str, namespace: str, name: str, spec: Mapping[str, Any]) -> None:
        """Have a resource."""
        self.kube.put(KINDS[kind].resource.path, name, namespace, spec=dict(spec))

    def prove(self, identity: Identity) -> None:
        """Write evidence into a claim."""

        async def write() -> None:
            store = ClaimStore(self.kube)
            claim = await store.read(identity.hash)
            assert claim is not None
            evidence = Evidence(how="created", created_on=store.now(), role="R", time=store.now())
            await store.replace(claim, claim.spec.model_copy(update={"evidence": evidence}))

        asyncio.run(write())

    def later(self) -> None:
        """Let the grace of all claims pass."""
        self.kube.advance(2 * GRACE)

    @property
    def claims(self) -> set[str]:
        """Names of the claims there are."""
        return {name for plural, _, name in self.kube.objects if plural == CLAIM.path.plural}
