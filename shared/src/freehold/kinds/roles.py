"""What roles of every sort have in common."""

from __future__ import annotations

from functools import partial

from freehold import sql
from freehold.kinds.content import Content
from freehold.kinds.property import Target
from freehold.observation import Row
from freehold.sql import Sql


def ownership_kept(role_type: str) -> tuple[Content, ...]:
    """What keeps a role from being dropped: DROP hands whatever it owns to the role that drops it, without a word.

    Args:
        role_type: its SQL words.
    """
    return (
        Content(
            partial(_grants, "SHOW GRANTS TO", role_type),
            counts=_is_ownership,
            name=_owned_object,
            remedy="the DROP would hand this to Freehold's role, so GRANT OWNERSHIP on it to another role, or drop it",
            told_to_all=True,
            forced=False,
        ),
        Content(
            partial(_grants, "SHOW FUTURE GRANTS TO", role_type),
            counts=_is_ownership,
            name=_objects_to_come,
            remedy="whatever is made there would be the role's, and Freehold's after the DROP, so revoke this first",
            told_to_all=True,
            forced=False,
        ),
    )


def _grants(words: str, role_type: str, target: Target) -> Sql:
    return sql.sql("{words} {type} {name}", words=sql.words(words), type=sql.words(role_type), name=target.name)


def _is_ownership(row: Row) -> bool:
    return row["privilege"] == "OWNERSHIP"


def _owned_object(row: Row) -> str:
    """An object in SHOW GRANTS, which prints its qualified name."""
    return f"{str(row['granted_on']).lower().replace('_', ' ')} {row['name']}"


def _objects_to_come(row: Row) -> str:
    """The objects of a future grant, which SHOW names by their container: `DB.<TABLE>`."""
    return f"future OWNERSHIP of {row['name']}"
