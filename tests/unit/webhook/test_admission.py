"""Decisions about requests, on an API server in memory: what is allowed, denied, warned about, read and written."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from freehold import fingerprint
from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, ClaimSpec
from freehold.conflicts import Detail
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import CONFIRMED_UNTIL, PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.errors import Unavailable
from freehold.kube.objects import NAMESPACES, Object
from freehold.metrics import REGISTRY
from freehold.resolve import live
from freehold_webhook.admission import Admission
from freehold_webhook.review import Cause, Outcome, Request, Verdict
from tests.harness.memory import MemoryKube

ACCOUNT = {"key": "AWS_EU_CENTRAL_1.AB12345", "name": "ACME.PROD", "region": "AWS_EU_CENTRAL_1", "locator": "AB12345"}
DATABASE, SCHEMA = KINDS["Database"].resource.path, KINDS["Schema"].resource.path
TRANSIENT = {"name": "ANALYTICS", "transient": True}
ORDER = fingerprint.spec_hash(KINDS["Database"], KINDS["Database"].spec.model_validate(TRANSIENT))
ANALYTICS = Identity(ACCOUNT["key"], "DATABASE", Name(("ANALYTICS",)))


class World:
    """An API server with a verified ProviderConfig platform/default, open to all, and a webhook in front of it."""

    def __init__(self) -> None:
        self.kube = MemoryKube()
        self.provider()
        self.store = ClaimStore(self.kube)
        self.copies: dict[tuple[str, str, str], Object] = {}
        self.admission = Admission(self.store, self._copy, allowed_hosts=[".snowflakecomputing.com"])

    async def _copy(self, path: GroupResource, namespace: str, name: str) -> Object | None:
        return self.copies.get((path.plural, namespace, name)) or await live(self.kube)(path, namespace, name)

    def provider(self, *, verified: bool = True, **spec: Any) -> Object:
        """Store the ProviderConfig."""
        return self.kube.put(
            PROVIDER_CONFIG.path,
            "default",
            "platform",
            spec={"authenticationType": "KeyPair", "role": "LOADER", "allowedNamespaces": ["*"], **spec},
            status={"account": dict(ACCOUNT)} if verified else {},
        )

    async def ask(
        self,
        kind: str,
        namespace: str,
        name: str,
        spec: dict[str, Any],
        *,
        old: dict[str, Any] | None = None,
        dry_run: bool = False,
        status: dict[str, Any] | None = None,
        **metadata: Any,
    ) -> Verdict:
        """What a request for a resource is answered; an update when there is an old spec."""
        path = PROVIDER_CONFIG.path if kind == "ProviderConfig" else KINDS[kind].resource.path
        provider = {} if kind == "ProviderConfig" else {"providerRef": {"name": "default", "namespace": "platform"}}

        def resource(of: dict[str, Any]) -> Object:
            body = {"metadata": {"name": name, "namespace": namespace, "uid": "1", **metadata}, "spec": provider | of}
            return Object({"apiVersion": path.api_version, "kind": kind, "status": status or {}, **body})

        request = Request(
            uid="7",
            operation="CREATE" if old is None else "UPDATE",
            group=path.group,
            kind=kind,
            namespace=namespace,
            sub_resource="",
            user="jane",
            dry_run=dry_run,
            object=resource(spec),
            old=None if old is None else resource(old),
        )
        return await self.admission.review(request)

    async def database(self, namespace: str, database: str = "ANALYTICS", **options: Any) -> Verdict:
        """Ask for a Database named `db` in Kubernetes."""
        return await self.ask("Database", namespace, "db", {"name": database}, **options)

    def stored(self, namespace: str, database: str = "ANALYTICS", **spec: Any) -> None:
        """Store such a Database, as the API server does after the answer."""
        body = {"name": database, "providerRef": {"name": "default", "namespace": "platform"}, **spec}
        self.kube.put(DATABASE, "db", namespace, spec=body)

    @property
    def claims(self) -> dict[str, str]:
        """FQN to holder of all claims."""
        specs = [
            ClaimSpec.model_validate(body["spec"])
            for (plural, _, _), body in self.kube.objects.items()
            if plural == CLAIM.path.plural
        ]
        return {spec.identity.fqn: str(spec.holder) for spec in specs}


@pytest.fixture
def world() -> World:
    return World()


async def test_the_first_owner_is_admitted_and_holds_the_claim(world: World) -> None:
    assert (await world.database("a")).outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


async def test_a_second_owner_in_the_same_namespace_is_told_who_owns_it(world: World) -> None:
    await world.database("a")
    verdict = await world.ask("Database", "a", "second", {"name": "ANALYTICS"})
    assert verdict.outcome is Outcome.DENIED
    assert 'Database "ANALYTICS" in account ACME.PROD is owned by Database a/db' in verdict.message
    assert "choose another name" in verdict.message
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


async def test_a_second_owner_elsewhere_learns_kind_and_name_of_the_object_alone(world: World) -> None:
    await world.database("secret-team")
    verdict = await world.database("b")
    assert verdict.outcome is Outcome.DENIED
    assert 'Database "ANALYTICS" in account ACME.PROD is owned by a Database in another namespace' in verdict.message
    assert "secret-team" not in verdict.message


async def test_two_names_that_differ_in_case_are_two_objects(world: World) -> None:
    await world.database("a", "ANALYTICS")
    assert (await world.database("b", "analytics")).outcome is Outcome.ALLOWED


async def test_two_accounts_never_conflict(world: World) -> None:
    await world.database("a")
    world.kube.objects["providerconfigs", "platform", "default"]["status"]["account"]["key"] = "OTHER.XY1"
    assert (await world.database("b")).outcome is Outcome.ALLOWED


async def test_the_installation_decides_what_is_told_of_an_owner(world: World) -> None:
    await world.database("a")
    world.admission = Admission(world.store, live(world.kube), allowed_hosts=[], conflict_detail=Detail.FULL)
    assert "is owned by Database a/db" in (await world.database("b")).message
    world.admission = Admission(world.store, live(world.kube), allowed_hosts=[], conflict_detail=Detail.NONE)
    verdict = await world.ask("Database", "a", "second", {"name": "ANALYTICS"})
    assert "is owned by another resource" in verdict.message


async def test_of_a_holder_that_can_not_be_read_no_more_is_told_than_of_an_owner(world: World) -> None:
    def fail(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("get", DATABASE.plural):
            raise Unavailable(0, "", "connection lost")

    await world.database("secret-team", "ANALYTICS")
    world.kube.advance(GRACE)
    world.kube.before = fail
    verdict = await world.ask("Database", "b", "db", {"name": "ANALYTICS"}, old={"name": "OTHER"})
    assert (verdict.outcome, verdict.cause) == (Outcome.UNDECIDED, Cause.CONFLICT)
    assert "is claimed by a Database in another namespace" in verdict.message
    assert "secret-team" not in verdict.message


async def test_a_dry_run_is_answered_the_same_and_writes_nothing(world: World) -> None:
    assert (await world.database("a", dry_run=True)).outcome is Outcome.ALLOWED
    assert world.claims == {}
    await world.database("a")
    world.kube.writes.clear()
    verdict = await world.ask("Database", "a", "second", {"name": "ANALYTICS"}, dry_run=True)
    assert verdict.outcome is Outcome.DENIED
    assert "Database a/db" in verdict.message
    assert world.kube.writes == []


async def test_creating_what_exists_is_left_to_the_api_server(world: World) -> None:
    world.stored("a")
    assert (await world.database("a", "SOMETHING_ELSE")).outcome is Outcome.ALLOWED
    assert world.kube.writes == []


async def test_an_update_that_claims_nothing_new_writes_nothing(world: World) -> None:
    await world.database("a")
    world.stored("a")
    world.kube.writes.clear()
    verdict = await world.database("a", old={"name": "ANALYTICS", "comment": "old"})
    assert verdict.outcome is Outcome.ALLOWED
    assert world.kube.writes == []


async def test_leaving_observe_only_claims(world: World) -> None:
    observing = {"name": "ANALYTICS", "managementPolicies": {"observeOnly": True}}
    assert (await world.ask("Database", "a", "db", observing)).outcome is Outcome.ALLOWED
    assert world.claims == {}
    assert (await world.database("a", old=observing)).outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


async def test_an_observer_may_watch_what_another_one_owns(world: World) -> None:
    await world.database("a")
    observing = {"name": "ANALYTICS", "managementPolicies": {"observeOnly": True}}
    assert (await world.ask("Database", "b", "db", observing)).outcome is Outcome.ALLOWED
    assert (await world.database("b", old=observing)).outcome is Outcome.DENIED


async def test_the_claim_of_a_vanished_holder_is_taken_after_the_grace(world: World) -> None:
    await world.database("a")
    world.kube.advance(GRACE - timedelta(seconds=1))
    assert (await world.database("b")).outcome is Outcome.DENIED
    world.kube.advance(timedelta(seconds=2))
    assert (await world.database("b")).outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"': "Database b/db"}


async def test_a_schema_is_claimed_below_the_database_that_it_refers_to(world: World) -> None:
    world.stored("a")
    assert (
        await world.ask("Schema", "a", "s", {"name": "S", "databaseRef": {"name": "db"}})
    ).outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"."S"': "Schema a/s"}
    by_name = {"name": "S", "databaseName": "ANALYTICS"}
    assert (await world.ask("Schema", "b", "s", by_name)).outcome is Outcome.DENIED


@pytest.mark.parametrize(
    ("kind", "spec", "missing"),
    [
        ("Schema", {"name": "S", "databaseRef": {"name": "nowhere"}}, "Database a/nowhere in spec.databaseRef"),
        ("Database", {"name": "D", "providerRef": {"name": "none"}}, "ProviderConfig a/none in spec.providerRef"),
    ],
)
async def test_what_refers_to_nothing_is_admitted_with_a_warning(
    world: World, kind: str, spec: dict[str, Any], missing: str
) -> None:
    verdict = await world.ask(kind, "a", "x", spec)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.message == f"{missing} doesn't exist; until that changes, what refers to it isn't checked"
    # In the same words for all that refer to it, of which kubectl prints one.
    assert (await world.ask(kind, "a", "y", {**spec, "name": "E"})).message == verdict.message
    assert world.claims == {}


async def test_a_provider_that_is_closed_to_a_namespace_is_refused_at_once(world: World) -> None:
    closed = {"authenticationType": "KeyPair"}
    world.kube.put(PROVIDER_CONFIG.path, "x", "platform", spec=closed, status={"account": ACCOUNT})
    spec = {"name": "D", "providerRef": {"name": "x", "namespace": "platform"}}
    verdict = await world.ask("Database", "a", "x", spec)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, "NamespaceNotAllowed")
    assert verdict.message == (
        "namespace a isn't allowed by allowedNamespaces of ProviderConfig platform/x: use what it allows, or ask who "
        "runs it to extend the list"
    )


@pytest.mark.parametrize("there", [None, {"authenticationType": 7}], ids=["missing", "unreadable"])
async def test_a_provider_of_another_namespace_may_come_later_than_what_uses_it(
    world: World, there: dict[str, Any] | None
) -> None:
    if there:
        world.kube.put(PROVIDER_CONFIG.path, "x", "platform", spec=there)
    spec = {"name": "D", "providerRef": {"name": "x", "namespace": "platform"}}
    verdict = await world.ask("Database", "a", "x", spec)
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.message == (
        "ProviderConfig platform/x in spec.providerRef doesn't exist yet, or can't be read; until that changes, "
        "what refers to it isn't checked"
    )
    assert world.claims == {}


async def test_what_owns_an_object_keeps_it_when_it_is_pointed_to_a_provider_that_is_not_there_yet() -> None:
    world = Moving()
    await world.database("a")
    world.owns()
    assert (await world.move("later")).outcome is Outcome.UNDECIDED
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


class Moving(World):
    """A world with two more ProviderConfigs: one of the same account, and one of another."""

    def __init__(self) -> None:
        super().__init__()
        other = {**ACCOUNT, "key": "R.OTHER", "name": "ACME.TEST"}
        for name, account in (("rotated", dict(ACCOUNT)), ("elsewhere", other)):
            spec = {"authenticationType": "KeyPair", "allowedNamespaces": ["*"]}
            self.kube.put(PROVIDER_CONFIG.path, name, "platform", spec=spec, status={"account": account})

    def owns(self) -> None:
        """Let the claim tell that there is an object."""
        (claim,) = [body for (plural, _, _), body in self.kube.objects.items() if plural == CLAIM.path.plural]
        now = "2026-11-30T12:00:00Z"
        claim["spec"]["evidence"] = {"how": "created", "createdOn": now, "role": "R", "time": now}

    async def move(self, to: str) -> Verdict:
        spec = {"name": "ANALYTICS", "providerRef": {"name": to, "namespace": "platform"}}
        return await self.ask("Database", "a", "db", spec, old={"name": "ANALYTICS"})


@pytest.mark.parametrize(
    ("to", "owns", "outcome"),
    [
        ("elsewhere", True, Outcome.DENIED),
        ("elsewhere", False, Outcome.ALLOWED),
        ("rotated", True, Outcome.ALLOWED),
    ],
)
async def test_what_owns_an_object_is_not_pointed_to_another_account(to: str, owns: bool, outcome: Outcome) -> None:
    world = Moving()
    await world.database("a")
    if owns:
        world.owns()
    verdict = await world.move(to)
    assert verdict.outcome is outcome
    if outcome is Outcome.DENIED:
        assert verdict.cause == "IdentityChanged"
        assert verdict.message == (
            'Database a/db owns "ANALYTICS" in account ACME.PROD (AWS_EU_CENTRAL_1.AB12345), and providerRef would '
            "lead to account ACME.TEST (R.OTHER): leave it as it is, or delete the resource and apply it again"
        )
        assert len(world.claims) == 1


async def test_what_another_resource_owns_pins_nobody_else() -> None:
    world = Moving()
    await world.database("b")
    world.owns()
    assert (await world.move("elsewhere")).outcome is Outcome.ALLOWED


async def test_a_confirmation_of_deletions_that_cannot_be_read_is_warned_of(world: World) -> None:
    spec = {"authenticationType": "KeyPair", "account": "ACME-PROD", "user": "U"}
    verdict = await world.ask("ProviderConfig", "a", "p", spec, annotations={CONFIRMED_UNTIL: "tomorrow"})
    assert verdict.outcome is Outcome.ALLOWED
    assert f"annotation {CONFIRMED_UNTIL} is 'tomorrow', which is no time" in verdict.warnings[-1]


async def test_an_account_that_is_not_proven_claims_nothing(world: World) -> None:
    world.provider(verified=False)
    verdict = await world.database("a")
    assert verdict.outcome is Outcome.UNDECIDED
    assert "ProviderConfig platform/default has not logged in to its account yet" in verdict.message
    assert world.claims == {}


@pytest.mark.parametrize(
    ("lists", "kind", "spec", "field"),
    [
        ({"allowedNamespaces": ["b"]}, "Database", {"name": "D"}, "allowedNamespaces"),
        ({"allowedKinds": ["Schema"]}, "Database", {"name": "D"}, "allowedKinds"),
        ({"allowedDatabases": ["X"]}, "Database", {"name": "D"}, "allowedDatabases"),
        ({"allowedDatabases": ["X"]}, "Schema", {"name": "S", "databaseName": "D"}, "allowedDatabases"),
        ({"allowedSchemas": ["X"]}, "Schema", {"name": "S", "databaseName": "D"}, "allowedSchemas"),
        ({}, "Database", {"name": "D", "useRole": "ACCOUNTADMIN"}, "allowedRoles"),
    ],
)
async def test_what_the_provider_does_not_allow_is_denied(
    world: World, lists: dict[str, Any], kind: str, spec: dict[str, Any], field: str
) -> None:
    world.provider(**lists)
    verdict = await world.ask(kind, "a", "x", spec)
    assert verdict.outcome is Outcome.DENIED
    assert f"{field} of ProviderConfig platform/default" in verdict.message
    assert world.claims == {}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"finalizeRef": {"name": "root"}}, "finalizeRef"),
        ({"after": [{"name": "B"}, {"ref": {"name": "root"}}]}, "after[1].ref"),
    ],
)
async def test_what_must_lie_beside_an_object_is_refused_elsewhere(
    world: World, given: dict[str, Any], field: str
) -> None:
    def task(schema: str) -> dict[str, Any]:
        return {"databaseName": "D", "schemaName": schema, "name": "T", "sqlStatement": "SELECT 1"}

    assert (await world.ask("Task", "a", "x", task("S") | given)).outcome is Outcome.ALLOWED
    path = KINDS["Task"].resource.path
    provider = {"providerRef": {"name": "default", "namespace": "platform"}}
    world.kube.put(path, "root", "a", spec={**provider, **task("ELSEWHERE")})
    verdict = await world.ask("Task", "a", "y", task("R") | given)
    assert verdict.outcome is Outcome.DENIED
    assert f"Task a/root in spec.{field} lies in schema" in verdict.message
    assert '"D"."ELSEWHERE", and not in "D"."R"' in verdict.message
    assert not [each for each in world.claims if '"R"' in each]
    # Whoever mends something else of it isn't held up.
    changed = await world.ask("Task", "a", "x", task("S") | given | {"comment": "c"}, old=task("S") | given)
    assert changed.outcome is Outcome.ALLOWED
    assert any("ELSEWHERE" in each for each in changed.warnings)
    world.kube.put(path, "root", "a", spec={**provider, **task("R")})
    assert (await world.ask("Task", "a", "y", task("R") | given)).outcome is Outcome.ALLOWED


@pytest.mark.parametrize(("allowed", "outcome"), [([], Outcome.DENIED), (["ACCOUNTADMIN"], Outcome.ALLOWED)])
async def test_only_the_installation_opens_the_way_to_a_privileged_role(
    world: World, allowed: list[str], outcome: Outcome
) -> None:
    world.provider(allowedRoles=["*"])
    world.admission = Admission(world.store, live(world.kube), allowed_hosts=[], allowed_privileged_roles=allowed)
    verdict = await world.ask("Database", "a", "x", {"name": "D", "useRole": "ACCOUNTADMIN"})
    assert verdict.outcome is outcome
    assert len(world.claims) == len(allowed)


async def test_what_the_provider_does_not_allow_is_denied_before_a_log_in(world: World) -> None:
    world.provider(verified=False, allowedKinds=["Schema"])
    assert (await world.database("a")).outcome is Outcome.DENIED


async def test_namespaces_are_selected_by_their_labels(world: World) -> None:
    world.provider(allowedNamespaces=None, allowedNamespaceSelector={"matchLabels": {"tenant": "yes"}})
    world.kube.put(NAMESPACES, "a", metadata={"labels": {"tenant": "yes"}})
    world.kube.put(NAMESPACES, "b")
    assert (await world.database("a")).outcome is Outcome.ALLOWED
    assert (await world.database("b", "OTHER")).outcome is Outcome.DENIED


async def test_a_resource_that_lost_its_permission_can_still_be_paused(world: World) -> None:
    world.stored("a")
    world.provider(allowedKinds=["Schema"])
    verdict = await world.ask("Database", "a", "db", {"name": "ANALYTICS", "paused": True}, old={"name": "ANALYTICS"})
    assert verdict.outcome is Outcome.ALLOWED
    assert any("allowedKinds" in warning for warning in verdict.warnings)


async def test_a_field_that_only_recreation_can_change_is_refused_with_both_values(world: World) -> None:
    verdict = await world.ask("Database", "a", "db", TRANSIENT, old={"name": "ANALYTICS"})
    assert verdict.outcome is Outcome.DENIED
    assert "spec.transient can't change from not set to true" in verdict.message
    assert f"freehold.dev/force-new: {ORDER}" in verdict.message


@pytest.mark.parametrize(("order", "outcome"), [(ORDER, Outcome.ALLOWED), ("true", Outcome.DENIED)])
async def test_a_recreation_is_admitted_when_the_same_object_orders_it_for_exactly_this_spec(
    world: World, order: str, outcome: Outcome
) -> None:
    annotations = {"freehold.dev/force-new": order}
    verdict = await world.ask("Database", "a", "db", TRANSIENT, old={"name": "ANALYTICS"}, annotations=annotations)
    assert verdict.outcome is outcome
    assert verdict.outcome is Outcome.DENIED or any("dropped and created again" in each for each in verdict.warnings)


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ({"droppedColumns": ["B"]}, {}, Outcome.ALLOWED),
        ({"droppedColumns": ["B"]}, {"droppedColumns": ["B", "C"]}, Outcome.ALLOWED),
        ({}, {"columns": [{"name": "A", "type": "INT; X"}]}, Outcome.DENIED),
        ({"columns": [{"name": "A", "type": "INT; X"}]}, {}, Outcome.ALLOWED),
        ({"columns": [{"name": "A", "type": "INT; X"}]}, {"columns": [{"name": "A", "type": "X;"}]}, Outcome.DENIED),
        ({"columns": [{"name": "A", "type": "INT; X"}]}, {"comment": "c"}, Outcome.ALLOWED),
    ],
)
async def test_every_change_of_a_table_is_decided_about_whatever_was_wrong_before(
    world: World, before: dict[str, Any], after: dict[str, Any], outcome: Outcome
) -> None:
    spec = {"databaseName": "D", "schemaName": "S", "name": "T", "columns": [{"name": "A", "type": "INT"}]}
    verdict = await world.ask("Table", "a", "t", {**spec, **after}, old={**spec, **before})
    assert verdict.outcome is outcome
    assert not any("internal error" in each for each in verdict.warnings)


@pytest.mark.parametrize("stalled", [False, True])
async def test_who_takes_a_refused_change_back_is_not_warned_of_a_change_that_was_never_made(
    world: World, stalled: bool
) -> None:
    spec = {"databaseName": "D", "schemaName": "S", "name": "T"}
    told = {
        "type": "Stalled",
        "status": "True",
        "reason": "R",
        "message": "m",
        "lastTransitionTime": "2026-11-30T12:00:00Z",
    }
    verdict = await world.ask(
        "Table",
        "a",
        "t",
        {**spec, "columns": [{"name": "A", "type": "VARCHAR(10)"}]},
        old={**spec, "columns": [{"name": "A", "type": "VARCHAR(20)"}]},
        status={"conditions": [told]} if stalled else None,
    )
    assert any("columns[A].type" in each for each in verdict.warnings) is not stalled


async def test_a_value_that_no_statement_can_hold_is_refused(world: World) -> None:
    spec = {"name": "W", "warehouseType": "INTERACTIVE", "tables": ["a..b"]}
    verdict = await world.ask("Warehouse", "a", "w", spec)
    assert verdict.outcome is Outcome.DENIED
    assert verdict.message == "spec.tables: not a dotted name: 'a..b'"
    assert world.claims == {}


async def test_what_is_likely_wrong_is_warned_about(world: World) -> None:
    verdict = await world.database("a", "analytics")
    assert verdict.outcome is Outcome.ALLOWED
    assert any("double quotes" in warning for warning in verdict.warnings)


async def test_a_data_type_that_may_be_misspelt_is_warned_of(world: World) -> None:
    columns = [{"name": "A", "type": "NUMBRE"}, {"name": "B", "type": "DATE"}]
    table = {"name": "T", "databaseName": "D", "schemaName": "S", "columns": columns}
    verdict = await world.ask("Table", "a", "t", table)
    assert verdict.outcome is Outcome.ALLOWED
    assert [each.partition(":")[0] for each in verdict.warnings] == ["spec.columns[0].type"]


async def test_a_refusal_rests_on_live_reads(world: World) -> None:
    """A copy that is behind must not cost anybody an answer: its database was renamed (deleted and applied again)."""
    await world.ask("Schema", "b", "s", {"name": "S", "databaseName": "OLD"})
    world.stored("a", "OLD")
    copy = await live(world.kube)(DATABASE, "a", "db")
    assert copy is not None
    world.copies["databases", "a", "db"] = copy
    world.stored("a", "NEW")
    verdict = await world.ask("Schema", "a", "s", {"name": "S", "databaseRef": {"name": "db"}})
    assert verdict.outcome is Outcome.ALLOWED
    assert world.claims == {'"OLD"."S"': "Schema b/s", '"NEW"."S"': "Schema a/s"}


async def test_a_refusal_contests_the_claim_once(world: World) -> None:
    def refused() -> float:
        return REGISTRY.get_sample_value("freehold_admission_claims_total", {"outcome": "refused"}) or 0.0

    await world.database("b")
    world.stored("b")
    before = refused()
    assert (await world.database("a")).outcome is Outcome.DENIED
    assert refused() == before + 1


async def test_a_provider_that_has_just_logged_in_is_seen(world: World) -> None:
    world.copies["providerconfigs", "platform", "default"] = world.provider(verified=False)
    world.provider()
    assert (await world.database("a")).outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


async def test_an_api_server_that_does_not_answer_leaves_it_undecided(world: World) -> None:
    def fail(verb: str, _plural: str, _name: str) -> None:
        if verb == "create":
            raise Unavailable(0, "", "connection lost")

    world.kube.before = fail
    verdict = await world.database("a")
    assert verdict.outcome is Outcome.UNDECIDED
    assert "connection lost" in verdict.message


async def test_the_time_that_a_decision_may_take_is_bounded(world: World) -> None:
    async def never(_path: GroupResource, _namespace: str, _name: str) -> Object | None:
        await asyncio.Event().wait()
        return None

    world.admission = Admission(world.store, never, allowed_hosts=[], budget=0.01)
    verdict = await world.database("a")
    assert verdict.outcome is Outcome.UNDECIDED
    assert "didn't answer within 0.01 s" in verdict.message


async def test_a_spec_of_another_release_is_admitted_with_a_warning(world: World) -> None:
    verdict = await world.ask("Database", "a", "db", {"name": "ANALYTICS", "fromTheFuture": 1})
    assert verdict.outcome is Outcome.UNDECIDED
    assert "fromTheFuture" in verdict.message


async def test_a_spec_that_could_not_be_read_can_be_mended(world: World) -> None:
    verdict = await world.database("a", old={"name": "ANALYTICS", "fromThePast": 1})
    assert verdict.outcome is Outcome.ALLOWED
    assert world.claims == {'"ANALYTICS"': "Database a/db"}


async def test_a_fault_of_ours_stops_nobody(world: World) -> None:
    def fail(_verb: str, _plural: str, _name: str) -> None:
        raise ZeroDivisionError

    world.kube.before = fail
    assert (await world.database("a")).outcome is Outcome.UNDECIDED


async def test_a_terminating_resource_is_let_go_whatever_it_says(world: World) -> None:
    """An update that only removes a finalizer must pass, though the spec may be invalid by now."""
    old = {"name": "ANALYTICS", "fromThePast": 1}
    verdict = await world.ask("Database", "a", "db", {"name": "A"}, old=old, deletionTimestamp="2026-11-30T12:00:00Z")
    assert verdict.outcome is Outcome.ALLOWED
    assert world.kube.writes == []


async def test_a_terminating_resource_gets_no_other_provider_than_one_that_lets_it_in(world: World) -> None:
    """Its DROP would be sent with the rights of that."""
    spec = {"authenticationType": "KeyPair", "role": "MIGHTY"}
    world.kube.put(PROVIDER_CONFIG.path, "mighty", "platform", spec=spec, status={"account": dict(ACCOUNT)})
    given = {"name": "ANALYTICS", "providerRef": {"name": "mighty", "namespace": "platform"}}
    old = {"name": "ANALYTICS"}
    verdict = await world.ask("Database", "a", "db", given, old=old, deletionTimestamp="2026-11-30T12:00:00Z")
    assert verdict.outcome is Outcome.DENIED
    assert verdict.cause == "NamespaceNotAllowed"


async def test_an_update_that_leaves_the_spec_alone_is_not_looked_at(world: World) -> None:
    world.provider(verified=False)
    assert (await world.database("a", old={"name": "ANALYTICS"})).outcome is Outcome.ALLOWED


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (None, Outcome.ALLOWED),
        ("acme-prod.privatelink.snowflakecomputing.com", Outcome.ALLOWED),
        ("evil.example", Outcome.DENIED),
    ],
)
async def test_a_provider_points_only_where_the_installation_lets_it(
    world: World, host: str | None, expected: Outcome
) -> None:
    spec = {"account": "ACME-PROD", "authenticationType": "KeyPair", **({"host": host} if host else {})}
    verdict = await world.ask("ProviderConfig", "a", "default", spec)
    assert verdict.outcome is expected
    if expected is Outcome.DENIED:
        assert "allowedHosts" in verdict.message


CLIENT = {
    "account": "ACME-PROD",
    "authenticationType": "OAuthClientCredentials",
    "oauth": {
        "clientId": "freehold",
        "clientSecretRef": {"name": "snowflake", "key": "client_secret"},
        "tokenRequestURL": "https://evil.example/token",
    },
}
PROXIED = {"account": "ACME-PROD", "authenticationType": "KeyPair", "proxy": {"host": "evil.example", "port": 80}}


@pytest.mark.parametrize(("spec", "field"), [(CLIENT, "oauth.tokenRequestURL"), (PROXIED, "proxy.host")])
async def test_a_foreign_token_url_or_proxy_is_denied_and_where_it_was_before_warned_of(
    world: World, spec: dict[str, Any], field: str
) -> None:
    verdict = await world.ask("ProviderConfig", "a", "default", spec)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.HOST)
    assert f"spec.{field}: host evil.example" in verdict.message
    kept = await world.ask("ProviderConfig", "a", "default", spec | {"role": "R"}, old=spec)
    assert kept.outcome is Outcome.ALLOWED
    assert any(field in warning for warning in kept.warnings)


@pytest.mark.parametrize(("namespace", "outcome"), [("freehold", Outcome.ALLOWED), ("a", Outcome.DENIED)])
async def test_only_listed_namespaces_log_in_as_the_installation_itself(
    world: World, namespace: str, outcome: Outcome
) -> None:
    hosts = [".snowflakecomputing.com"]
    world.admission = Admission(
        world.store, live(world.kube), allowed_hosts=hosts, workload_identity_namespaces=["freehold"]
    )
    spec = {"account": "ACME-PROD", "authenticationType": "WorkloadIdentity"}
    verdict = await world.ask("ProviderConfig", namespace, "p", spec)
    assert verdict.outcome is outcome
    assert (verdict.cause == Cause.WORKLOAD_IDENTITY) is (outcome is Outcome.DENIED)
    kept = await world.ask("ProviderConfig", namespace, "p", spec | {"role": "R"}, old=spec)
    assert kept.outcome is Outcome.ALLOWED


async def test_pausing_is_admitted_even_where_the_spec_cannot_be_read(world: World) -> None:
    unreadable = {"name": "a\0b", "of": "another release"}
    paused = await world.ask("Database", "a", "x", {**unreadable, "paused": True}, old=unreadable)
    assert paused.outcome is Outcome.ALLOWED
    assert any("can't read its spec" in warning for warning in paused.warnings)
    resumed = await world.ask("Database", "a", "x", unreadable, old={**unreadable, "paused": True})
    assert resumed.cause == Cause.UNREADABLE_SPEC
    more = await world.ask("Database", "a", "x", {**unreadable, "paused": True, "name": "B"}, old=unreadable)
    assert more.cause == Cause.UNREADABLE_SPEC


async def test_a_spec_that_was_at_fault_before_can_still_be_paused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freehold.validation.faults", lambda _kind, _spec: ("spec.comment: impossible",))
    refused = await world.database("a")
    assert (refused.outcome, refused.cause) == (Outcome.DENIED, Cause.INVALID)
    verdict = await world.ask("Database", "a", "db", {"name": "ANALYTICS", "paused": True}, old={"name": "ANALYTICS"})
    assert verdict.outcome is Outcome.ALLOWED
    assert "spec.comment: impossible" in verdict.warnings


async def test_a_provider_that_gives_much_away_is_admitted_with_a_warning(world: World) -> None:
    verdict = await world.ask("ProviderConfig", "a", "p", {"authenticationType": "KeyPair", "role": "ACCOUNTADMIN"})
    assert verdict.outcome is Outcome.ALLOWED
    assert any("privileged" in warning for warning in verdict.warnings)


async def test_a_provider_that_was_admitted_before_can_still_be_changed(world: World) -> None:
    old = {"authenticationType": "KeyPair", "host": "old.example"}
    assert (await world.ask("ProviderConfig", "a", "p", old | {"role": "R"}, old=old)).outcome is Outcome.ALLOWED
    assert (await world.ask("ProviderConfig", "a", "p", old | {"port": 1}, old=old)).outcome is Outcome.DENIED


async def test_kinds_that_are_not_ours_are_none_of_our_business(world: World) -> None:
    resource = Object({"metadata": {"name": "x"}, "spec": {}})
    for group, kind, sub_resource in (
        ("snowflake.freehold.dev", "Spaceship", ""),
        ("example.com", "Database", ""),
        (DATABASE.group, "Database", "status"),
    ):
        request = Request("7", "CREATE", group, kind, "a", sub_resource, "jane", False, resource, None)
        assert (await world.admission.review(request)).outcome is Outcome.ALLOWED


FUNCTION = {"databaseName": "D", "schemaName": "S", "name": "F", "returns": "NUMBER", "body": "1"}
OF_NUMBER = {**FUNCTION, "arguments": [{"name": "X", "type": "NUMBER"}]}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([{"name": "X", "type": "VARCHAR"}], "from (NUMBER) to (VARCHAR)"),
        ([{"name": "X", "type": "NUMBER"}, {"name": "Y", "type": "DATE"}], "from (NUMBER) to (NUMBER, DATE)"),
        (None, "from (NUMBER) to ()"),
    ],
)
async def test_a_routine_of_other_argument_types_is_another_one(
    world: World, arguments: list[dict[str, str]] | None, told: str, *, ordered: bool
) -> None:
    kind = KINDS["FunctionSQL"]
    provider = {"providerRef": {"name": "default", "namespace": "platform"}}
    new = {**FUNCTION, **({"arguments": arguments} if arguments else {})}
    order = fingerprint.spec_hash(kind, kind.spec.model_validate({**provider, **new}))
    annotations = {"freehold.dev/force-new": order} if ordered else {}
    verdict = await world.ask("FunctionSQL", "a", "f", new, old=OF_NUMBER, annotations=annotations)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.IDENTITY_CHANGED)
    assert told in verdict.message
    assert "in a resource of its own" in verdict.message
    assert "force-new" not in verdict.message


async def test_another_spelling_of_the_types_of_arguments_is_none(world: World) -> None:
    for type_ in ("NUMBER(10, 2)", "DECIMAL", "int"):
        new = {**FUNCTION, "arguments": [{"name": "X", "type": type_}]}
        assert (await world.ask("FunctionSQL", "a", "f", new, old=OF_NUMBER)).outcome is Outcome.ALLOWED


async def test_another_name_of_an_argument_takes_the_same_function_anew(world: World) -> None:
    new = {**FUNCTION, "arguments": [{"name": "Y", "type": "NUMBER"}]}
    verdict = await world.ask("FunctionSQL", "a", "f", new, old=OF_NUMBER)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.IMMUTABLE_FIELD)
    assert "freehold.dev/force-new" in verdict.message
