"""PROCEDURE: https://docs.snowflake.com/en/sql-reference/sql/create-procedure and the pages beside it."""

from freehold_devstack.snowflake.grammar import Given, Part
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.routines.definition import (
    ACTIONS,
    BLOCK,
    CLAUSES,
    MODIFIERS,
    PARAMETERS,
    parse_body,
    properties,
    renamed,
    setting,
    settle,
)
from freehold_devstack.snowflake.routines.description import describe, never, shown_columns
from freehold_devstack.snowflake.routines.signature import overload, parse_procedure_arguments

_RIGHTS = ("OWNER", "CALLER", "RESTRICTED CALLER")
"""With whose rights a procedure runs."""


def _parse_rights(parser: Parser) -> Given:
    for rights in _RIGHTS:
        if parser.accept_phrase(rights):
            return {"EXECUTE_AS": rights}
    raise parser.unexpected()


def _parse_body(parser: Parser) -> Given:
    """Take a string or a block of Snowflake Scripting, which end the statement."""
    if parser.at("BEGIN") or parser.at("DECLARE"):
        return {BLOCK: parser.rest()}
    return parse_body(parser)


TYPE = ObjectType(
    kind="PROCEDURE",
    plural="PROCEDURES",
    container="SCHEMA",
    overload=overload,
    modifiers=MODIFIERS,
    signature=parse_procedure_arguments,
    clauses=(
        *CLAUSES,
        Part("EXECUTE AS", _parse_rights, {"EXECUTE_AS": "OWNER"}),
        Part("AS", _parse_body, {"BODY": None}),
    ),
    required=("RETURNS",),
    properties=properties("user-defined procedure"),
    parameters=(*PARAMETERS, "AUTO_EVENT_LOGGING"),
    parameters_in_create=False,
    if_not_exists=False,
    or_alter=True,
    copies_grants=True,
    rights=Rights(
        grantable=frozenset({"USAGE"}),
        describe="USAGE",
        shown_to=frozenset({"USAGE"}),
    ),
    actions=(*ACTIONS, *(setting(f"EXECUTE AS {rights}", "EXECUTE_AS", rights) for rights in _RIGHTS)),
    show=Show(shown_columns(never("is_aggregate")), named=True, cut=True, own=True),
    describe=describe,
    lifecycle=Lifecycle(
        settle=settle,
        renamed=renamed,
    ),
)
