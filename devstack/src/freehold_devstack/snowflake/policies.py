"""Masking and row access policies: their signature and body, what holds them to columns, and the type of each kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.bodies import Expression, Output, Place, parse_expression
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, data_type, parse_data_type
from freehold_devstack.snowflake.grammar import Act, Action, Given, Property
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Name, Parser, phrases
from freehold_devstack.snowflake.relations.columns import COLUMNS, read_columns
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.routines.calls import check_called
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    stored,
)
from freehold_devstack.snowflake.tags import policies_of_tag
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import Text

ARGUMENTS, RETURNS, BODY = "ARGUMENTS", "RETURNS", "BODY"

# --- signature and body ----------------------------------------------------------------------------------------------

_PROPERTIES = ("COMMENT", "EXEMPT_OTHER_POLICIES")
"""What may follow a body in CREATE, with `=` and a value."""

_UNFINISHED = frozenset(
    phrases("""
        ALL, AND, ANY, BETWEEN, CASE, COLLATE, DISTINCT, ELSE, ESCAPE, FROM, ILIKE, IN, IS, LIKE, NOT, OR, REGEXP,
        RLIKE, SOME, THEN, WHEN
    """)
)
"""Words after which an expression goes on."""

_OF_POLICIES = frozenset(
    phrases("""
        INVOKER_ROLE, INVOKER_SHARE, IS_AGENT_ACTIVATED, IS_APPLICATION_ROLE_IN_SESSION,
        IS_DATABASE_ROLE_IN_SESSION, IS_GRANTED_TO_INVOKER_ROLE, IS_INSTANCE_ROLE_IN_SESSION, IS_ROLE_IN_SESSION,
        SYSTEM$GET_TAG_ON_CURRENT_COLUMN, SYSTEM$GET_TAG_ON_CURRENT_TABLE
    """)
)
"""Functions of Snowflake's that bodies of policies call, besides those that every expression may."""


def parse_signature(parser: Parser) -> Given:
    """Take `AS (<argument> <type> [, …]) RETURNS <type> -> <body>`.

    Raises:
        SqlError: 001003 for anything else and for a body that is no expression, 000904 for what is no argument.
    """
    parser.expect("AS", "(")
    arguments: dict[str, DataType] = {}
    while not arguments or parser.accept(","):
        name = parser.identifier()
        if name in arguments:
            raise errors.unnumbered(f"duplicate argument name '{name}'")
        arguments[name] = parse_data_type(parser)
    parser.expect(")", "RETURNS")
    returns = parse_data_type(parser)
    parser.expect("->")
    body = _parse_body(parser, _take_body(parser))
    if not body.tables:
        body.type([Output(name, type_) for name, type_ in arguments.items()])
    listed = tuple({"name": name, "type": str(type_)} for name, type_ in arguments.items())
    return {ARGUMENTS: listed, RETURNS: str(returns), BODY: body.text}


def _take_body(parser: Parser) -> tuple[str, Place]:
    """Take an expression as written, up to the first property that follows it."""
    first, depth, ended = parser.token, 0, False
    while not parser.at_end() and not (ended and not depth and any(parser.at(name, "=") for name in _PROPERTIES)):
        depth += parser.at("(") - parser.at(")")
        token = parser.advance()
        ended = token.value == ")" if token.kind is TokenKind.OPERATOR else token.value not in _UNFINISHED
    if parser.token is first:
        raise parser.unexpected()
    return parser.slice(first), Place(first.line, first.position)


def _parse_body(parser: Parser, written: tuple[str, Place]) -> Expression:
    body, place = written
    return parse_expression(body, place, fold_quoted=parser.fold_quoted)


def arguments_of(policy: CatalogObject) -> list[Output]:
    """The arguments of a policy, the first of which is what a masking policy masks."""
    arguments: Any = policy.properties[ARGUMENTS]
    return [Output(each["name"], data_type(each["type"])) for each in arguments]


def check_body(context: Context, policy: CatalogObject, body: Expression) -> None:
    """Refuse a body that can't be worked out or doesn't come to what the policy returns.

    Raises:
        SqlError: 000904, 002003, 002023, 002140, 002141 or 003001.
    """
    for function in body.functions:
        _check_function(context, function)
    found = body.type(arguments_of(policy), read_columns(context, body.tables), _container(context, policy))
    returns = data_type(str(policy.properties[RETURNS]))
    if found is not None and not _fits(found, returns):
        raise errors.body_type(policy.name, str(returns), str(found))


def _container(context: Context, policy: CatalogObject) -> Name:
    """Where tables that are less than fully qualified are looked up: the session's current schema."""
    current = context.current("SCHEMA")
    return context.catalog.path(policy)[:-1] if current is None else context.catalog.path(current)


def _check_function(context: Context, function: Name) -> None:
    """The role that owns the policy must be allowed to call what its body calls."""
    if function[0] not in _OF_POLICIES or len(function) > 1:
        check_called(context, function)


_FAMILIES = {"FLOAT": "NUMBER", "DECFLOAT": "NUMBER", "TIMESTAMP_LTZ": "DATE", "TIMESTAMP_NTZ": "DATE"} | {
    "TIMESTAMP_TZ": "DATE"
}
"""Types that Snowflake turns into one another without being asked, by one of them."""


def _fits(found: DataType, returns: DataType) -> bool:
    bases = [_FAMILIES.get(each.base, each.base) for each in (found, returns)]
    return bases[0] == bases[1] or "VARIANT" in bases


def _set_body(parser: Parser) -> Act:
    first = parser.token
    body = _parse_body(parser, (parser.rest(), Place(first.line, first.position)))

    def act(context: Context, policy: CatalogObject) -> None:
        check_body(context, policy, body)
        context.catalog.update(policy, replace(policy, properties={**policy.properties, BODY: body.text}))

    return act


