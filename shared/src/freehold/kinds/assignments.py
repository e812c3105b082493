"""What assignments of roles have in common, whichever sort of role it is: how they are read, given and taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from freehold import slots, sql
from freehold.identifiers import printed
from freehold.identity import Slot
from freehold.kinds.fields import custom
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.observers import column
from freehold.kinds.property import Target
from freehold.kinds.values import Boolean
from freehold.observation import Row
from freehold.sql import Sql

_ROLES = frozenset({"ROLE", "DATABASE ROLE"})
"""Holders that may pass on what they hold."""


def _switch_grant_option(target: Target, desired: bool | None, observed: object) -> Sequence[Sql]:
    if target.slot is None or bool(desired) == observed:
        return ()
    if desired:
        return (sql.sql("GRANT {it} WITH GRANT OPTION", it=target.name),)
    return (sql.sql("REVOKE GRANT OPTION FOR {it}", it=sql.named(slots.taken_from(target.slot))),)


def grant_option() -> Any:
    """The field that says whether what is granted may be passed on."""
    return custom(
        alter=_switch_grant_option, observe=column("grant_option"), source="show.grant_option", codec=Boolean()
    )


def grant(slot: Slot, spec: Any) -> Sql:
    """The statement that gives exactly this, with the option where the spec wants it."""
    option = sql.words(" WITH GRANT OPTION" if spec.with_grant_option else "")
    return sql.sql("GRANT {it}{option}", it=sql.named(slot), option=option)


def revoke(slot: Slot, force: bool) -> Sql:
    """The statement that takes exactly this back. RESTRICT is Snowflake's default: what was passed on keeps it."""
    cascade = sql.words(" CASCADE" if force else "")
    return sql.sql("REVOKE {it}{cascade}", it=sql.named(slots.taken_from(slot)), cascade=cascade)


def words(shown: object) -> str:
    """A type of object or grantee as statements have it: SHOW GRANTS prints it with underscores."""
    return str(shown).replace("_", " ")


def _show(slot: Slot) -> Listing:
    """What a role holds says as well whether it may pass that on. Of the others, one role's list of holders is the one
    that few queries tell for many of them."""
    given = slots.assigned(slot)
    if given.holder_type in _ROLES:
        query = _grants(f"TO {given.holder_type}", sql.named(given.holder))
        return Listing(query, "name", printed(*given.role.parts), complete=False)
    query = _grants(f"OF {given.role_type}", sql.named(given.role))
    return Listing(query, "grantee_name", printed(*given.holder.parts))


def _grants(about: str, name: Sql) -> Sql:
    return sql.sql("SHOW GRANTS {about} {name}", about=sql.words(about), name=name)


def _fills(slot: Slot, row: Row) -> bool:
    given = slots.assigned(slot)
    if given.holder_type in _ROLES:
        is_role = row["privilege"] == "USAGE" and words(row["granted_on"]) == given.role_type
        return is_role and row["name"] in printed(*given.role.parts)
    # Users may be printed as USER$NAME, and shares behind their account.
    shown = str(row["grantee_name"])
    behind = {"USER": shown.removeprefix("USER$"), "SHARE": shown.partition(".")[2]}.get(given.holder_type)
    same = not {shown, behind}.isdisjoint(printed(*given.holder.parts))
    return same and words(row["granted_to"]) == given.holder_type


def _revoke(slot: Slot, force: bool) -> Sql:
    return revoke(slot, force and slots.assigned(slot).holder_type in _ROLES)


FILLING = Filling(show=_show, fills=_fills, fill=grant, empty=_revoke)
"""How assignments are read, given and taken."""
