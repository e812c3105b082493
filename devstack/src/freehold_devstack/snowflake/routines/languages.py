"""The languages of handlers: which properties, types and names each of them takes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, mapped, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.grammar import Given
from freehold_devstack.snowflake.parser import Literal, Name, Parser, phrases
from freehold_devstack.snowflake.routines.python_packages import SNOWPARK, install, name_of
from freehold_devstack.snowflake.routines.signature import Argument, Returns
from freehold_devstack.snowflake.tokens import TokenKind, tokenize
from freehold_devstack.snowflake.values import InvalidValueError

SQL, JAVASCRIPT, PYTHON = "SQL", "JAVASCRIPT", "PYTHON"
_NOT_BUILT = ("JAVA", "SCALA")

_PYTHON_VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
_PYTHON_RETIRED = ("3.8", "3.9")

_UNSUPPORTED_TYPES: Mapping[str, frozenset[str]] = {
    SQL: frozenset(),
    JAVASCRIPT: frozenset({"NUMBER", "TIME", "DECFLOAT"}),
    PYTHON: frozenset({"DECFLOAT"}),
}
"""Types that a language has nothing to hold in."""

_JAVASCRIPT_WORDS = frozenset(
    phrases("""
        await, break, case, catch, class, const, continue, debugger, default, delete, do, else, enum, export, extends,
        false, finally, for, function, if, implements, import, in, instanceof, interface, let, new, null, package,
        private, protected, public, return, static, super, switch, this, throw, true, try, typeof, var, void, while,
        with, yield
    """)
)
"""What JavaScript can't declare."""


def parse_language(parser: Parser) -> Given:
    """Take the word after LANGUAGE.

    Raises:
        SqlError: 001003 for no language, 000002 for one that is not built.
    """
    language = parser.choose(SQL, JAVASCRIPT, PYTHON, *_NOT_BUILT)
    if language in _NOT_BUILT:
        raise errors.unsupported(f"LANGUAGE {language}")
    return {"LANGUAGE": language}


