"""How users' values are written and printed, where no other kind has such."""

from __future__ import annotations

from typing import Any

from freehold import sql
from freehold.identifiers import InvalidName, printed, qualified, split, unquoted
from freehold.kinds.values import Codec
from freehold.sql import Sql


class LoginName(Codec):
    """A log-in name, which is kept in upper case."""

    def canonical(self, value: Any) -> str:
        return str(value).upper()


class SecondaryRoles(Codec):
    """All secondary roles or none; an empty column means all, as does a user that nobody has set them of."""

    def render(self, value: Any) -> Sql:
        return sql.words("('ALL')" if value == "ALL" else "()")

    def read(self, raw: object) -> str:
        return "NONE" if raw and "ALL" not in str(raw).upper() else "ALL"


class Namespace(Codec):
    """A database or a schema in one, as people write its name; Snowflake prints that of a database in upper case."""

    def canonical(self, value: Any) -> str:
        return qualified(split(str(value)))

    def render(self, value: Any) -> Sql:
        return sql.identifier(*split(str(value)))

    def read(self, raw: object) -> Any:
        return str(raw) if raw else None

    def matches(self, desired: str, observed: Any) -> bool:
        parts = split(desired)
        if observed is None or len(parts) > 1:
            return observed in printed(*parts)
        return unquoted(observed).upper() == parts[0].upper()


def check_namespace(text: str) -> None:
    if len(split(text)) > 2:  # a database and a schema
        raise InvalidName(f"a default namespace is DATABASE or DATABASE.SCHEMA: {text!r}")
