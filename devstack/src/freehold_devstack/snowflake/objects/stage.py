"""STAGE: https://docs.snowflake.com/en/sql-reference/sql/create-stage and the pages beside it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC

from freehold_devstack.snowflake import errors, format_options, locations
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, mapped
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.grammar import REFUSED, Act, Action, Clause, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.storage_integration import covers
from freehold_devstack.snowflake.parser import Literal, Parser, print_identifier
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    printed_time,
    stored,
)
from freehold_devstack.snowflake.values import Boolean, Group, Reference, Text, choice

_URL, _ENDPOINT, _ACCESS_POINT = "URL", "ENDPOINT", "AWS_ACCESS_POINT_ARN"
_INTEGRATION, _CREDENTIALS, _ENCRYPTION = "STORAGE_INTEGRATION", "CREDENTIALS", "ENCRYPTION"
_PRIVATE, _DIRECTORY, _FORMAT, _REFRESHED = "USE_PRIVATELINK_ENDPOINT", "DIRECTORY", "FILE_FORMAT", "LAST_REFRESHED_ON"
_EXTERNAL_ONLY = frozenset({_URL, _ENDPOINT, _ACCESS_POINT, _INTEGRATION, _CREDENTIALS, _PRIVATE})

_INTERNAL_ENCRYPTIONS = ("SNOWFLAKE_FULL", "SNOWFLAKE_SSE")
_ENCRYPTIONS = (
    *_INTERNAL_ENCRYPTIONS,
    *dict.fromkeys(name for storage in locations.STORAGES.values() for name in storage.encryption),
)

_STORAGE_INTEGRATION = "STORAGE INTEGRATION"


@dataclass(frozen=True)
class _Secret:
    """A text of which only a digest is kept: nothing here uses it, and it must not be told."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        secret = Text(check=bool).read(literal)
        return hashlib.sha256(str(secret).encode()).hexdigest()


def has_directory(stage: CatalogObject) -> bool:
    """Whether the directory table of a stage is on."""
    return bool(mapped(stage.properties[_DIRECTORY]).get("ENABLE"))


def is_external(stage: CatalogObject) -> bool:
    return bool(stage.properties[_URL])


def _storage(stage: CatalogObject) -> locations.Storage:
    return locations.storage_of(str(stage.properties[_URL]))


# --- rules -----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    old = context.catalog.get(draft.id)
    if _URL in given and not is_external(draft):
        raise errors.url_prefix("")
    if old is not None:
        _check_kept(old, draft)
    draft = _with_format(context, draft, given)
    draft = _with_directory(context, old, draft, given)
    if is_external(draft):
        return _settle_external(context, draft, given)
    if given & _EXTERNAL_ONLY:
        raise errors.stage_location_missing(draft.name) if old is None else errors.internal_stage()
    encryption = mapped(draft.properties[_ENCRYPTION])
    if encryption and (encryption.get("TYPE") not in _INTERNAL_ENCRYPTIONS or len(encryption) > 1):
        raise errors.internal_stage()
    return draft


def _check_kept(old: CatalogObject, draft: CatalogObject) -> None:
    """Refuse what neither ALTER nor CREATE OR ALTER can change."""
    if not is_external(old):
        if is_external(draft) or old.properties[_ENCRYPTION] != draft.properties[_ENCRYPTION]:
            raise errors.internal_stage()
    elif not is_external(draft):
        raise errors.stage_location_missing(draft.name)
    elif _storage(old) is not _storage(draft):
        raise errors.unnumbered("The storage provider of a stage can't be changed.")