@dataclass(frozen=True)
class Version:
    """The version of a runtime, as a string or a number."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        """As `ValueType.read`."""
        if literal.kind not in {TokenKind.STRING, TokenKind.NUMBER}:
            raise InvalidValueError
        return literal.value


# --- properties ------------------------------------------------------------------------------------------------------


def check_properties(context: Context, routine: CatalogObject, given: frozenset[str]) -> None:
    """Refuse properties that the language doesn't take, lacks or can't use.

    Args:
        given: The names of those that the statement spells out.

    Raises:
        SqlError: 001420 and 001423 for what the language has not, 001422 for a version, 002003 for what a property
            names, 391525, 391528 and 391531 for Python; 999999 for what is missing.
    """
    if routine.properties["LANGUAGE"] == PYTHON:
        _check_python(context, routine)
    else:
        _check_inline(str(routine.properties["LANGUAGE"]), given)
    if routine.properties["BODY"] is None and not (routine.properties["LANGUAGE"] == PYTHON and _imports(routine)):
        raise errors.unnumbered(f"{routine.kind.capitalize()} {routine.name} has no body.")


def _check_inline(language: str, given: frozenset[str]) -> None:
    """A language whose source is the body itself has no use for what finds and runs a handler."""
    if "IMPORTS" in given:
        raise errors.feature_not_enabled("imports", "dependency import list")
    if "RUNTIME_VERSION" in given:
        raise errors.invalid_property("RUNTIME_VERSION", "FUNCTION")
    if "HANDLER" in given:
        raise errors.handler_refused(language)
    for name in ("PACKAGES", "ARTIFACT_REPOSITORY", "EXTERNAL_ACCESS_INTEGRATIONS", "SECRETS"):
        if name in given:
            raise errors.invalid_property(name, "FUNCTION")


def _check_python(context: Context, routine: CatalogObject) -> None:
    properties = routine.properties
    _check_imports(context, _imports(routine))
    version, packages = properties["RUNTIME_VERSION"], texts(properties["PACKAGES"])
    if version is None:
        raise errors.unnumbered("Property 'runtime_version' must be specified", family="")
    if version not in {*_PYTHON_VERSIONS, *_PYTHON_RETIRED}:
        raise errors.invalid_property_value(str(version), "RUNTIME_VERSION")
    if properties["HANDLER"] is None:
        raise errors.unnumbered("Property 'handler' must be specified", family="")
    if version in _PYTHON_RETIRED:
        raise errors.runtime_retired("Python", str(version), _PYTHON_VERSIONS[0])
    check_references(context, properties)
    if context.current("WAREHOUSE") is None:
        raise errors.python_warehouse(routine.kind)
    if routine.kind == "PROCEDURE" and SNOWPARK not in map(name_of, packages):
        raise errors.unnumbered(f"PACKAGES of a Python procedure must include '{SNOWPARK}'.")
    install(packages)


def check_altered(context: Context, routine: CatalogObject, given: frozenset[str]) -> None:
    """As `check_properties`, for those that ALTER sets.

    Raises:
        SqlError: 001420 for what the language has not, 002003 for what a property names.
    """
    if routine.properties["LANGUAGE"] != PYTHON:
        _check_inline(str(routine.properties["LANGUAGE"]), given)
    check_references(context, routine.properties)


def check_references(context: Context, properties: Mapping[str, Value]) -> None:
    """Resolve what nothing here can make: repositories, integrations for external access, and secrets.

    Raises:
        SqlError: 002003.
    """
    if (repository := properties["ARTIFACT_REPOSITORY"]) is not None:
        context.resolve_reference("ARTIFACT REPOSITORY", _name(repository), "CREATE")
    for integration in texts(properties["EXTERNAL_ACCESS_INTEGRATIONS"]):
        context.resolve_reference("INTEGRATION", (integration,), "CREATE")
    secrets = properties["SECRETS"]
    for secret in mapped(secrets).values():
        context.resolve_reference("SECRET", _name(secret), "CREATE")


def _name(value: Value) -> Name:
    return texts(value)


# --- imports ---------------------------------------------------------------------------------------------------------

_PART = r'(?:"(?:[^"]|"")+"|[A-Za-z_][\w$]*)'
_STAGED = re.compile(rf"@(?:~|%{_PART}|(?P<stage>{_PART}(?:\.{_PART}){{0,2}}))/(?P<path>.+)")


def _imports(routine: CatalogObject) -> tuple[str, ...]:
    return texts(routine.properties["IMPORTS"])


def _check_imports(context: Context, imports: Iterable[str]) -> None:
    """Files on stages that are there; which files those hold is known to nobody here."""
    files: set[str] = set()
    for location in imports:
        match = _STAGED.fullmatch(location)
        if match is None:
            raise errors.invalid_property_value(location, "IMPORTS")
        if match["stage"] is not None:
            name = Parser(tokenize(match["stage"])).name(parts=3)
            stage = context.resolve_reference("STAGE", name, "CREATE")
            if not any(context.authority.holds(each, stage, primary_only=True) for each in ("READ", "USAGE")):
                raise context.insufficient("READ", stage)
        file = match["path"].rpartition("/")[2]
        if file in files:
            raise errors.unnumbered(f"File '{file}' is imported more than once.")
        files.add(file)


# --- types and names -------------------------------------------------------------------------------------------------


def check_types(language: str, arguments: Iterable[Argument], returns: Returns) -> None:
    """Refuse a type of an argument, or of the one value that is returned, that the language has not."""
    types: list[DataType] = [argument.type for argument in arguments]
    for type_ in types if returns.type is None else [*types, returns.type]:
        if type_.base in _UNSUPPORTED_TYPES[language]:
            text = f"Language {language} does not support type '{type_}' for argument or return type."
            raise errors.unnumbered(text, family="")


def check_names(language: str, routine: str, arguments: Iterable[Argument]) -> None:
    """Refuse names that can't be declared in JavaScript, where the handler is a function of the routine's name."""
    if language != JAVASCRIPT:
        return
    if not _is_declarable(routine):
        raise errors.unnumbered(f"Invalid UDF function name: '{routine}'", family="")
    if refused := [argument.name for argument in arguments if not _is_declarable(argument.name)]:
        raise errors.unnumbered(f"Invalid argument name(s): '{', '.join(refused)}'", family="")


def _is_declarable(name: str) -> bool:
    return name.replace("$", "_").isidentifier() and name not in _JAVASCRIPT_WORDS
