"""Account roles in the hands of roles and users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freehold import slots, sql
from freehold.identifiers import unquoted
from freehold.identity import Slot
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import custom, immutable, ref
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.kind import Domain, Kind, Level, Slots, named_in
from freehold.kinds.property import Target, column
from freehold.kinds.resource import Rule, exactly_one
from freehold.kinds.values import Boolean
from freehold.observation import Row
from freehold.sql import Sql


def _switch_grant_option(target: Target, desired: bool | None, observed: object) -> Sequence[Sql]:
    if target.slot is None or bool(desired) == observed:
        return ()
    if desired:
        return (sql.sql("GRANT {role} WITH GRANT OPTION", role=target.name),)
    return (sql.sql("REVOKE GRANT OPTION FOR {role}", role=sql.named(slots.taken_from(target.slot))),)


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
    with_grant_option: bool | None = custom(
        alter=_switch_grant_option, observe=column("grant_option"), source="show.grant_option", codec=Boolean()
    )
    """Whether the role that gets it may pass it on."""


def _assignment(spec: AccountRoleAssignmentSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    role = yield from named_in(spec, "role_name", namespace, kinds)
    holder = "USER" if spec.to_user or spec.to_user_ref else "ROLE"
    name = yield from named_in(spec, f"to_{holder.lower()}", namespace, kinds)
    return (slots.assignment(slots.of("ROLE", *role), slots.of(holder, *name)),)


def _show(slot: Slot) -> Listing:
    """What a role holds says of its roles whether it may pass them on; of users, the list of one role's holders is
    the one that few queries tell for many of them."""
    role, holder, who = slots.assigned(slot)
    if holder == "USER":
        return Listing(sql.sql("SHOW GRANTS OF ROLE {role}", role=sql.identifier(role)), "grantee_name", who)
    return Listing(sql.sql("SHOW GRANTS TO ROLE {who}", who=sql.identifier(who)), "name", role)


def _fills(slot: Slot, row: Row) -> bool:
    role, holder, who = slots.assigned(slot)
    if holder == "USER":
        # An account may print users as USER$NAME.
        printed = unquoted(str(row["grantee_name"]).removeprefix("USER$"))
        return row["granted_to"] == holder and printed == who
    return (row["privilege"], row["granted_on"], unquoted(str(row["name"]))) == ("USAGE", "ROLE", role)


def _grant(slot: Slot, spec: AccountRoleAssignmentSpec) -> Sql:
    option = sql.words(" WITH GRANT OPTION" if spec.with_grant_option else "")
    return sql.sql("GRANT {role}{option}", role=sql.named(slot), option=option)


def _revoke(slot: Slot, force: bool) -> Sql:
    cascade = sql.words(" CASCADE" if force and slots.assigned(slot)[1] == "ROLE" else "")
    return sql.sql("REVOKE {role}{cascade}", role=sql.named(slots.taken_from(slot)), cascade=cascade)


ACCOUNT_ROLE_ASSIGNMENT = Kind(
    spec=AccountRoleAssignmentSpec,
    domain=Domain.ACCOUNT,
    object_type="ROLE ASSIGNMENT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("ara",),
    slots=_assignment,
    filling=Filling(show=_show, fills=_fills, fill=_grant, empty=_revoke),
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
