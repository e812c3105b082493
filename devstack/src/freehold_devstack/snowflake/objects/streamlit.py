"""STREAMLIT: https://docs.snowflake.com/en/sql-reference/sql/create-streamlit and the pages beside it."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, mapped, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.grammar import REFUSED, Act, Action, Given, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Literal, Parser, name_in, parser_of, print_name
from freehold_devstack.snowflake.results import Result, text
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
from freehold_devstack.snowflake.stages.properties import is_external
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import InvalidFormError, ListOf, Reference, Text, choice

_FROM, _ROOT, _MAIN, _WAREHOUSE = "FROM", "ROOT_LOCATION", "MAIN_FILE", "QUERY_WAREHOUSE"
_RUNTIME, _POOL, _IMPORTS = "RUNTIME_NAME", "COMPUTE_POOL", "IMPORTS"
_INTEGRATIONS, _SECRETS = "EXTERNAL_ACCESS_INTEGRATIONS", "SECRETS"
_LIVE = "LIVE"
"""Property: whether there is a live version, without which only the owner can open the app."""

_ON_WAREHOUSE, _IN_CONTAINER = "SYSTEM$WAREHOUSE_RUNTIME", "SYSTEM$ST_CONTAINER_RUNTIME_PY3_11"
_DEFAULT_POOL = "SYSTEM_COMPUTE_POOL_CPU"
_NOT_LEGACY = frozenset({_FROM, _RUNTIME, _POOL, _SECRETS})
"""What an app with ROOT_LOCATION doesn't take."""


# --- values ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Warehouse:
    """A warehouse; seen: a name in double quotes is put in capitals all the same, one in a string is not."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is TokenKind.STRING:
            return name_in(literal.value, parts=1)[0]
        if len(literal.name) != 1:
            raise InvalidFormError
        return literal.value.upper()


@dataclass(frozen=True)
class _SecretMap:
    """`('<variable>' = <secret> [, …])`."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        group = literal.group or ()
        if literal.kind is not TokenKind.OPERATOR or literal.items:
            raise InvalidFormError
        if not all(name.startswith("'") and secret.name for name, secret in group):
            raise InvalidFormError
        return {parser_of(name).string(): secret.name for name, secret in group}


def _parse_from(parser: Parser) -> Given:
    if parser.token.kind is not TokenKind.STRING:
        raise errors.unsupported("FROM of a location that is no string")
    return {_FROM: parser.string()}


# --- what goes together ----------------------------------------------------------------------------------------------

_PART = r'(?:"(?:[^"]|"")+"|[A-Za-z_][\w$]*)'
_STAGED = re.compile(rf"@(?P<stage>{_PART}(?:\.{_PART}){{0,2}})(?:/(?P<path>.*))?")


def _located(context: Context, location: str, name: str) -> str:
    """A location on an internal stage that the role may read, as DESCRIBE prints it."""
    match = _STAGED.fullmatch(location)
    if match is None:
        raise errors.invalid_property_value(location, name)
    stage = context.resolve_reference("STAGE", name_in(match["stage"], parts=3), "CREATE")
    if is_external(stage):
        raise errors.unnumbered(f"Stage {stage.name} is external, and {name} takes an internal one.")
    context.require("READ", stage, primary_only=True)
    path = (match["path"] or "").strip("/")
    return f"@{print_name(context.catalog.path(stage))}" + (f"/{path}" if path else "")


def _warehouse(context: Context, value: Value) -> Value:
    if value is None or isinstance(value, int):
        return value
    found = context.catalog.find("WAREHOUSE", str(value))
    if found is None or not context.sees(found):
        raise SqlError(91083, "42601", f"The specified warehouse {value} does not exist.")
    context.require("USAGE", found, primary_only=True)
    return found.id


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    properties, old = dict(draft.properties), context.catalog.get(draft.id)
    legacy = properties[_ROOT] is not None
    if legacy and (refused := sorted(given & _NOT_LEGACY)):
        raise errors.unnumbered(f"{refused[0]} can't be used with {_ROOT}.")
    if old is not None and legacy != (old.properties[_ROOT] is not None):
        raise errors.unnumbered(f"{_ROOT} of Streamlit {draft.name}, which has files of its own, can't be set.")
    if legacy and old is None and _MAIN not in given:
        raise errors.missing_options([_MAIN])
    if _ROOT in given:
        context.require("CREATE STAGE", context.catalog[draft.parent or 0])
        properties[_ROOT] = _located(context, str(properties[_ROOT]), _ROOT)
    if _FROM in given:
        properties[_FROM] = _located(context, str(properties[_FROM]), _FROM)
    if _IMPORTS in given:
        properties[_IMPORTS] = tuple(_located(context, each, _IMPORTS) for each in texts(properties[_IMPORTS]))
    container = properties[_RUNTIME] == _IN_CONTAINER
    if container and properties[_POOL] is None:
        properties[_POOL] = _pool(old)
    if not (legacy or container) and "/" in str(properties[_MAIN]):
        raise errors.invalid_property_value(str(properties[_MAIN]), _MAIN)
    for integration in texts(properties[_INTEGRATIONS]):
        context.resolve_reference("INTEGRATION", (integration,), "CREATE")
    for secret in mapped(properties[_SECRETS]).values():
        context.resolve_reference("SECRET", texts(secret), "CREATE")
    return replace(draft, properties={**properties, _WAREHOUSE: _warehouse(context, properties[_WAREHOUSE])})


