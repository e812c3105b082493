"""Admission claims whatever a kind stands for: objects of one name space, overloads, slots, several at once."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.claim_rules import HAND_OVER_ANNOTATION
from freehold.claim_store import ClaimStore
from freehold.claims import ClaimSpec
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Object
from freehold.resolve import live
from freehold_webhook.admission import Admission
from freehold_webhook.review import Cause, Outcome, Request, Verdict
from tests.harness.declarations import (
    ALL_KINDS,
    FUNCTION,
    GRANT,
    MASKING_POLICY,
    OWNERSHIP,
    POLICY_ATTACHMENT,
    ROLE_ASSIGNMENT,
    TABLE,
    TASK,
    VIEW,
)
from tests.harness.memory import MemoryKube

pytestmark = pytest.mark.usefixtures("all_kinds")

AT: dict[str, Any] = {"databaseName": "D", "schemaName": "S"}


class World:
    """An API server with a verified ProviderConfig for all namespaces, a Schema platform/s, and admission."""

    def __init__(self) -> None:
        self.kube = MemoryKube()
        spec = {"authenticationType": "KeyPair", "allowedNamespaces": ["*"]}
        account = {"key": "R.A", "name": "O.A"}
        self.kube.put(PROVIDER_CONFIG.path, "default", "platform", spec=spec, status={"account": account})
        schema = ALL_KINDS["Schema"].resource.path
        self.kube.put(schema, "s", "platform", spec={"name": "S", "databaseName": "D"})
        self.admission = Admission(ClaimStore(self.kube), live(self.kube), allowed_hosts=[])

    async def apply(
        self, kind: Kind, namespace: str, *, old: dict[str, Any] | None = None, dry_run: bool = False, **spec: Any
    ) -> Verdict:
        """Ask for a resource `x`, or its update when there is an old spec, and store it when it is allowed."""
        path = kind.resource.path
        provider = {"providerRef": {"name": "default", "namespace": "platform"}}
        body = {**provider, **spec}

        def resource(of: dict[str, Any]) -> Object:
            metadata = {"name": "x", "namespace": namespace, "uid": namespace}
            return Object({"apiVersion": path.api_version, "kind": kind.name, "metadata": metadata, "spec": of})

        verdict = await self.admission.review(
            Request(
                uid="7",
                operation="CREATE" if old is None else "UPDATE",
                group=path.group,
                kind=kind.name,
                namespace=namespace,
                sub_resource="",
                user="jane",
                dry_run=dry_run,
                object=resource(body),
                old=None if old is None else resource({**provider, **old}),
            )
        )
        if verdict.outcome is Outcome.ALLOWED and not dry_run:
            self.kube.put(path, "x", namespace, spec=body)
        return verdict

    @property
    def claims(self) -> dict[str, str]:
        """FQN to namespace of the holder."""
        stored = [body["spec"] for (plural, _, _), body in self.kube.objects.items() if plural == "claims"]
        specs = [ClaimSpec.model_validate(each) for each in stored]
        return {spec.identity.fqn: spec.holder.namespace for spec in specs}


@pytest.fixture
def world() -> World:
    return World()


async def test_a_view_cannot_have_the_name_of_a_table(world: World) -> None:
    assert (await world.apply(TABLE, "a", name="X", **AT)).outcome is Outcome.ALLOWED
    assert (await world.apply(VIEW, "b", name="X", **AT)).outcome is Outcome.DENIED


async def test_overloads_have_their_owners_and_spellings_of_one_do_not(world: World) -> None:
    async def function(namespace: str, type_: str) -> Outcome:
        arguments = [{"name": "N", "type": type_}]
        return (await world.apply(FUNCTION, namespace, name="F", arguments=arguments, **AT)).outcome

    assert await function("a", "INT") is Outcome.ALLOWED
    assert await function("b", "TEXT") is Outcome.ALLOWED
    assert await function("c", "NUMBER(10,2)") is Outcome.DENIED
    assert await function("c", "VARCHAR(10)") is Outcome.DENIED
    assert world.claims == {'"D"."S"."F"(NUMBER)': "a", '"D"."S"."F"(VARCHAR)': "b"}


async def test_what_is_no_data_type_is_denied_with_what_to_write_instead(world: World) -> None:
    verdict = await world.apply(FUNCTION, "a", name="F", arguments=[{"name": "N", "type": "TIMESTAMP"}], **AT)
    assert verdict.outcome is Outcome.DENIED
    assert "TIMESTAMP_NTZ" in verdict.message


@pytest.mark.parametrize(
    ("kind", "spec", "fault"),
    [
        (TASK, {"name": "T", "schedule": "1 DAY", **AT}, "spec.schedule: '1 DAY' is no schedule"),
        (TASK, {"name": "T", "after": ["D.S.ROOT", "a..b"], **AT}, "spec.after[1]: not a dotted name: 'a..b'"),
        (
            GRANT,
            {"privileges": ["SELECT"], "schemaRef": {"name": "s"}, "roleName": "R"},
            "spec.privileges[0]: SELECT can't be granted on SCHEMA",
        ),
        (MASKING_POLICY, {"name": "P", "body": "val; DROP TABLE t", **AT}, "spec.body: ; in line 1 ends an expression"),
        (
            MASKING_POLICY,
            {"name": "P", "body": "val EXEMPT_OTHER_POLICIES = TRUE", **AT},
            "spec.body: EXEMPT_OTHER_POLICIES = in line 1 isn't part of an expression",
        ),
    ],
)
async def test_what_no_statement_can_hold_is_denied_whatever_else_is_known(
    world: World, kind: Kind, spec: dict[str, Any], fault: str
) -> None:
    world.kube.remove(PROVIDER_CONFIG.path, "default", "platform")
    verdict = await world.apply(kind, "a", **spec)
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, Cause.INVALID)
    assert fault in verdict.message


async def test_a_policy_whose_strings_and_comments_hold_what_would_be_unsafe_elsewhere_is_admitted(
    world: World,
) -> None:
    body = "CASE WHEN CURRENT_ROLE() = 'DROP TABLE t; --' THEN val ELSE $$;$$ END -- GRANT ;"
    assert (await world.apply(MASKING_POLICY, "a", name="P", body=body, **AT)).outcome is Outcome.ALLOWED


async def test_a_privilege_that_may_be_misspelt_is_warned_of(world: World) -> None:
    reference = {"name": "s", "namespace": "platform"}
    verdict = await world.apply(GRANT, "a", privileges=["SELEKT"], schemaRef=reference, tableName="T", roleName="R")
    assert verdict.outcome is Outcome.ALLOWED
    assert any("SELEKT on TABLE" in warning for warning in verdict.warnings)


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_grant_is_claimed_whole_or_not_at_all(world: World, *, dry_run: bool) -> None:
    async def grant(namespace: str, *privileges: str, dry_run: bool = False) -> Verdict:
        reference = {"name": "s", "namespace": "platform"}
        return await world.apply(
            GRANT, namespace, dry_run=dry_run, privileges=privileges, schemaRef=reference, tableName="T", roleName="R"
        )

    assert (await grant("a", "SELECT")).outcome is Outcome.ALLOWED
    verdict = await grant("b", "DELETE", "INSERT", "SELECT", "UPDATE", dry_run=dry_run)
    assert verdict.outcome is Outcome.DENIED
    assert 'SELECT ON TABLE "D"."S"."T" TO ROLE "R"' in verdict.message
    assert world.claims == {'SELECT ON TABLE "D"."S"."T" TO ROLE "R"': "a"}
    assert (await grant("c", "DELETE", "INSERT")).outcome is Outcome.ALLOWED


async def test_a_place_holds_one_policy_whichever_it_is(world: World) -> None:
    assert (await world.apply(POLICY_ATTACHMENT, "a", policyName="P")).outcome is Outcome.ALLOWED
    assert (await world.apply(POLICY_ATTACHMENT, "b", policyName="Q")).outcome is Outcome.DENIED
    assert (await world.apply(POLICY_ATTACHMENT, "b", policyName="Q", userName="U")).outcome is Outcome.ALLOWED


async def test_a_privileged_role_is_assigned_to_nobody(world: World) -> None:
    verdict = await world.apply(ROLE_ASSIGNMENT, "a", roleName="ACCOUNTADMIN", userName="U")
    assert verdict.outcome is Outcome.DENIED
    assert 'privileged role "ACCOUNTADMIN"' in verdict.message
    assert world.claims == {}


ON_ACCOUNT = {"onAccount": True, "privileges": ["MANAGE GRANTS"]}


@pytest.mark.parametrize(
    ("kind", "spec", "denied"),
    [
        ("AccountRoleAssignment", {"roleName": "ACCOUNTADMIN", "toUser": "U"}, True),
        ("AccountRoleAssignment", {"roleName": "R", "toRole": "SECURITYADMIN"}, True),
        ("AccountRoleAssignment", {"roleRef": {"name": "admin", "namespace": "platform"}, "toUser": "U"}, True),
        ("AccountRoleAssignment", {"roleName": "R", "toRoleRef": {"name": "admin", "namespace": "platform"}}, True),
        ("AccountRoleAssignment", {"roleName": "R", "toUser": "U", "useRole": "ACCOUNTADMIN"}, True),
        ("AccountRoleAssignment", {"roleName": "accountadmin", "toUser": "ACCOUNTADMIN"}, False),
        ("DatabaseRoleAssignment", {"databaseRole": "D.R", "toRole": "ORGADMIN"}, True),
        ("DatabaseRoleAssignment", {"databaseRole": "D.ACCOUNTADMIN", "toRole": "R"}, False),
        ("GrantPrivilegesToAccountRole", {"accountRole": "R", **ON_ACCOUNT}, True),
        ("GrantPrivilegesToAccountRole", {"accountRole": "R", **ON_ACCOUNT, "privileges": ["MANAGE  GRANTS "]}, True),
        ("GrantPrivilegesToAccountRole", {"accountRole": "R", **ON_ACCOUNT, "privileges": ["AUDIT"]}, False),
        ("GrantPrivilegesToAccountRole", {"accountRole": "ACCOUNTADMIN", **ON_ACCOUNT, "privileges": ["AUDIT"]}, True),
        (
            "GrantPrivilegesToAccountRole",
            {"accountRoleRef": {"name": "admin", "namespace": "platform"}, **ON_ACCOUNT, "privileges": ["AUDIT"]},
            True,
        ),
    ],
)
async def test_no_spelling_leads_to_a_privileged_role(
    world: World, kind: str, spec: dict[str, Any], denied: bool
) -> None:
    """An AccountRole of such a name may be there from before the rules of the CRD, or where these were removed."""
    world.kube.put(KINDS["AccountRole"].resource.path, "admin", "platform", spec={"name": "ACCOUNTADMIN"})
    provider = world.kube.objects[PROVIDER_CONFIG.path.plural, "platform", "default"]
    provider["spec"]["allowedRoles"] = ["*"]
    verdict = await world.apply(KINDS[kind], "a", **spec)
    assert verdict.outcome is (Outcome.DENIED if denied else Outcome.ALLOWED)
    assert (verdict.cause == "PrivilegedRoleNotAllowed") is denied
    assert bool(world.claims) is not denied


async def test_what_could_not_be_named_before_can_be_changed_and_mended(world: World) -> None:
    unnamed: dict[str, Any] = {"tableName": "a..b", "roleName": "R"}
    assert (await world.apply(OWNERSHIP, "a", **unnamed)).cause == Cause.INVALID
    changed = await world.apply(
        OWNERSHIP, "a", old=unnamed, **unnamed, managementPolicies={"driftPolicy": "detect-only"}
    )
    assert changed.outcome is Outcome.ALLOWED
    assert changed.warnings == ("not a dotted name: 'a..b'",)
    assert (await world.apply(OWNERSHIP, "a", old=unnamed, tableName="a.", roleName="R")).cause == Cause.INVALID
    mended = await world.apply(OWNERSHIP, "a", old=unnamed, tableName="a.b.c", roleName="R")
    assert mended.outcome is Outcome.ALLOWED
    assert world.claims == {'OWNERSHIP ON TABLE "A"."B"."C"': "a"}


async def test_the_heir_of_a_resource_is_admitted_and_nobody_else(world: World) -> None:
    await world.apply(TABLE, "a", name="X", **AT)
    holder = world.kube.objects[TABLE.resource.path.plural, "a", "x"]
    holder["metadata"]["annotations"] = {HAND_OVER_ANNOTATION: "b/x"}
    assert (await world.apply(TABLE, "c", name="X", **AT)).outcome is Outcome.DENIED
    heir = await world.apply(TABLE, "b", name="X", **AT)
    assert heir.outcome is Outcome.ALLOWED
    assert any("comes over from a Table in another namespace" in warning for warning in heir.warnings)
    assert world.claims == {'"D"."S"."X"': "a"}


@pytest.mark.parametrize("schema", ["s", "absent"])
async def test_of_what_may_not_be_referred_to_not_even_the_absence_is_told(world: World, schema: str) -> None:
    config = world.kube.objects[PROVIDER_CONFIG.path.plural, "platform", "default"]
    config["spec"]["allowedRefNamespaces"] = ["shared"]
    reference = {"name": schema, "namespace": "platform"}
    verdict = await world.apply(GRANT, "a", privileges=["USAGE"], schemaRef=reference, roleName="R")
    assert (verdict.outcome, verdict.cause) == (Outcome.DENIED, "RefNamespaceNotAllowed")
    assert "spec.schemaRef" in verdict.message
    assert "exist" not in verdict.message
    assert world.claims == {}
