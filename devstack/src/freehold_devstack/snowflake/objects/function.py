"""FUNCTION: https://docs.snowflake.com/en/sql-reference/sql/create-function and the pages beside it."""

from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.grammar import Clause, Part
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.results import text
from freehold_devstack.snowflake.routines.definition import (
    ACTIONS,
    CLAUSES,
    MODIFIERS,
    PARAMETERS,
    parse_body,
    properties,
    renamed,
    setting,
    settle,
)
from freehold_devstack.snowflake.routines.description import describe, flag, never, shown_columns
from freehold_devstack.snowflake.routines.signature import overload, parse_arguments
from freehold_devstack.snowflake.show_columns import stored

_COLUMNS = (
    *shown_columns(ShowColumn(text("is_aggregate"), lambda _, obj: flag(bool(obj.properties["AGGREGATE"])))),
    never("is_external_function"),
    ShowColumn(text("language"), stored("LANGUAGE")),
    ShowColumn(text("is_memoizable"), lambda _, obj: flag(bool(obj.properties["MEMOIZABLE"]))),
    never("is_data_metric"),
)

# One of the hundreds that Snowflake provides shows what the rows of all of them look like.
_SQUARE: tuple[Scalar, ...] = (
    None, "SQUARE", None, "Y", "N", "Y", 1, 1, "SQUARE(NUMBER(38,0)) RETURN NUMBER(38,0), SQUARE(FLOAT) RETURN FLOAT",
    "Compute the square of the input expression.", None, "N", "N", "N", None, None, "N", "SQL", "N", "N",
)  # fmt: skip

TYPE = ObjectType(
    kind="FUNCTION",
    plural="FUNCTIONS",
    container="SCHEMA",
    overload=overload,
    modifiers=(*MODIFIERS, Clause("AGGREGATE", "AGGREGATE")),
    signature=parse_arguments,
    clauses=(*CLAUSES, Clause("MEMOIZABLE", "MEMOIZABLE"), Part("AS", parse_body, {"BODY": None})),
    required=("RETURNS",),
    properties=properties("user-defined function"),
    parameters=PARAMETERS,
    parameters_in_create=False,
    or_alter=True,
    copies_grants=True,
    rights=Rights(
        grantable=frozenset({"MONITOR", "USAGE"}),
        describe="USAGE",
        shown_to=frozenset({"USAGE"}),
    ),
    actions=(*ACTIONS, setting("SET SECURE", "SECURE", value=True), setting("UNSET SECURE", "SECURE", value=False)),
    show=Show(_COLUMNS, named=True, cut=True, own=True, built_in=(_SQUARE,)),
    describe=describe,
    lifecycle=Lifecycle(
        settle=settle,
        renamed=renamed,
    ),
)
