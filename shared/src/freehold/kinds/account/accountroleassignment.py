"""Account roles in the hands of roles and users."""

from __future__ import annotations

from collections.abc import Mapping

from freehold import slots
from freehold.kinds import assignments
from freehold.kinds.assignments import grant_option
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, ref
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import Rule, exactly_one


class AccountRoleAssignmentSpec(SnowflakeSpec):
    """An account role that is granted to a role or to a user, who then has all that it has."""

    role_name: Name | None = immutable()
    """The role's stored name."""
    role_ref: Reference | None = ref("AccountRole", instead_of="role_name", parent=True)
    """The AccountRole, in place of its name."""
    to_role: Name | None = immutable()
    """Stored name of the role that gets it."""
    to_role_ref: Reference | None = ref("AccountRole", instead_of="to_role", parent=True)
    """The AccountRole that gets it, in place of its name."""
    to_user: Name | None = immutable()
    """Stored name of the user who gets it."""
    to_user_ref: Reference | None = ref("User", instead_of="to_user", parent=True)
    """The User who gets it, in place of the name."""
    with_grant_option: bool | None = grant_option()
    """Whether the role that gets it may pass it on."""


def _assignment(spec: AccountRoleAssignmentSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    role = yield from named_in(spec, "role_name", namespace, kinds)
    holder = "USER" if spec.to_user or spec.to_user_ref else "ROLE"
    name = yield from named_in(spec, f"to_{holder.lower()}", namespace, kinds)
    return (slots.assignment(slots.of("ROLE", *role), slots.of(holder, *name)),)


ACCOUNT_ROLE_ASSIGNMENT = Kind(
    spec=AccountRoleAssignmentSpec,
    domain=Domain.ACCOUNT,
    object_type="ROLE ASSIGNMENT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("ara",),
    slots=_assignment,
    filling=assignments.FILLING,
    rules=(
        exactly_one("roleName", "roleRef"),
        exactly_one("toRole", "toRoleRef", "toUser", "toUserRef"),
        Rule(
            "!has(self.roleName) || !has(self.toRole) || self.roleName != self.toRole",
            "a role can't be granted to itself",
            "toRole",
        ),
        Rule("!has(self.roleName) || self.roleName != 'PUBLIC'", "everybody has PUBLIC without a grant", "roleName"),
        Rule(
            "!has(self.withGrantOption) || has(self.toRole) || has(self.toRoleRef)",
            "users can't pass roles on: remove withGrantOption",
            "withGrantOption",
        ),
    ),
)