def _with_format(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """A stage keeps the full name of a file format: one that takes its place is taken up again."""
    name = mapped(draft.properties[_FORMAT]).get(format_options.FORMAT_NAME)
    if _FORMAT not in given or not isinstance(name, tuple):
        return draft
    file_format = context.resolve_reference("FILE FORMAT", name, "CREATE")
    context.require("USAGE", file_format, primary_only=True)
    named: Value = {format_options.FORMAT_NAME: context.catalog.path(file_format)}
    return replace(draft, properties={**draft.properties, _FORMAT: named})


def _settle_external(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    storage, properties = _storage(draft), dict(draft.properties)
    if {_INTEGRATION, _CREDENTIALS} <= given:
        raise errors.unnumbered(f"{_INTEGRATION} and {_CREDENTIALS} can't be given together.")
    if _INTEGRATION in given:
        properties |= {_INTEGRATION: _integration(context, str(properties[_INTEGRATION])).id, _CREDENTIALS: None}
    if _CREDENTIALS in given:
        properties[_INTEGRATION] = None
    _check_credentials(storage, mapped(properties[_CREDENTIALS]))
    properties[_ENCRYPTION] = _encryption(storage, mapped(properties[_ENCRYPTION]))
    _check_location(context, storage, properties, given)
    return replace(draft, properties=properties)


def _integration(context: Context, name: str) -> CatalogObject:
    integration = context.resolve_reference(_STORAGE_INTEGRATION, (name,), "CREATE")
    if not integration.properties["ENABLED"]:
        raise errors.unnumbered(f"Integration '{integration.name}' is not enabled.")
    return integration


def _check_credentials(storage: locations.Storage, credentials: Mapping[str, Value]) -> None:
    if credentials and not any(
        needed <= credentials.keys() <= needed | allowed for needed, allowed in storage.credentials
    ):
        raise errors.unnumbered(f"Credentials {', '.join(sorted(credentials))} don't fit {storage.label} storage.")


def _encryption(storage: locations.Storage, encryption: Mapping[str, Value]) -> Value:
    if not encryption:
        return None
    implied = "AWS_CSE" if "AWS_CSE" in storage.encryption and "MASTER_KEY" in encryption else None
    complete = {**({"TYPE": implied} if implied else {}), **encryption}
    needed_and_allowed = storage.encryption.get(str(complete.get("TYPE")))
    if needed_and_allowed is None:
        raise errors.unnumbered(f"Encryption {complete.get('TYPE')} doesn't fit {storage.label} storage.")
    needed, allowed = needed_and_allowed
    if not needed <= complete.keys() - {"TYPE"} <= needed | allowed:
        raise errors.unnumbered(
            f"Encryption {complete['TYPE']} takes {', '.join(sorted(needed | allowed)) or 'nothing'}."
        )
    return complete


def _check_location(
    context: Context, storage: locations.Storage, properties: Mapping[str, Value], given: frozenset[str]
) -> None:
    url = str(properties[_URL])
    if bool(properties[_ENDPOINT]) != url.startswith("s3compat://"):
        raise errors.unnumbered(f"{_ENDPOINT} has to be given for S3-compatible storage, and for no other.")
    if properties[_ACCESS_POINT] and (storage.cloud != "AWS" or properties[_ENDPOINT]):
        raise errors.unnumbered(f"{_ACCESS_POINT} is for Amazon S3 alone.")
    integration = properties[_INTEGRATION]
    if isinstance(integration, int):
        known = context.catalog[integration]
        if given & {_URL, _INTEGRATION} and not covers(known, url):
            raise errors.location_refused(url, known.name)
    if properties[_PRIVATE]:
        if integration is not None:
            raise errors.unnumbered(
                "Integration based stages are not allowed to be altered to use privatelink endpoint. "
                "Please alter the storage integration instead"
            )
        locations.check_private_connectivity(context, storage)


# --- directory tables ------------------------------------------------------------------------------------------------


def _with_directory(
    context: Context, old: CatalogObject | None, draft: CatalogObject, given: frozenset[str]
) -> CatalogObject:
    """Check the options of the directory table and note when it was last refreshed."""
    directory = dict(mapped(draft.properties[_DIRECTORY]))
    if _DIRECTORY in given:
        _check_directory(context, draft, directory)
    refreshes = directory.pop("REFRESH_ON_CREATE", None)
    if old is not None:
        if refreshes is not None:
            raise errors.unsupported("CREATE OR ALTER STAGE REFRESH_ON_CREATE")
        refreshed = draft.properties.get(_REFRESHED) if directory.get("ENABLE") else None
    else:
        refreshed = context.now if directory.get("ENABLE") and refreshes is not False else None
    return replace(draft, properties={**draft.properties, _DIRECTORY: directory or None, _REFRESHED: refreshed})


def _check_directory(context: Context, stage: CatalogObject, directory: Mapping[str, Value]) -> None:
    external = is_external(stage)
    if not directory["ENABLE"] and len(directory) > 1:
        raise errors.unnumbered("A directory table takes options only with ENABLE = TRUE.")
    fits = {
        "REFRESH_ON_CREATE": external,
        "AWS_SNS_TOPIC": external and _storage(stage).provider.startswith("S3"),
        "NOTIFICATION_INTEGRATION": external and _storage(stage).provider in {"GCS", "AZURE"},
    }
    for name in (name for name in directory if not fits.get(name, True)):
        raise errors.unnumbered(f"{name} doesn't fit the directory table of this stage.")
    notifier = directory.get("NOTIFICATION_INTEGRATION")
    if notifier is not None:
        # None can be made here, so that whatever the name says is missing.
        raise context.missing("INTEGRATION", print_identifier(str(notifier)))
    if directory.get("AUTO_REFRESH") and fits["NOTIFICATION_INTEGRATION"]:
        raise errors.unnumbered("AUTO_REFRESH takes a NOTIFICATION_INTEGRATION.")


_DIRECTORY_OPTIONS = Group(
    {
        "ENABLE": Boolean(),
        "AUTO_REFRESH": Boolean(),
        "REFRESH_ON_CREATE": Boolean(),
        "AWS_SNS_TOPIC": Text(check=lambda arn: arn.startswith("arn:")),
        "NOTIFICATION_INTEGRATION": Text(check=bool),
    },
    required=frozenset({"ENABLE"}),
)


def _set_directory(parser: Parser) -> Act:
    """ALTER STAGE … SET DIRECTORY = (ENABLE = …), which is a statement of its own."""
    parser.expect("=")
    literal = parser.literal()

    def act(context: Context, stage: CatalogObject) -> None:
        enable = Group({"ENABLE": Boolean()}, required=frozenset({"ENABLE"})).read(literal)
        # Only the topic stays: AUTO_REFRESH goes back to its default.
        kept = {name: arn for name, arn in mapped(stage.properties[_DIRECTORY]).items() if name == "AWS_SNS_TOPIC"}
        directory: Value = {**mapped(enable), **kept}
        context.catalog.update(stage, replace(stage, properties={**stage.properties, _DIRECTORY: directory}))

    return act


_REFRESHED_FILES = tuple(map(text, ("file", "status", "description")))


def _refresh(parser: Parser) -> Act:
    """ALTER STAGE … REFRESH [SUBPATH = '<path>']: no stage here holds a file."""
    if parser.accept("SUBPATH"):
        parser.expect("=")
        parser.string()

    def act(context: Context, stage: CatalogObject) -> Result:
        context.require(OWNERSHIP if is_external(stage) else "WRITE", stage)
        if not has_directory(stage):
            raise errors.unnumbered(f"Stage '{stage.name}' has no directory table.")
        _check_integration(context, stage)
        context.catalog.update(stage, replace(stage, properties={**stage.properties, _REFRESHED: context.now}))
        return Result(_REFRESHED_FILES, [])

    return act


def _check_integration(context: Context, stage: CatalogObject) -> None:
    """A stage lives on without its integration, but can't be used."""
    integration = stage.properties[_INTEGRATION]
    if isinstance(integration, int) and not context.catalog.is_live(context.catalog[integration]):
        name = context.catalog[integration].name
        raise errors.unnumbered(f"Integration '{name}' associated with the stage '{stage.name}' cannot be found.")


# --- what it tells ---------------------------------------------------------------------------------------------------

_COPY_OPTIONS = (
    ("ON_ERROR", "String", "ABORT_STATEMENT"),
    ("SIZE_LIMIT", "Long", ""),
    ("PURGE", "Boolean", "false"),
    ("RETURN_FAILED_ONLY", "Boolean", "false"),
    ("ENFORCE_LENGTH", "Boolean", "true"),
    ("TRUNCATECOLUMNS", "Boolean", "false"),
    ("FORCE", "Boolean", "false"),
)

_Row = tuple[str, str, str, str]
"""Name, type, value and default of a property."""


def _describe(context: Context, stage: CatalogObject) -> Result:
    columns = ("parent_property", "property", "property_type", "property_value", "property_default")
    groups: Mapping[str, Iterator[_Row]] = {
        "STAGE_FILE_FORMAT": _format_rows(stage),
        "STAGE_COPY_OPTIONS": ((name, type_, value, value) for name, type_, value in _COPY_OPTIONS),
        "STAGE_LOCATION": _location_rows(stage),
        "STAGE_INTEGRATION": _integration_rows(context, stage),
        "STAGE_CREDENTIALS": _credential_rows(stage),
        "DIRECTORY": _directory_rows(stage),
        "PRIVATELINK": _private_rows(stage),
    }
    return Result(tuple(map(text, columns)), [(parent, *row) for parent, rows in groups.items() for row in rows])


def _format_rows(stage: CatalogObject) -> Iterator[_Row]:
    file_format = mapped(stage.properties[_FORMAT]) or {format_options.TYPE: "CSV"}
    name = file_format.get(format_options.FORMAT_NAME)
    if isinstance(name, list | tuple):
        quoted = ".".join(json.dumps(str(part), ensure_ascii=False) for part in name)
        yield format_options.FORMAT_NAME, "String", quoted.replace('"', r"\""), ""
        return
    yield from format_options.described(str(file_format[format_options.TYPE]), file_format)


def _location_rows(stage: CatalogObject) -> Iterator[_Row]:
    url = json.dumps([stage.properties[_URL]], ensure_ascii=False) if is_external(stage) else ""
    yield _URL, "String", url, ""
    if is_external(stage) and _storage(stage).cloud == "AWS":
        yield _ACCESS_POINT, "String", str(stage.properties[_ACCESS_POINT] or ""), ""


def _integration_rows(context: Context, stage: CatalogObject) -> Iterator[_Row]:
    if (name := _integration_name(context, stage)) is not None:
        yield _INTEGRATION, "String", str(name), ""


def _credential_rows(stage: CatalogObject) -> Iterator[_Row]:
    if stage.properties[_INTEGRATION] is None and (not is_external(stage) or _storage(stage).cloud == "AWS"):
        yield "AWS_KEY_ID", "String", str(mapped(stage.properties[_CREDENTIALS]).get("AWS_KEY_ID", "")), ""


def _directory_rows(stage: CatalogObject) -> Iterator[_Row]:
    directory, refreshed = mapped(stage.properties[_DIRECTORY]), stage.properties[_REFRESHED]
    if directory.get("ENABLE"):
        moment = printed_time(refreshed, UTC) if isinstance(refreshed, int) else ""
        yield _REFRESHED, "Timestamp", moment, ""
    for name in ("ENABLE", "AUTO_REFRESH"):
        yield name, "Boolean", str(bool(directory.get(name))).lower(), "false"
    if "AWS_SNS_TOPIC" in directory:
        yield "AWS_SNS_TOPIC", "String", str(directory["AWS_SNS_TOPIC"]), ""


def _private_rows(stage: CatalogObject) -> Iterator[_Row]:
    if is_external(stage):
        yield _PRIVATE, "Boolean", str(bool(stage.properties[_PRIVATE])).lower(), "false"


def _integration_name(context: Context, stage: CatalogObject) -> Scalar:
    integration = stage.properties[_INTEGRATION]
    return context.catalog[integration].name if isinstance(integration, int) else None


def _yes(answer: object) -> str:
    return "Y" if answer else "N"


def _has_key(stage: CatalogObject) -> bool:
    return bool(mapped(stage.properties[_ENCRYPTION]).keys() & {"MASTER_KEY", "KMS_KEY_ID"})


def _type(_context: Context, stage: CatalogObject) -> Scalar:
    words = ["EXTERNAL" if is_external(stage) else "INTERNAL"]
    if mapped(stage.properties[_ENCRYPTION]).get("TYPE") == "SNOWFLAKE_SSE":
        words.append("NO CSE")
    if stage.properties.get("TRANSIENT") == TEMPORARY:
        words.append(TEMPORARY)
    return " ".join(words)


_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(text("url"), lambda _, obj: str(obj.properties[_URL] or "")),
    ShowColumn(text("has_credentials"), lambda _, obj: _yes(obj.properties[_CREDENTIALS])),
    ShowColumn(text("has_encryption_key"), lambda _, obj: _yes(_has_key(obj))),
    OWNER,
    COMMENT,
    ShowColumn(text("region"), lambda *_: None),
    ShowColumn(text("type"), _type),
    ShowColumn(text("cloud"), lambda _, obj: _storage(obj).cloud if is_external(obj) else None),
    ShowColumn(text("notification_channel"), lambda *_: None),
    ShowColumn(text("storage_integration"), _integration_name),
    ShowColumn(text("endpoint"), stored(_ENDPOINT)),
    OWNER_ROLE_TYPE,
    ShowColumn(text("directory_enabled"), lambda _, obj: _yes(mapped(obj.properties[_DIRECTORY]).get("ENABLE"))),
)


# --- the declaration -------------------------------------------------------------------------------------------------


_NOT_EMPTY = Text(check=bool)


TYPE = ObjectType(
    kind="STAGE",
    plural="STAGES",
    container="SCHEMA",
    title="Stage area",
    modifiers=tuple(Clause(word, "TRANSIENT", TEMPORARY) for word in ("TEMP", "TEMPORARY")),
    clauses=(Part("COPY_OPTIONS", uncovered("COPY_OPTIONS")),),
    properties=(
        Property(_URL, Text(), unset=REFUSED),
        Property(_ENDPOINT, _NOT_EMPTY, only="CREATE"),
        Property(_ACCESS_POINT, Text(check=lambda arn: arn.startswith("arn:")), unset=REFUSED),
        Property(_INTEGRATION, Reference(_STORAGE_INTEGRATION), unset=REFUSED),
        Property(
            _CREDENTIALS,
            Group(
                {
                    "AWS_KEY_ID": _NOT_EMPTY,
                    "AWS_ROLE": _NOT_EMPTY,
                    **dict.fromkeys(("AWS_SECRET_KEY", "AWS_TOKEN", "AZURE_SAS_TOKEN"), _Secret()),
                }
            ),
            unset=REFUSED,
        ),
        Property(
            _ENCRYPTION,
            Group({"TYPE": choice(*_ENCRYPTIONS), "MASTER_KEY": _Secret(), "KMS_KEY_ID": _NOT_EMPTY}),
            unset=REFUSED,
        ),
        Property(_PRIVATE, Boolean(), unset=REFUSED),
        Property(_DIRECTORY, _DIRECTORY_OPTIONS, only="CREATE"),
        Property(_FORMAT, format_options.FileFormat(), unset=REFUSED),
        Property("COMMENT", Text(), default="", unset=REFUSED),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE", "READ", "WRITE"}),
        describe=None,
    ),
    actions=(Action("SET DIRECTORY", _set_directory), Action("REFRESH", _refresh, privilege=None)),
    or_alter=True,
    copying=Copying(
        clone="USAGE",
        clonable=is_external,
    ),
    show=Show(_COLUMNS, cut=True),
    describe=_describe,
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
