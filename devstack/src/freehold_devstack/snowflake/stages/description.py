"""What DESCRIBE tells of a stage."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC

from freehold_devstack.snowflake import format_options
from freehold_devstack.snowflake.catalog import CatalogObject, mapped
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.show_columns import printed_time
from freehold_devstack.snowflake.stages.properties import (
    ACCESS_POINT,
    CREDENTIALS,
    DIRECTORY,
    FORMAT,
    INTEGRATION,
    PRIVATE,
    REFRESHED,
    URL,
    integration_name,
    is_external,
    storage_of,
)

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


def describe(context: Context, stage: CatalogObject) -> Result:
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
    file_format = mapped(stage.properties[FORMAT]) or {format_options.TYPE: "CSV"}
    name = file_format.get(format_options.FORMAT_NAME)
    if isinstance(name, list | tuple):
        quoted = ".".join(json.dumps(str(part), ensure_ascii=False) for part in name)
        yield format_options.FORMAT_NAME, "String", quoted.replace('"', r"\""), ""
        return
    yield from format_options.described(str(file_format[format_options.TYPE]), file_format)


def _location_rows(stage: CatalogObject) -> Iterator[_Row]:
    url = json.dumps([stage.properties[URL]], ensure_ascii=False) if is_external(stage) else ""
    yield URL, "String", url, ""
    if is_external(stage) and storage_of(stage).cloud == "AWS":
        yield ACCESS_POINT, "String", str(stage.properties[ACCESS_POINT] or ""), ""


def _integration_rows(context: Context, stage: CatalogObject) -> Iterator[_Row]:
    if (name := integration_name(context, stage)) is not None:
        yield INTEGRATION, "String", str(name), ""


def _credential_rows(stage: CatalogObject) -> Iterator[_Row]:
    if stage.properties[INTEGRATION] is None and (not is_external(stage) or storage_of(stage).cloud == "AWS"):
        yield "AWS_KEY_ID", "String", str(mapped(stage.properties[CREDENTIALS]).get("AWS_KEY_ID", "")), ""


def _directory_rows(stage: CatalogObject) -> Iterator[_Row]:
    directory, refreshed = mapped(stage.properties[DIRECTORY]), stage.properties[REFRESHED]
    if directory.get("ENABLE"):
        moment = printed_time(refreshed, UTC) if isinstance(refreshed, int) else ""
        yield REFRESHED, "Timestamp", moment, ""
    for name in ("ENABLE", "AUTO_REFRESH"):
        yield name, "Boolean", str(bool(directory.get(name))).lower(), "false"
    if "AWS_SNS_TOPIC" in directory:
        yield "AWS_SNS_TOPIC", "String", str(directory["AWS_SNS_TOPIC"]), ""


def _private_rows(stage: CatalogObject) -> Iterator[_Row]:
    if is_external(stage):
        yield PRIVATE, "Boolean", str(bool(stage.properties[PRIVATE])).lower(), "false"
