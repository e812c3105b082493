"""Privileges of account roles."""

from __future__ import annotations

from collections.abc import Mapping

from freehold import slots
from freehold.kinds import grants
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import immutable, ref
from freehold.kinds.grants import GrantSpec, OnAccountObject, OnSchema, OnSchemaObject, Securable
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import Rule, exactly_one


class GrantPrivilegesToAccountRoleSpec(GrantSpec):
    """Privileges on the account, or on an object, or on objects to come, that an account role has."""

    account_role: Name | None = immutable()
    """Stored name of the role."""
    account_role_ref: Reference | None = ref("AccountRole", instead_of="account_role", parent=True)
    """The AccountRole, in place of its name."""
    on_account: bool | None = immutable()
    """Whether they are on the account itself."""
    on_account_object: OnAccountObject | None = immutable()
    """The object of the account that they are on."""
    on_schema: OnSchema | None = immutable()
    """The schema that they are on, or the schemas to come."""
    on_schema_object: OnSchemaObject | None = immutable()
    """The object in a schema that they are on, or the objects to come."""


def _grants(spec: GrantPrivilegesToAccountRoleSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    securable = yield from _securable(spec, namespace, kinds)
    role = yield from named_in(spec, "account_role", namespace, kinds)
    return grants.granted(spec, securable, slots.of("ROLE", *role))


def _securable(spec: GrantPrivilegesToAccountRoleSpec, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    if spec.on_account_object is not None:
        return slots.of(spec.on_account_object.object_type, spec.on_account_object.object_name)
    if spec.on_schema is not None:
        return (yield from grants.schema(spec.on_schema, namespace, kinds))
    if spec.on_schema_object is not None:
        return (yield from grants.in_schema(spec.on_schema_object, namespace, kinds))
    return slots.ACCOUNT


def _type(spec: GrantPrivilegesToAccountRoleSpec) -> str:
    """The type of object whose privileges they are."""
    if spec.on_account_object is not None:
        return spec.on_account_object.object_type
    return "ACCOUNT" if spec.on_account else grants.type_in_schema(spec.on_schema_object)


GRANT_PRIVILEGES_TO_ACCOUNT_ROLE = Kind(
    spec=GrantPrivilegesToAccountRoleSpec,
    domain=Domain.ACCOUNT,
    object_type="GRANT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("gpar",),
    slots=_grants,
    filling=grants.FILLING,
    rules=(
        exactly_one("privileges", "allPrivileges"),
        exactly_one("accountRole", "accountRoleRef"),
        exactly_one("onAccount", "onAccountObject", "onSchema", "onSchemaObject"),
        Rule("!has(self.onAccount) || self.onAccount", "onAccount is true or left out", "onAccount"),
    ),
    faults=lambda spec: tuple(grants.faults(spec, _type(spec))),
    advice=lambda spec: grants.advice(spec, _type(spec)),
)