def _pool(old: CatalogObject | None) -> str:
    """What stands in for a pool that isn't given: CREATE alone has a default."""
    if old is not None:
        raise errors.unnumbered(f"A container runtime needs {_POOL}.")
    return _DEFAULT_POOL


def _from_now_on(parser: Parser, *, live: bool) -> Act:
    parser.end()

    def act(context: Context, app: CatalogObject) -> None:
        if app.properties[_ROOT] is not None:
            raise errors.unnumbered(f"Streamlit {app.name} has a {_ROOT}, and no versions.")
        if live and app.properties[_LIVE]:
            raise SqlError(99106, "42710", "There is already a live version")
        context.catalog.update(app, replace(app, properties={**app.properties, _LIVE: live}))

    return act


# --- SHOW and DESCRIBE -----------------------------------------------------------------------------------------------


def _warehouse_name(context: Context, app: CatalogObject) -> Scalar:
    known = app.properties[_WAREHOUSE]
    return context.catalog[known].name if isinstance(known, int) else None


def _url_id(_context: Context, app: CatalogObject) -> Scalar:
    return hashlib.sha256(f"{app.created_on} {app.id}".encode()).hexdigest()[:20]


def _described(context: Context, app: CatalogObject) -> Iterator[tuple[str, Scalar]]:
    properties, legacy = app.properties, app.properties[_ROOT] is not None
    secrets = {variable: print_name(texts(secret)) for variable, secret in mapped(properties[_SECRETS]).items()}
    yield "title", stored("TITLE")(context, app)
    if legacy:
        yield "root_location", stored(_ROOT)(context, app)
    yield "main_file", stored(_MAIN)(context, app)
    yield "query_warehouse", _warehouse_name(context, app)
    if not legacy:
        yield "runtime_name", stored(_RUNTIME)(context, app)
        yield "compute_pool", stored(_POOL)(context, app)
    yield "url_id", _url_id(context, app)
    yield "default_packages", "python==3.11.*,snowflake-snowpark-python,streamlit"
    yield "user_packages", ""
    yield "import_urls", f"[{','.join(texts(properties[_IMPORTS]))}]"
    yield "external_access_integrations", f"[{','.join(texts(properties[_INTEGRATIONS]))}]"
    yield "external_access_secrets", json.dumps(secrets)
    yield "name", app.name
    if not legacy:
        yield "comment", stored("COMMENT")(context, app)
        yield from _versions(context, app)


def _versions(context: Context, app: CatalogObject) -> Iterator[tuple[str, Scalar]]:
    files = f"snow://streamlit/{print_name(context.catalog.path(app))}/versions"
    yield "default_version", "LAST"
    for version in ("default_version", "last_version"):
        yield f"{version}_name", "VERSION$1"
        yield f"{version}_alias", None
        yield f"{version}_location_uri", f"{files}/version$1/"
        yield f"{version}_source_location_uri", None
        yield f"{version}_git_commit_hash", None
    yield "live_version_location_uri", f"{files}/live/" if app.properties[_LIVE] else None


def _describe(context: Context, app: CatalogObject) -> Result:
    row = dict(_described(context, app))
    return Result(tuple(map(text, row)), [tuple(row.values())])


_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(text("title"), stored("TITLE")),
    OWNER,
    COMMENT,
    ShowColumn(text("query_warehouse"), _warehouse_name),
    ShowColumn(text("url_id"), _url_id),
    OWNER_ROLE_TYPE,
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), lambda *_: "STREAMLIT"),
    *_COLUMNS[2:5],
    ShowColumn(text("url_id"), _url_id),
)

# --- the declaration -------------------------------------------------------------------------------------------------

TYPE = ObjectType(
    kind="STREAMLIT",
    plural="STREAMLITS",
    container="SCHEMA",
    clauses=(Part(_FROM, _parse_from, unsaid={_FROM: None, _LIVE: False}),),
    properties=(
        Property(_ROOT, Text(check=bool), unset=REFUSED),
        Property(_MAIN, Text(check=bool), default="streamlit_app.py", unset=REFUSED),
        Property(_WAREHOUSE, _Warehouse()),
        Property(_RUNTIME, choice(_ON_WAREHOUSE, _IN_CONTAINER), default=_ON_WAREHOUSE, unset=REFUSED),
        Property(_POOL, Reference("COMPUTE POOL", frozenset({_DEFAULT_POOL})), unset=REFUSED),
        Property("COMMENT", Text()),
        Property("TITLE", Text()),
        Property(_IMPORTS, ListOf(Text()), unset=REFUSED),
        Property(_INTEGRATIONS, ListOf(Reference("INTEGRATION"))),
        Property(_SECRETS, _SecretMap()),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE", "EMBED"}),
        describe="USAGE",
    ),
    actions=(
        Action("ADD LIVE VERSION FROM LAST", lambda parser: _from_now_on(parser, live=True)),
        Action("ABORT", lambda parser: _from_now_on(parser, live=False)),
        *(Action(words, uncovered(f"STREAMLIT {words}")) for words in ("COMMIT", "PUSH", "PULL")),
    ),
    show=Show(_COLUMNS, terse=_TERSE, limit=True),
    describe=_describe,
    retained=True,
    taggable=False,
    copying=Copying(
        clonable=lambda _app: False,
    ),
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
