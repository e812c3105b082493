"""A resource that stands for several things holds the claims to all of them or to nothing new, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from freehold.claims import Claim, Evidence, Holder, Mark, new_claim
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.lifecycle.surplus import surplus_of
from freehold.slots import grant, of
from freehold_controllers.reconciler import naming
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.ownership import Owned, hold
from tests.harness.declarations import ALL_KINDS, GRANT, OWNERSHIP, ROLE_ASSIGNMENT, TABLE
from tests.unit.reconciler.world import Fuse, World

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
EVIDENCE = Evidence(how="created", created_on=NOON, role="R", time=NOON)
ME = Holder(group="snowflake.freehold.dev", kind="Grant", namespace="n", name="g", uid="u")
SELECT, INSERT = (
    Identity("R.A", "GRANT", grant(privilege, of("TABLE", "D", "S", "T"), of("ROLE", "READER")))
    for privilege in ("SELECT", "INSERT")
)
SELECT_ELSEWHERE = Identity("R.B", "GRANT", SELECT.name)
TABLE_T, TABLE_U = (Identity("R.A", "TABLE", Name(("D", "S", name))) for name in "TU")


def claim(identity: Identity, **parts: Any) -> Claim:
    spec = new_claim(identity, "O.A", ME).spec.model_copy(update=parts)
    return Claim(identity.hash, "1", "u", NOON, spec)


SURPLUS = [
    # claims, what the resource stands for, what becomes of the claims (idle, filled, pinned)
    ("all are wanted", [claim(SELECT), claim(INSERT, evidence=EVIDENCE)], [SELECT, INSERT], ((), (), ())),
    ("a slot that was never filled", [claim(INSERT)], [SELECT], ((INSERT,), (), ())),
    ("a filled slot", [claim(INSERT, evidence=EVIDENCE)], [SELECT], ((), (INSERT,), ())),
    (
        "a slot that may be filled",
        [claim(INSERT, mark=Mark(attempt=1, since=NOON, outcome="sent"))],
        [SELECT],
        ((), (INSERT,), ()),
    ),
    (
        "a slot that was refused",
        [claim(INSERT, mark=Mark(attempt=1, outcome="refused"))],
        [SELECT],
        ((INSERT,), (), ()),
    ),
    ("a slot elsewhere", [claim(SELECT_ELSEWHERE, evidence=EVIDENCE)], [SELECT], ((), (), (SELECT_ELSEWHERE,))),
    ("another object", [claim(TABLE_U, evidence=EVIDENCE)], [TABLE_T], ((), (), (TABLE_U,))),
    ("another object that was never made", [claim(TABLE_U)], [TABLE_T], ((TABLE_U,), (), ())),
]


@pytest.mark.parametrize(("held", "wanted", "expected"), [pytest.param(*row[1:], id=row[0]) for row in SURPLUS])
def test_what_is_known_of_a_claim_decides_what_becomes_of_it(
    held: list[Claim], wanted: list[Identity], expected: tuple[tuple[Identity, ...], ...]
) -> None:
    found = surplus_of(held, wanted)
    hashes = tuple(tuple(each.name for each in claims) for claims in (found.idle, found.filled, found.pinned))
    assert hashes == tuple(tuple(each.hash for each in claims) for claims in expected)


class Place(World):
    """A world with a Schema `s` for grants to refer to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(Fuse(0, done=False))
        for module in ("freehold.resolve", "freehold.claim_liveness", "freehold_controllers.reconciler.inventory"):
            monkeypatch.setattr(f"{module}.KINDS", ALL_KINDS)
        self.kube.put(KINDS["Schema"].resource.path, "s", "n", spec={"name": "S", "databaseName": "D"})
        self.reconciler = self.process()

    def managed(self, kind: Kind, name: str, /, **spec: Any) -> Managed:
        return Managed.read(self.kube.put(kind.resource.path, name, "n", spec=spec), kind)

    def limit(self, **lists: Any) -> None:
        """Have the ProviderConfig allow less, as far as a new process knows."""
        self.kube.objects[PROVIDER_CONFIG.path.plural, "n", "default"]["spec"].update(lists)
        self.reconciler = self.process()

    def grant(self, *privileges: str, name: str = "g") -> Managed:
        return self.managed(
            GRANT, name, privileges=list(privileges), schemaRef={"name": "s"}, tableName="T", roleName="READER"
        )

    async def hold(self, managed: Managed) -> Owned:
        services = self.reconciler._services
        resolved = await naming.resolved(services, managed)
        login = await services.providers.login(managed.key, *managed.provider, winding_up=False)
        return await hold(services, managed, naming.identities(resolved, login), login.account.name)

    async def stop(self, managed: Managed) -> tuple[str, str]:
        """Reason and message of what keeps a resource from its claims."""
        with pytest.raises(Stopped) as stopped:
            await self.hold(managed)
        return stopped.value.stop.reason, stopped.value.stop.message

    @property
    def held(self) -> dict[str, str]:
        """Privilege to holder."""
        return {each["identity"]["fqn"].split(" ON ")[0]: each["holder"]["name"] for each in self.claims}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(monkeypatch)


def fqns(claims: Sequence[Any]) -> list[str]:
    return [each.spec.identity.fqn.split(" ON ")[0] for each in claims]


