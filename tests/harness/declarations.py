"""Kinds that stand for every class of identity, whether or not a release has such kinds: declared as real ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pydantic import Field

from freehold import bodies, datatypes, privileges, schedules, slots
from freehold.identifiers import InvalidName, split
from freehold.identity import Slot
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import checked, prop, ref
from freehold.kinds.in_schema import InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level, Requested, Slots, parts_of
from freehold.kinds.registry import KINDS


class TableSpec(InSchemaSpec):
    """A table."""


class ViewSpec(InSchemaSpec):
    """A view."""

    statement: str = checked(bodies.query, default="SELECT 1")


class MaskingPolicySpec(InSchemaSpec):
    """A masking policy."""

    body: str = checked(partial(bodies.expression, clauses=("COMMENT", "EXEMPT_OTHER_POLICIES")), max_length=65_536)


class Argument(Model):
    """An argument of a function."""

    name: str
    type: str = checked(datatypes.parse)


class FunctionSpec(InSchemaSpec):
    """A function."""

    arguments: list[Argument] = Field(default_factory=list)


class TaskSpec(InSchemaSpec):
    """A task."""

    schedule: str | None = prop("SCHEDULE", check=schedules.parse)
    after: list[str] | None = prop("AFTER", check=split)
    sql_statement: str = checked(bodies.statement, default="SELECT 1")


class GrantSpec(SnowflakeSpec):
    """Privileges on a schema, or on tables in it, for a role."""

    privileges: list[str]
    schema_name: Name | None = None
    schema_ref: Reference | None = ref("Schema", instead_of="schema_name", parent=True)
    table_name: Name | None = None
    every: str | None = None
    """`ALL` or `FUTURE`, for tables of the schema."""
    role_name: Name


class RoleAssignmentSpec(SnowflakeSpec):
    """A role for a user."""

    role_name: Name
    user_name: Name


class OwnershipSpec(SnowflakeSpec):
    """The owner of a table."""

    table_name: str
    role_name: Name


class PolicyAttachmentSpec(SnowflakeSpec):
    """The network policy of the account or of a user."""

    policy_name: Name
    user_name: Name | None = None


def _grants(spec: GrantSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    if spec.schema_ref is None:
        raise InvalidName("a grant is on a schema, or in one")
    schema = yield from parts_of(
        Requested("Schema", spec.schema_ref.namespace or namespace, spec.schema_ref.name, "schemaRef"), kinds
    )
    securable = slots.of("SCHEMA", *schema)
    if spec.every:
        securable = (slots.all_in if spec.every == "ALL" else slots.future_in)("TABLES", securable)
    elif spec.table_name:
        securable = slots.of("TABLE", *schema, spec.table_name)
    return tuple(slots.grant(each, securable, slots.of("ROLE", spec.role_name)) for each in spec.privileges)


def _securable(spec: GrantSpec) -> str:
    return "TABLE" if spec.every or spec.table_name else "SCHEMA"


def _ungrantable(spec: GrantSpec) -> Iterator[str]:
    for index, each in enumerate(spec.privileges):
        try:
            privileges.check(each, _securable(spec))
        except privileges.InvalidPrivilege as error:
            yield f"spec.privileges[{index}]: {error}"


def _unknown(spec: GrantSpec) -> tuple[str, ...]:
    return tuple(text for each in spec.privileges for text in privileges.advice(each, _securable(spec)))


def _fills(slot: Callable[[Any], Slot]) -> Callable[[Any, str, Mapping[str, Kind]], Slots]:
    """One slot, which follows from the spec alone."""

    def compute(spec: Any, _namespace: str, _kinds: Mapping[str, Kind]) -> Slots:
        yield from ()
        return (slot(spec),)

    return compute


def _in_schema(spec: type[SnowflakeSpec], object_type: str, **facts: Any) -> Kind:
    return Kind(spec, Domain.SCHEMA, object_type, Level.SCHEMA, holds_data=True, **facts)


def _slots(spec: type[SnowflakeSpec], namespace_class: str, compute: Callable[..., Slots], **facts: Any) -> Kind:
    return Kind(spec, Domain.ACCOUNT, namespace_class, Level.ACCOUNT, holds_data=False, slots=compute, **facts)


def _attachment(spec: PolicyAttachmentSpec) -> Slot:
    return slots.attachment("NETWORK POLICY", slots.of("USER", spec.user_name) if spec.user_name else slots.ACCOUNT)


TABLE = _in_schema(TableSpec, "TABLE")
VIEW = _in_schema(ViewSpec, "VIEW", namespace_class="TABLE")
MASKING_POLICY = _in_schema(MaskingPolicySpec, "MASKING POLICY")
FUNCTION = _in_schema(FunctionSpec, "FUNCTION", arguments=lambda spec: [each.type for each in spec.arguments])
TASK = _in_schema(TaskSpec, "TASK")
GRANT = _slots(GrantSpec, "GRANT", _grants, faults=lambda spec: tuple(_ungrantable(spec)), advice=_unknown)
ROLE_ASSIGNMENT = _slots(
    RoleAssignmentSpec,
    "ROLE ASSIGNMENT",
    _fills(lambda spec: slots.assignment(slots.of("ROLE", spec.role_name), slots.of("USER", spec.user_name))),
)
OWNERSHIP = _slots(
    OwnershipSpec,
    "OWNERSHIP",
    _fills(lambda spec: slots.ownership(slots.of("TABLE", *split(spec.table_name)))),
    recipients=lambda spec: (spec.role_name,),
)
POLICY_ATTACHMENT = _slots(PolicyAttachmentSpec, "POLICY ATTACHMENT", _fills(_attachment))

_TEST_KINDS = (TABLE, VIEW, MASKING_POLICY, FUNCTION, TASK, GRANT, ROLE_ASSIGNMENT, OWNERSHIP, POLICY_ATTACHMENT)
ALL_KINDS: Mapping[str, Kind] = MappingProxyType({**KINDS, **{kind.name: kind for kind in _TEST_KINDS}})
"""These and the real ones."""
