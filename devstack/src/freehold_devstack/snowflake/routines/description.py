"""What SHOW and DESCRIBE say of functions and procedures."""

from collections.abc import Iterator, Sequence

from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import ShowColumn
from freehold_devstack.snowflake.results import Result, number, text
from freehold_devstack.snowflake.routines.languages import PYTHON, SQL
from freehold_devstack.snowflake.routines.python_packages import install
from freehold_devstack.snowflake.routines.signature import arguments_of, returns_of
from freehold_devstack.snowflake.show_columns import CREATED_ON, NAME, stored


def flag(is_so: bool) -> str:
    return "Y" if is_so else "N"


def never(name: str) -> ShowColumn:
    """A flag that is never set."""
    return ShowColumn(text(name), lambda *_: "N")


def _container(name: str, level: int) -> ShowColumn:
    return ShowColumn(text(name), lambda context, obj: context.catalog.path(obj)[level])


def _required(routine: CatalogObject) -> int:
    return sum(argument.default is None for argument in arguments_of(routine.properties))


def _shown_signature(_context: Context, routine: CatalogObject) -> Scalar:
    arguments = ", ".join(argument.shown for argument in arguments_of(routine.properties))
    return f"{routine.name}({arguments}) RETURN {returns_of(routine.properties).shown}"


def shown_columns(is_aggregate: ShowColumn) -> tuple[ShowColumn, ...]:
    """The columns of SHOW that functions and procedures share."""
    return (
        CREATED_ON,
        NAME,
        _container("schema_name", 1),
        never("is_builtin"),
        is_aggregate,
        never("is_ansi"),
        ShowColumn(number("min_num_arguments"), lambda _, obj: _required(obj)),
        ShowColumn(number("max_num_arguments"), lambda _, obj: len(arguments_of(obj.properties))),
        ShowColumn(text("arguments"), _shown_signature),
        ShowColumn(text("description"), stored("COMMENT")),
        _container("catalog_name", 0),
        ShowColumn(text("is_table_function"), lambda _, obj: flag(returns_of(obj.properties).is_table)),
        never("valid_for_clustering"),
        ShowColumn(text("is_secure"), lambda _, obj: flag(bool(obj.properties["SECURE"]))),
        ShowColumn(text("secrets"), lambda *_: None),
        ShowColumn(text("external_access_integrations"), lambda *_: None),
    )


def describe(context: Context, routine: CatalogObject) -> Result:
    """One row a property; which there are depends on the language."""
    return Result((text("property"), text("value")), list(_properties(context, routine)))


def _properties(context: Context, routine: CatalogObject) -> Iterator[tuple[str, Scalar]]:
    properties, language = routine.properties, routine.properties["LANGUAGE"]
    # What a secure routine does is only its owner's business.
    is_hidden = bool(properties["SECURE"]) and not context.authority.owns(routine)
    signature = ", ".join(argument.described for argument in arguments_of(properties))
    yield "signature", f"({signature})"
    yield "returns", returns_of(properties).described
    yield "language", _scalar(language)
    if language != SQL:
        yield "null handling", _scalar(properties["NULL_HANDLING"])
        yield "volatility", _scalar(properties["VOLATILITY"])
    if routine.kind == "PROCEDURE":
        yield "execute as", _scalar(properties["EXECUTE_AS"])
    yield "body", None if is_hidden else _scalar(properties["BODY"])
    if language == PYTHON:
        for name, value in _python_properties(routine):
            yield name, None if is_hidden else value
    if language == PYTHON and routine.kind == "FUNCTION":
        yield "is_aggregate", str(bool(properties["AGGREGATE"])).lower()


def _python_properties(routine: CatalogObject) -> Iterator[tuple[str, Scalar]]:
    packages = texts(routine.properties["PACKAGES"])
    yield "imports", f"[{','.join(texts(routine.properties['IMPORTS']))}]"
    yield "handler", _scalar(routine.properties["HANDLER"])
    yield "runtime_version", _scalar(routine.properties["RUNTIME_VERSION"])
    yield "packages", _quoted(packages)
    yield "installed_packages", _quoted(install(packages))


def _quoted(packages: Sequence[str]) -> str:
    return "[" + ",".join(f"'{package}'" for package in packages) + "]"


def _scalar(value: Value) -> Scalar:
    return value if isinstance(value, str) else None
