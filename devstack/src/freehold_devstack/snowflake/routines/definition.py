"""How CREATE and ALTER define a function or procedure: clauses, properties, and the rules between them."""

from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.grammar import Act, Action, Clause, Given, Part, Property
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.routines.languages import (
    JAVASCRIPT,
    PYTHON,
    SQL,
    Version,
    check_altered,
    check_names,
    check_properties,
    check_types,
    parse_language,
)
from freehold_devstack.snowflake.routines.python_handlers import check_handler
from freehold_devstack.snowflake.routines.signature import (
    Argument,
    Returns,
    arguments_of,
    calls,
    parse_returns,
    returns_of,
)
from freehold_devstack.snowflake.routines.sql_bodies import check_function_body
from freehold_devstack.snowflake.scripting import check_block
from freehold_devstack.snowflake.values import ListOf, Names, Reference, Text

_MAX_ARGUMENTS = 500
"""https://docs.snowflake.com/en/developer-guide/udf-stored-procedure-arguments"""
_MAX_SIGNATURE = 9_800
"""Bytes: https://docs.snowflake.com/en/release-notes/bcr-bundles/2026_04/bcr-2303"""
_MAX_BODY = 1_048_576
"""Bytes."""

_CALLED_ON_NULL = "CALLED ON NULL INPUT"
_NULL_ON_NULL = "RETURNS NULL ON NULL INPUT"

_FIXED = ("LANGUAGE", "HANDLER", "VOLATILITY", "NULL_HANDLING", "ARGUMENTS", "AGGREGATE")
"""What CREATE OR ALTER can't change."""


# --- clauses ---------------------------------------------------------------------------------------------------------


def _word(words: str, name: str, value: Scalar, unsaid: Scalar) -> Part:
    """Words that give a property a value, which has another one without any of them."""
    return Part(words, lambda _: {name: value}, {name: unsaid})


def parse_body(parser: Parser) -> Given:
    """Take the string that ends the statement."""
    body = parser.string()
    parser.end()
    return {"BODY": body}


def _parse_secrets(parser: Parser) -> Given:
    """Take `= ('<variable>' = <secret> [, …])`."""
    parser.expect("=", "(")
    secrets: dict[str, Name] = {}
    while not parser.accept(")"):
        if secrets:
            parser.expect(",")
        variable = parser.string()
        if variable in secrets:
            raise errors.duplicate_property(variable)
        parser.expect("=")
        secrets[variable] = parser.name(parts=3)
    return {"SECRETS": secrets}


BLOCK = "BLOCK"
"""A body that is no string, until it is known whether the language has such."""

MODIFIERS = (
    Clause("SECURE", "SECURE", alterable=True),
    Clause("TEMPORARY", "TRANSIENT", TEMPORARY),
    Clause("TEMP", "TRANSIENT", TEMPORARY),
)

CLAUSES: tuple[Clause | Part, ...] = (
    Part("RETURNS", parse_returns),
    Part("LANGUAGE", parse_language, {"LANGUAGE": SQL}),
    _word(_CALLED_ON_NULL, "NULL_HANDLING", _CALLED_ON_NULL, unsaid=_CALLED_ON_NULL),
    _word(_NULL_ON_NULL, "NULL_HANDLING", _NULL_ON_NULL, unsaid=_CALLED_ON_NULL),
    _word("STRICT", "NULL_HANDLING", _NULL_ON_NULL, unsaid=_CALLED_ON_NULL),
    _word("VOLATILE", "VOLATILITY", "VOLATILE", unsaid="VOLATILE"),
    _word("IMMUTABLE", "VOLATILITY", "IMMUTABLE", unsaid="VOLATILE"),
    Part("SECRETS", _parse_secrets, {"SECRETS": None}),
)


