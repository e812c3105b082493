"""Whom something is granted to: account and database roles, users and shares."""

from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name, Parser, print_name

ROLE, DATABASE_ROLE, USER, SHARE = "ROLE", "DATABASE ROLE", "USER", "SHARE"
KINDS = (DATABASE_ROLE, ROLE, USER, SHARE)


@dataclass(frozen=True)
class Grantee:
    """A role, user or share as it is written."""

    kind: str
    name: Name

    def __str__(self) -> str:
        return f"{self.kind} {print_name(self.name)}"

    def resolve(self, context: Context, verb: str) -> CatalogObject:
        """The grantee; its name is known to everybody who may grant, but the database of a database role is not.

        Raises:
            SqlError: 002003 when it or its database is missing, 090105 without a current database.
        """
        object_type = context.types.get(self.kind)
        parent = context.catalog.account
        if object_type is not None:
            parent = context.container(object_type, self.name, verb)
        found = context.catalog.find(self.kind, self.name[-1], parent.id)
        if found is None:
            raise context.missing_in(parent, self.kind, self.name[-1])
        return found


def parse_grantee(parser: Parser, *kinds: str) -> Grantee:
    """Take a kind of grantee and its name.

    Raises:
        SqlError: 001003 when it is none of these kinds, 000002 for an application.
    """
    if parser.at("APPLICATION"):
        raise errors.unsupported("GRANT TO APPLICATION")
    kind = next((kind for kind in KINDS if kind in kinds and parser.accept_phrase(kind)), None)
    if kind is None:
        raise parser.unexpected()
    return Grantee(kind, parser.name(parts=2 if kind == DATABASE_ROLE else 1))
