"""SEQUENCE: https://docs.snowflake.com/en/sql-reference/sql/create-sequence and the pages beside it."""

import re
from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Clause, Given, Part, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import number, text
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    describe_as_shown,
    stored,
)
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import Text

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

# --- the grammar -----------------------------------------------------------------------------------------------------


def _parse_with(parser: Parser) -> Given:
    """The WITH that may stand before the first clause means nothing by itself."""
    if parser.at("WITH", "TAG") or not parser.accept("WITH"):
        return {}
    if not any(parser.at(word) for word in ("START", "INCREMENT", "ORDER", "NOORDER", "COMMENT")):
        raise parser.unexpected()
    return {}


def _parse_number(name: str, preposition: str, parser: Parser) -> Given:
    """Take `[<preposition>] [=] <number>`."""
    parser.accept(preposition)
    parser.accept("=")
    first = parser.token
    literal = parser.literal()
    if literal.kind is not TokenKind.NUMBER or not re.fullmatch(r"-?\d+", literal.value):
        raise parser.unexpected(first)
    value = int(literal.value)
    if not _SMALLEST <= value <= _LARGEST:
        raise errors.unnumbered(f"{name} of a sequence must be a 64-bit integer: {literal.value}")
    if name == "INCREMENT" and value == 0:
        raise errors.unnumbered("INCREMENT of a sequence can't be 0.")
    return {name: value}


_parse_increment = partial(_parse_number, "INCREMENT", "BY")


def _changing(given: Given) -> Act:
    def act(context: Context, sequence: CatalogObject) -> None:
        changed = replace(sequence, properties={**sequence.properties, **given})
        context.catalog.update(sequence, _settle(context, changed, frozenset(given)))

    return act


def _parse_order(parser: Parser, *, ordered: bool) -> Act:
    given: Given = {"ORDERED": ordered}
    if parser.accept("COMMENT"):
        parser.expect("=")
        given = {**given, "COMMENT": parser.string()}
    return _changing(given)


def _refuse_unset(parser: Parser) -> Act:
    """UNSET COMMENT is documented, but servers refuse it as a syntax error."""
    raise parser.unexpected()


# --- rules between properties ----------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """A new sequence begins at START, where one stays that is there; NOORDER can't be taken back."""
    properties = dict(draft.properties)
    old = context.catalog.get(draft.id)
    if old is None:
        # A clone goes on where its source is.
        properties.setdefault("NEXT_VALUE", properties["START"])
        if "ORDERED" not in given and properties["ORDERED"] is False:
            properties["ORDERED"] = not context.session_parameter("NOORDER_SEQUENCE_AS_DEFAULT").value
        return replace(draft, properties=properties)
    if "START" in given and properties["START"] != old.properties["START"]:
        raise errors.unnumbered(f"START of sequence '{draft.name}' can't be changed.")
    if properties["ORDERED"] and not old.properties["ORDERED"]:
        raise errors.unnumbered(f"Sequence '{draft.name}' can't be changed from NOORDER to ORDER.")
    return replace(draft, properties={**properties, "START": old.properties["START"]})


# --- the declaration -------------------------------------------------------------------------------------------------

_COLUMNS = (
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(number("next_value"), stored("NEXT_VALUE")),
    ShowColumn(number("interval"), stored("INCREMENT")),
    CREATED_ON,
    OWNER,
    COMMENT,
    OWNER_ROLE_TYPE,
    ShowColumn(text("ordered"), lambda _, obj: "Y" if obj.properties["ORDERED"] else "N"),
)

TYPE = ObjectType(
    kind="SEQUENCE",
    plural="SEQUENCES",
    container="SCHEMA",
    signature=_parse_with,
    clauses=(
        Part("START", partial(_parse_number, "START", "WITH"), unsaid={"START": 1}),
        Part("INCREMENT", _parse_increment, unsaid={"INCREMENT": 1}),
        Clause("ORDER", "ORDERED", value=True),
        Clause("NOORDER", "ORDERED", value=False),
    ),
    properties=(Property("COMMENT", Text(), default="", unset=""),),
    rights=Rights(
        grantable=frozenset({"USAGE"}),
        describe="USAGE",
    ),
    actions=(
        Action("INCREMENT", lambda parser: _changing(_parse_increment(parser))),
        Action("SET INCREMENT", lambda parser: _changing(_parse_increment(parser))),
        Action("SET ORDER", partial(_parse_order, ordered=True)),
        Action("SET NOORDER", partial(_parse_order, ordered=False)),
        Action("UNSET", _refuse_unset),
    ),
    show=Show(_COLUMNS, named=True, cut=True),
    describe=describe_as_shown(_COLUMNS),
    or_alter=True,
    cascades=True,
    taggable=False,
    copying=Copying(
        clone="USAGE",
    ),
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