# --- what policies are attached to -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attachment:
    """A policy on a table or view, or on one of its columns.

    Attributes:
        policy: Its id.
        column: Empty for a row access policy.
        arguments: The columns that it is given; of a masking policy the masked one first.
    """

    policy: int
    column: str
    arguments: tuple[str, ...]


def attachments(relation: CatalogObject) -> Iterator[Attachment]:
    """The policies that are set on a table or view itself: masking policies by column, then the row access policy."""
    for column in _kept(relation):
        if (masking := column.get("masking_policy")) is not None:
            yield Attachment(masking["policy"], column["name"], tuple(masking["using"]))
    row_access: Any = relation.properties.get("ROW ACCESS POLICY")
    if row_access is not None:
        yield Attachment(row_access["policy"], "", tuple(row_access["on"]))


def _kept(relation: CatalogObject) -> Sequence[Mapping[str, Any]]:
    """The columns as the catalog keeps them: there may be very many, and their types don't matter here."""
    columns: Any = relation.properties[COLUMNS]
    return tuple(columns)


def relations(catalog: Catalog) -> Iterator[CatalogObject]:
    """All tables and views that policies can be set on."""
    for kind in ("TABLE", "VIEW"):
        yield from catalog.of_kind(kind)


def _uses(catalog: Catalog) -> Iterator[tuple[CatalogObject, int]]:
    """Every tag, table and view that has policies, itself or by its tags, with the id of each."""
    brought = {str(tag.id): held for tag in catalog.of_kind("TAG") if (held := policies_of_tag(tag))}
    for tag, policies in brought.items():
        yield from ((catalog[int(tag)], policy) for policy in policies)
    for relation in relations(catalog):
        yield from ((relation, attachment.policy) for attachment in attachments(relation))
        tags = {*relation.tags}.union(*(column.get("tags", ()) for column in _kept(relation)))
        yield from ((relation, policy) for tag in tags & brought.keys() for policy in brought[tag])


def check_unused(context: Context, policy: CatalogObject) -> None:
    """Refuse to drop or replace a policy that a column, table, view or tag has.

    Raises:
        SqlError: 999999.
    """
    if any(used == policy.id for _, used in _uses(context.catalog)):
        raise errors.policy_in_use(policy.name)


def check_unused_outside(context: Context, container: CatalogObject) -> None:
    """Refuse the end of a schema or database with a policy that something elsewhere has.

    Raises:
        SqlError: 999999.
    """
    catalog = context.catalog
    for holder, policy in _uses(catalog):
        if catalog.contains(container, catalog[policy]) and not catalog.contains(container, holder):
            raise errors.policy_in_use(catalog[policy].name)


# --- the types -------------------------------------------------------------------------------------------------------


def settled(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Check a new definition; an old one keeps its signature."""
    if BODY not in given:
        return draft
    old = context.catalog.get(draft.id)
    if old is not None and any(not _same(old, draft, name) for name in (ARGUMENTS, RETURNS)):
        raise errors.unsupported(f"CREATE OR ALTER {draft.kind} with another signature")
    fold_quoted = bool(context.session_parameter("QUOTED_IDENTIFIERS_IGNORE_CASE").value)
    check_body(context, draft, parse_expression(str(draft.properties[BODY]), fold_quoted=fold_quoted))
    return draft


def _same(old: CatalogObject, new: CatalogObject, name: str) -> bool:
    if name == ARGUMENTS:
        return arguments_of(old) == arguments_of(new)
    return old.properties[name] == new.properties[name]


def _describe(_context: Context, policy: CatalogObject) -> Result:
    columns = tuple(map(text, ("name", "signature", "return_type", "body")))
    signature = ", ".join(f"{each.name} {each.type.bare if each.type else ''}" for each in arguments_of(policy))
    return Result(
        columns, [(policy.name, f"({signature})", *(stored(name)(_context, policy) for name in (RETURNS, BODY)))]
    )


def _columns(options: Callable[[Context, CatalogObject], Scalar]) -> tuple[ShowColumn, ...]:
    return (
        CREATED_ON,
        NAME,
        DATABASE_NAME,
        SCHEMA_NAME,
        ShowColumn(text("kind"), lambda _, obj: obj.kind.replace(" ", "_")),
        OWNER,
        COMMENT,
        ShowColumn(text("options"), options),
        OWNER_ROLE_TYPE,
    )


def policy_type(
    kind: str,
    *,
    settle: Callable[[Context, CatalogObject, frozenset[str]], CatalogObject],
    properties: tuple[Property, ...] = (),
    options: Callable[[Context, CatalogObject], Scalar] = lambda *_: "",
) -> ObjectType:
    """The type of a kind of policies.

    Args:
        properties: What it has besides a comment.
        options: What the column of that name shows.
    """
    return ObjectType(
        kind=kind,
        plural=f"{kind[:-1]}IES",
        container="SCHEMA",
        feature=kind,
        signature=parse_signature,
        properties=(Property("COMMENT", Text(), default="", unset=""), *properties),
        or_alter=True,
        tagged_at_creation=False,
        rights=Rights(
            grantable=frozenset({"APPLY"}),
            describe="APPLY",
            implied={f"APPLY {kind}": frozenset({"APPLY"})},
            visible_with=(f"APPLY {kind}",),
        ),
        actions=(Action("SET BODY ->", _set_body, OWNERSHIP),),
        show=Show(_columns(options), limit=True, named=True),
        describe=_describe,
        lifecycle=Lifecycle(
            settle=settle,
            dropping=check_unused,
        ),
    )
