"""DROP, UNDROP and DESCRIBE of every object type, derived from its declaration."""

from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import ACCOUNT_ID, CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import Target, parse_name, parse_target, parse_type
from freehold_devstack.snowflake.object_type import Describer, Form, ObjectType, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Name, Parser, print_name
from freehold_devstack.snowflake.results import Result, status

DESCRIBE_TAKES_A_PRIVILEGE = "2026_07"
"""Since this bundle the rights that list every object no longer describe it."""


@dataclass(frozen=True)
class Drop:
    """DROP <kind> [IF EXISTS] <name> [CASCADE | RESTRICT]."""

    target: Target
    if_exists: bool
    how: str

    @property
    def form(self) -> Form:
        clauses = ("IF EXISTS" if self.if_exists else "", self.how)
        return Form("DROP", self.target.object_type.kind, self.target.name, " ".join(filter(None, clauses)))

    def execute(self, context: Context) -> Result:
        obj = self.target.lookup(context, "DROP")
        if obj is None:
            if self.if_exists:
                return status(f"Drop statement executed successfully ({self.target.name[-1]} already dropped).")
            obj = self.target.resolve(context, "DROP")
        context.require_writable(context.catalog[obj.parent or ACCOUNT_ID])
        context.require(OWNERSHIP, obj)
        if self.how == "RESTRICT":
            self.target.object_type.lifecycle.restricting(context, obj)
        drop(context, self.target.object_type, obj)
        return status(f"{context.called(obj)} successfully dropped.")


def drop(context: Context, object_type: ObjectType, obj: CatalogObject) -> None:
    """End an object, unless its type objects."""
    object_type.lifecycle.dropping(context, obj)
    context.catalog.drop(obj, context.now)


def parse_drop(parser: Parser, types: Types) -> Statement:
    object_type = parse_type(parser, types)
    if_exists = parser.accept("IF", "EXISTS")
    target = parse_target(parser, object_type, types)
    how = next((word for word in ("CASCADE", "RESTRICT") if object_type.cascades and parser.accept(word)), "")
    return Drop(target, if_exists, how)


@dataclass(frozen=True)
class Undrop:
    """UNDROP <kind> <name>: the latest dropped one, while its retention lasts."""

    object_type: ObjectType
    name: Name

    @property
    def form(self) -> Form:
        return Form("UNDROP", self.object_type.kind, self.name)

    def execute(self, context: Context) -> Result:
        container = context.container(self.object_type, self.name, "UNDROP")
        if self.object_type.kept_days is not None and context.current(container.kind) != container:
            raise errors.not_restorable(self.object_type.kind, print_name(self.name))
        context.require_writable(container)
        dropped = self._latest(context, container)
        context.require(OWNERSHIP, dropped)
        context.require(self.object_type.creating, container)
        taken = context.catalog.find(self.object_type.class_name, self.name[-1], container.id)
        if taken is not None:
            if not context.sees(taken):
                raise errors.exists_invisibly(taken.kind, context.print_path(taken))
            raise errors.already_exists(taken.name)
        context.catalog.update(dropped, replace(dropped, dropped_on=None))
        return status(f"{self.object_type.kind.capitalize()} {dropped.name} successfully restored.")

    def _latest(self, context: Context, container: CatalogObject) -> CatalogObject:
        for obj in context.catalog.members(self.object_type.kind, container.id, dropped=True):
            if obj.name == self.name[-1] and obj.dropped_on is not None and context.sees(obj) and context.retained(obj):
                return obj
        raise errors.not_restorable(self.object_type.kind, print_name(self.name))


def parse_undrop(parser: Parser, types: Types) -> Statement:
    kind = parser.token
    object_type = parse_type(parser, types)
    if not object_type.retained:
        raise parser.unexpected(kind)
    return Undrop(object_type, parse_name(parser, object_type, types))


@dataclass(frozen=True)
class Describe:
    """{ DESCRIBE | DESC } <kind> <name> [<words>]."""

    target: Target
    words: str
    describer: Describer

    @property
    def form(self) -> Form:
        return Form("DESCRIBE", self.target.object_type.kind, self.target.name, self.words)

    def execute(self, context: Context) -> Result:
        obj = self._resolve(context)
        if not context.is_self(obj):
            self._check_rights(context, obj)
        if obj.kind != self.target.object_type.kind:
            return (context.types[obj.kind].describe or self.describer)(context, obj)
        return self.describer(context, obj)

    def _check_rights(self, context: Context, obj: CatalogObject) -> None:
        object_type = self.target.object_type
        privilege = object_type.rights.describe
        if not context.authority.touches(obj):
            broader = [] if context.bundle(DESCRIBE_TAKES_A_PRIVILEGE) else ["MANAGE GRANTS"]
            if context.authority.holds_on_account(*broader, *context.broader(privilege, obj)):
                return
            if not object_type.rights.known:
                raise context.missing(obj.kind, context.print_path(obj))
        if privilege is not None:
            context.require(privilege, obj)

    def _resolve(self, context: Context) -> CatalogObject:
        """The object; of what can be selected from, any kind's DESCRIBE will do."""
        object_type = self.target.object_type
        if object_type.relation:
            return context.resolve_relation(self.target.name, "DESCRIBE", object_type.kind)
        return self.target.resolve(context, "DESCRIBE")


def parse_describe(parser: Parser, types: Types) -> Statement:
    if (parse := parser.accept_any(types.extra_describes)) is not None:
        return parse(parser)
    object_type = parse_type(parser, types)
    if object_type.describe is None:
        raise errors.unsupported(f"DESCRIBE {object_type.kind}")
    target = parse_target(parser, object_type, types)
    for words, describer in object_type.describe_forms:
        if parser.accept_phrase(words):
            return Describe(target, words, describer)
    return Describe(target, "", object_type.describe)