async def test_all_that_a_resource_stands_for_is_held_in_sorted_order(place: Place) -> None:
    owned = await place.hold(place.grant("SELECT", "INSERT", "DELETE"))
    assert [each.spec.identity.identity for each in owned.holdings] == sorted(
        each.spec.identity.identity for each in owned.holdings
    )
    assert place.held == {"SELECT": "g", "INSERT": "g", "DELETE": "g"}
    assert not owned.surplus


async def test_a_conflict_on_one_names_it_and_leaves_nothing_held(place: Place) -> None:
    await place.hold(place.grant("INSERT", name="first"))
    reason, message = await place.stop(place.grant("SELECT", "INSERT", "DELETE", name="second"))
    assert reason == "ConflictDetected"
    assert "INSERT ON TABLE" in message
    assert "Grant n/first" in message
    assert place.held == {"INSERT": "first"}


async def test_a_conflict_on_what_is_added_keeps_what_is_known_to_be_ours_alone(place: Place) -> None:
    await place.hold(place.grant("INSERT", name="first"))
    owned = await place.hold(place.grant("SELECT", "DELETE", name="second"))
    (filled,) = (each for each in owned.holdings if "SELECT" in each.spec.identity.fqn)
    await filled._write(evidence=EVIDENCE)
    reason, _ = await place.stop(place.grant("SELECT", "DELETE", "INSERT", name="second"))
    assert reason == "ConflictDetected"
    assert place.held == {"INSERT": "first", "SELECT": "second"}


async def test_each_of_several_has_evidence_of_its_own(place: Place) -> None:
    owned = await place.hold(place.grant("SELECT", "INSERT"))
    await owned.holdings[0]._write(evidence=EVIDENCE)
    again = await place.hold(place.grant("SELECT", "INSERT"))
    assert [each.spec.evidence for each in again.holdings] == [EVIDENCE, None]


async def test_what_is_not_asked_for_any_more_is_given_up_or_told_to_be_taken_away(place: Place) -> None:
    owned = await place.hold(place.grant("SELECT", "INSERT", "DELETE"))
    (filled,) = (each for each in owned.holdings if "INSERT" in each.spec.identity.fqn)
    await filled._write(evidence=EVIDENCE)
    place.learn()
    owned = await place.hold(place.grant("SELECT"))
    assert fqns(owned.holdings) == ["SELECT"]
    assert fqns(owned.surplus) == ["INSERT"]
    assert place.held == {"SELECT": "g", "INSERT": "g"}


@pytest.mark.parametrize(
    ("kind", "spec", "lists", "reason"),
    [
        (
            GRANT,
            {"privileges": ["SELECT"], "schemaRef": {"name": "s"}, "tableName": "T", "roleName": "READER"},
            {"allowedDatabases": ["OTHER"]},
            "DatabaseNotAllowed",
        ),
        (
            GRANT,
            {"privileges": ["SELECT"], "schemaRef": {"name": "s"}, "every": "FUTURE", "roleName": "READER"},
            {"allowedSchemas": ["D.OTHER"]},
            "SchemaNotAllowed",
        ),
        (
            GRANT,
            {"privileges": ["USAGE"], "schemaRef": {"name": "s", "namespace": "m"}, "roleName": "READER"},
            {"allowedRefNamespaces": ["platform"]},
            "RefNamespaceNotAllowed",
        ),
        (ROLE_ASSIGNMENT, {"roleName": "ACCOUNTADMIN", "userName": "U"}, {}, "PrivilegedRoleNotAllowed"),
        (OWNERSHIP, {"tableName": "D.S.T", "roleName": "SECURITYADMIN"}, {}, "PrivilegedRoleNotAllowed"),
        (OWNERSHIP, {"tableName": "D.S.T", "roleName": "R"}, {"allowedSchemas": ["D.OTHER"]}, "SchemaNotAllowed"),
        (
            TABLE,
            {"name": "T", "databaseName": "D", "schemaName": "S"},
            {"allowedSchemas": ["D.OTHER"]},
            "SchemaNotAllowed",
        ),
    ],
)
async def test_what_a_slot_names_must_be_allowed(
    place: Place, kind: Kind, spec: dict[str, Any], lists: dict[str, Any], reason: str
) -> None:
    place.limit(**lists)
    found, _ = await place.stop(place.managed(kind, "x", **spec))
    assert found == reason
    assert not place.claims


@pytest.mark.parametrize("there", [True, False])
async def test_of_what_may_not_be_referred_to_not_even_the_absence_is_told(place: Place, there: bool) -> None:
    place.limit(allowedRefNamespaces=["platform"])
    if there:
        place.kube.put(KINDS["Database"].resource.path, "db", "secret", spec={"name": "D"})
    spec = {"name": "S", "databaseRef": {"name": "db", "namespace": "secret"}}
    reason, message = await place.stop(place.managed(KINDS["Schema"], "x", **spec))
    assert reason == "RefNamespaceNotAllowed"
    assert "exist" not in message


async def test_an_object_that_is_ours_costs_one_read(place: Place) -> None:
    managed = place.managed(KINDS["Warehouse"], "x", name="W")
    owned = await place.hold(managed)
    await owned.holdings[0]._write(evidence=EVIDENCE)
    asked: list[str] = []
    place.kube.before = lambda verb, plural, _name: asked.append(f"{verb} {plural}")
    await place.hold(managed)
    assert [each for each in asked if "claims" in each] == ["get claims"]
