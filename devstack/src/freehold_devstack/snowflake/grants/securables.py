"""What a GRANT is on: the account, one object, all objects of a kind in a container, or those yet to be made."""

from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import ACCOUNT_PRIVILEGES
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import KNOWN, Target, parse_name, parse_target, parse_type
from freehold_devstack.snowflake.listing import objects_in
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Name, Parser, Vocabulary, print_name
from freehold_devstack.snowflake.tokens import TokenKind

_KNOWN = Vocabulary({kind: kind for kind in KNOWN})


@dataclass(frozen=True)
class Account:
    """ON ACCOUNT."""

    kind = "ACCOUNT"
    privileges = ACCOUNT_PRIVILEGES

    def __str__(self) -> str:
        return self.kind

    def resolve(self, context: Context, _verb: str) -> list[CatalogObject]:
        return [context.catalog.account]


@dataclass(frozen=True)
class OneObject:
    """ON <kind> <name>."""

    target: Target

    def __str__(self) -> str:
        return f"{self.target.object_type.kind} {self.target}"

    @property
    def kind(self) -> str:
        """As SHOW GRANTS calls it."""
        return self.target.object_type.securable

    @property
    def privileges(self) -> frozenset[str]:
        """What can be granted on the kind, besides OWNERSHIP."""
        return self.target.object_type.rights.grantable

    def resolve(self, context: Context, verb: str) -> list[CatalogObject]:
        """The object: tables and views go by either word.

        Raises:
            SqlError: As `Context.resolve`.
        """
        if self.target.object_type.relation:
            return [context.resolve_relation(self.target.name, verb, self.target.object_type.kind)]
        return [self.target.resolve(context, verb)]


@dataclass(frozen=True)
class Scope:
    """IN { DATABASE | SCHEMA } <name>."""

    object_type: ObjectType
    name: Name

    def __str__(self) -> str:
        return f"IN {self.object_type.kind} {print_name(self.name)}"

    def resolve(self, context: Context, verb: str) -> CatalogObject:
        return context.resolve(self.object_type, self.name, verb)


@dataclass(frozen=True)
class Several:
    """What ON ALL and ON FUTURE share: the kind of the objects and what they are in."""

    object_type: ObjectType
    scope: Scope

    @property
    def kind(self) -> str:
        """As SHOW GRANTS calls it."""
        return self.object_type.securable

    @property
    def privileges(self) -> frozenset[str]:
        """What can be granted on the kind, besides OWNERSHIP."""
        return self.object_type.rights.grantable


@dataclass(frozen=True)
class AllObjects(Several):
    """ON ALL <plural> IN { DATABASE | SCHEMA } <name>: those that are there now."""

    def __str__(self) -> str:
        return f"ALL {self.object_type.plural} {self.scope}"

    def resolve(self, context: Context, verb: str) -> list[CatalogObject]:
        """What the session sees of them, by container and name; temporary objects and what is the system's left out."""
        root = self.scope.resolve(context, verb)
        return [
            obj
            for obj in objects_in(context, self.object_type, root)
            if obj.owner is not None and not context.is_temporary(obj) and context.sees(obj)
        ]


@dataclass(frozen=True)
class FutureObjects(Several):
    """ON FUTURE <plural> IN { DATABASE | SCHEMA } <name>."""

    def __str__(self) -> str:
        return f"FUTURE {self.object_type.plural} {self.scope}"


Existing = Account | OneObject | AllObjects
Securable = Existing | FutureObjects


def parse_securable(parser: Parser, types: Types) -> Securable:
    """Take ON and what follows it, up to TO or FROM.

    Raises:
        SqlError: 001003, 000002 for kinds that aren't built, 999999 for what is no kind.
    """
    parser.expect("ON")
    if parser.accept("ACCOUNT"):
        return Account()
    if parser.accept("ALL"):
        return AllObjects(*_parse_several(parser, types))
    if parser.accept("FUTURE"):
        return FutureObjects(*_parse_several(parser, types))
    if parser.token.kind is TokenKind.WORD and not at_kind(parser, types):
        raise errors.unnumbered(f"Object type or Class '{parser.token.value}' does not exist or not authorized.")
    return OneObject(parse_target(parser, parse_type(parser, types), types))


def at_kind(parser: Parser, types: Types) -> bool:
    """Whether the words of an object type come next, be it built or not."""
    return types.is_next(parser) or parser.at_any(_KNOWN)


def _parse_several(parser: Parser, types: Types) -> tuple[ObjectType, Scope]:
    plural = parser.token
    object_type = parse_type(parser, types, plural=True)
    if object_type.container not in {"DATABASE", "SCHEMA"} or object_type.kind == "DATABASE ROLE":
        raise parser.unexpected(plural)
    parser.expect("IN")
    # A schema holds no schemas.
    kinds = ("DATABASE",) if object_type.container == "DATABASE" else ("DATABASE", "SCHEMA")
    container = types[parser.choose(*kinds)]
    return object_type, Scope(container, parse_name(parser, container, types))
