"""Claims in a real API server, as people and the API server itself see them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from freehold.claim_contest import Held, acquire, acquire_all
from freehold.claim_store import ClaimStore
from freehold.claims import Evidence, Holder, new_claim
from freehold.datatypes import signature
from freehold.identity import Identity, Name, Slot
from freehold.kube import errors
from freehold.kube.client import Kube
from freehold.slots import grant, of
from freehold_devstack.controlplane import ControlPlane

LONG = "\U0001f9ca" * 255


def holder(namespace: str) -> Holder:
    return Holder(group="snowflake.freehold.dev", kind="Table", namespace=namespace, name="orders", uid="1")


async def test_kubectl_shows_whose_an_object_is(control_plane: ControlPlane, kube: Kube, namespace: str) -> None:
    store = ClaimStore(kube)
    identity = Identity(f"R.{namespace}", "TABLE", Name(("D", "S", "orders")))
    held = await acquire(store, new_claim(identity, "ACME.PROD", holder(namespace)))
    assert isinstance(held, Held)
    now = datetime(2026, 11, 30, tzinfo=UTC)
    evidence = Evidence(how="adopted", created_on=now, role="R", time=now)
    await store.replace(held.claim, held.claim.spec.model_copy(update={"evidence": evidence}))
    heading, row = control_plane.kubectl("get", "cl", identity.hash).stdout.splitlines()
    assert heading.split() == ["NAME", "KIND", "OWNER", "ACCOUNT", "FQN", "EVIDENCE", "AGE"]
    shown = [identity.hash, "Table", f"{namespace}/orders", "ACME.PROD", '"D"."S"."orders"', "adopted"]
    assert row.split()[:6] == shown


@pytest.mark.parametrize(
    "name",
    [
        Name((LONG,) * 3, signature(["NUMBER"] * 200)),
        grant("SELECT", of("TABLE", LONG, LONG, LONG), of("DATABASE ROLE", LONG, LONG)),
        Name(('a"b.c', "\n", "é")),
        Name(("A",)),
    ],
)
async def test_every_identity_can_be_stored_and_is_read_back(kube: Kube, namespace: str, name: Name | Slot) -> None:
    store = ClaimStore(kube)
    identity = Identity(f"R.{namespace}", "X", name)
    await acquire(store, new_claim(identity, "ACME.PROD", holder(namespace)))
    read = await store.read(identity.hash)
    assert read is not None
    assert read.spec.identity.identity == identity
    assert [each.name for each in await store.of_holder(holder(namespace))] == [identity.hash]


async def test_an_identity_stays_with_its_claim(kube: Kube, namespace: str) -> None:
    store = ClaimStore(kube)
    one, other = (Identity(f"R.{namespace}", "X", Name((name,))) for name in ("A", "B"))
    outcome = await acquire_all(store, [new_claim(one, "ACME.PROD", holder(namespace))])
    assert isinstance(outcome, tuple)
    (held,) = outcome
    moved = held.claim.spec.model_copy(
        update={"identity": new_claim(other, "ACME.PROD", holder(namespace)).spec.identity}
    )
    with pytest.raises(errors.ApiError, match="identity can't be changed"):
        await store.replace(held.claim, moved)