def properties(comment: str) -> tuple[Property, ...]:
    """The properties.

    Args:
        comment: What stands for none.
    """
    return (
        Property("COMMENT", Text(), comment, unset=comment),
        Property("RUNTIME_VERSION", Version(), only="CREATE"),
        Property("HANDLER", Text(), only="CREATE"),
        Property("IMPORTS", ListOf(Text()), only="CREATE"),
        Property("PACKAGES", ListOf(Text()), only="CREATE"),
        Property("ARTIFACT_REPOSITORY", Names(), only="CREATE"),
        Property("EXTERNAL_ACCESS_INTEGRATIONS", ListOf(Reference("INTEGRATION"))),
    )


PARAMETERS = ("ENABLE_CONSOLE_OUTPUT", "LOG_EVENT_LEVEL", "LOG_LEVEL", "METRIC_LEVEL", "TRACE_LEVEL")


def _set_secrets(parser: Parser) -> Act:
    given = _parse_secrets(parser)

    def act(context: Context, routine: CatalogObject) -> None:
        changed = replace(routine, properties={**routine.properties, **given})
        check_altered(context, changed, frozenset(given))
        context.catalog.update(routine, changed)

    return act


def setting(words: str, name: str, value: Value) -> Action:
    """The form of ALTER that sets a property by words alone."""

    def act(context: Context, routine: CatalogObject) -> None:
        context.catalog.update(routine, replace(routine, properties={**routine.properties, name: value}))

    return Action(words, lambda _: act)


ACTIONS = (Action("SET SECRETS", _set_secrets),)


# --- rules -----------------------------------------------------------------------------------------------------------


def settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Hold a new or changed routine to the rules of its language and kind."""
    if "AUTO_EVENT_LOGGING" in given and draft.properties["LANGUAGE"] != SQL:
        raise errors.invalid_property("AUTO_EVENT_LOGGING", draft.kind)
    if "RETURNS" not in given:
        check_altered(context, draft, given)
        return draft
    settled = _with_block(draft)
    _check_definition(context, settled, given)
    return settled


def _with_block(draft: CatalogObject) -> CatalogObject:
    """The record with the block that the statement has in the place of a string as its body."""
    kept = dict(draft.properties)
    block = kept.pop(BLOCK, None)
    if block is None:
        return draft
    if kept["LANGUAGE"] != SQL:
        raise errors.unsupported(f"a {kept['LANGUAGE']} body outside of a string")
    return replace(draft, properties={**kept, "BODY": block})


def renamed(context: Context, _old: CatalogObject, new: CatalogObject) -> None:
    """Refuse a new name that other routines have and some call of theirs could take for this one."""
    _check_overloads(context, new)


def _check_definition(context: Context, routine: CatalogObject, given: frozenset[str]) -> None:
    language, body = str(routine.properties["LANGUAGE"]), routine.properties["BODY"]
    arguments, returns = arguments_of(routine.properties), returns_of(routine.properties)
    _check_redefined(context, routine)
    check_properties(context, routine, given)
    if routine.kind == "FUNCTION" and language == PYTHON:
        _check_python_function(routine, arguments, returns)
    _check_signature(routine, arguments, returns)
    _check_shape(routine, arguments, returns, given)
    check_types(language, arguments, returns)
    check_names(language, routine.name, arguments)
    _check_overloads(context, routine)
    if isinstance(body, str):
        _check_body(context, routine, body, arguments, returns)


def _check_redefined(context: Context, routine: CatalogObject) -> None:
    old = context.catalog.get(routine.id)
    if old is None:
        return
    for name in _FIXED:
        if old.properties.get(name) != routine.properties.get(name):
            raise errors.unsupported(f"CREATE OR ALTER {routine.kind} with another {name}")


def _check_overloads(context: Context, routine: CatalogObject) -> None:
    """Refuse a routine that some call could take for another one, and a temporary one that would hide another."""
    namesakes = [
        each
        for each in context.catalog.members(routine.kind, routine.parent)
        if each.name == routine.name and each.id != routine.id
    ]
    if routine.namespace != routine.kind and any(each.namespace == routine.kind for each in namesakes):
        raise errors.already_exists(routine.name)
    if any(calls(routine) & calls(each) for each in namesakes if each.namespace == routine.namespace):
        raise errors.ambiguous_overloading(routine.kind, routine.name)


def _check_python_function(function: CatalogObject, arguments: tuple[Argument, ...], returns: Returns) -> None:
    handler, body = str(function.properties["HANDLER"]), function.properties["BODY"]
    source = None if body is None else str(body)
    is_aggregate = bool(function.properties["AGGREGATE"])
    check_handler(function.name, handler, source, arguments, returns, aggregate=is_aggregate)


def _check_signature(routine: CatalogObject, arguments: tuple[Argument, ...], returns: Returns) -> None:
    if repeated := _repeated([argument.name for argument in arguments]):
        raise errors.unnumbered(f"Argument '{repeated}' repeats in the function signature.", family="")
    if repeated := _repeated([name for name, _ in returns.columns]):
        raise errors.unnumbered(f"Return signature contains a duplicate column name '{repeated}'.", family="")
    optional = [argument.default is not None for argument in arguments]
    if optional != sorted(optional):
        raise errors.unnumbered("A required argument can't follow an optional one.")
    if routine.kind == "FUNCTION" and not returns.is_table and len(arguments) > _MAX_ARGUMENTS:
        raise errors.unnumbered(f"A function can have at most {_MAX_ARGUMENTS} arguments.")
    described = ", ".join(argument.described for argument in arguments)
    if len(f"{routine.name}({described}){returns.described}".encode()) > _MAX_SIGNATURE:
        raise errors.signature_too_long()


def _repeated(names: list[str]) -> str | None:
    return next((name for index, name in enumerate(names) if name in names[:index]), None)


def _check_shape(
    routine: CatalogObject, arguments: tuple[Argument, ...], returns: Returns, given: frozenset[str]
) -> None:
    language = routine.properties["LANGUAGE"]
    if routine.kind == "PROCEDURE":
        if language == JAVASCRIPT and returns.is_table:
            raise errors.unsupported("RETURNS TABLE of a JavaScript procedure")
        if language != SQL and any(argument.is_output for argument in arguments):
            raise errors.unsupported(f"output arguments of a {language} procedure")
        return
    if language == SQL and "NULL_HANDLING" in given:
        raise errors.unsupported(f"{routine.properties['NULL_HANDLING']} of a SQL function")
    if routine.properties["MEMOIZABLE"]:
        _check_memoizable(str(language), arguments, returns)
    if routine.properties["AGGREGATE"]:
        _check_aggregate(routine, returns)


def _check_memoizable(language: str, arguments: tuple[Argument, ...], returns: Returns) -> None:
    if language != SQL:
        raise errors.unnumbered("Memoizable function supports only SQL language.")
    if returns.type is None:
        raise errors.unnumbered("Memoizable keyword only supports Scalar SQL UDF with zero arguments.")
    if returns.type.base in {"VARIANT", "OBJECT"}:
        raise errors.unnumbered(f"Memoizable function does not support {returns.type.base} return type.")
    for argument in arguments:
        if argument.type.base in {"VARIANT", "OBJECT", "ARRAY"}:
            raise errors.unsupported_data_type(argument.type.base)


def _check_aggregate(function: CatalogObject, returns: Returns) -> None:
    if function.properties["LANGUAGE"] != PYTHON:
        raise errors.unsupported(f"AGGREGATE FUNCTION in {function.properties['LANGUAGE']}")
    if returns.is_table:
        raise errors.unsupported("RETURNS TABLE of an AGGREGATE FUNCTION")
    if function.properties["VOLATILITY"] == "IMMUTABLE":
        raise errors.unsupported("IMMUTABLE AGGREGATE FUNCTION")


def _check_body(
    context: Context, routine: CatalogObject, body: str, arguments: tuple[Argument, ...], returns: Returns
) -> None:
    if len(body.encode()) > _MAX_BODY:
        raise errors.unnumbered(f"The definition of {routine.name} is longer than {_MAX_BODY:,} bytes.")
    if routine.properties["LANGUAGE"] != SQL:
        return
    if routine.kind == "FUNCTION":
        check_function_body(context, routine, body, arguments, returns)
    else:
        # What stands inside is looked at by no statement but CALL.
        check_block(body)
