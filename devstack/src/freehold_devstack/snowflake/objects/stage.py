"""STAGE: https://docs.snowflake.com/en/sql-reference/sql/create-stage and the pages beside it."""

import hashlib
from dataclasses import dataclass

from freehold_devstack.snowflake import format_options, locations
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, mapped
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.grammar import REFUSED, Action, Clause, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Literal
from freehold_devstack.snowflake.results import text
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
from freehold_devstack.snowflake.stages import directory
from freehold_devstack.snowflake.stages.description import describe
from freehold_devstack.snowflake.stages.properties import (
    ACCESS_POINT,
    CREDENTIALS,
    DIRECTORY,
    ENCRYPTION,
    ENDPOINT,
    FORMAT,
    INTEGRATION,
    INTERNAL_ENCRYPTIONS,
    PRIVATE,
    STORAGE_INTEGRATION,
    URL,
    integration_name,
    is_external,
    storage_of,
)
from freehold_devstack.snowflake.stages.rules import settle
from freehold_devstack.snowflake.values import Boolean, Group, Reference, Text, choice

_ENCRYPTIONS = (
    *INTERNAL_ENCRYPTIONS,
    *dict.fromkeys(name for storage in locations.STORAGES.values() for name in storage.encryption),
)


@dataclass(frozen=True)
class _Secret:
    """A text of which only a digest is kept: nothing here uses it, and it must not be told."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        secret = Text(check=bool).read(literal)
        return hashlib.sha256(str(secret).encode()).hexdigest()


# --- SHOW -------------------------------------------------------------------------------------------------------------


def _yes(answer: object) -> str:
    return "Y" if answer else "N"


def _has_key(stage: CatalogObject) -> bool:
    return bool(mapped(stage.properties[ENCRYPTION]).keys() & {"MASTER_KEY", "KMS_KEY_ID"})


def _type(_context: Context, stage: CatalogObject) -> Scalar:
    words = ["EXTERNAL" if is_external(stage) else "INTERNAL"]
    if mapped(stage.properties[ENCRYPTION]).get("TYPE") == "SNOWFLAKE_SSE":
        words.append("NO CSE")
    if stage.properties.get("TRANSIENT") == TEMPORARY:
        words.append(TEMPORARY)
    return " ".join(words)


_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(text("url"), lambda _, obj: str(obj.properties[URL] or "")),
    ShowColumn(text("has_credentials"), lambda _, obj: _yes(obj.properties[CREDENTIALS])),
    ShowColumn(text("has_encryption_key"), lambda _, obj: _yes(_has_key(obj))),
    OWNER,
    COMMENT,
    ShowColumn(text("region"), lambda *_: None),
    ShowColumn(text("type"), _type),
    ShowColumn(text("cloud"), lambda _, obj: storage_of(obj).cloud if is_external(obj) else None),
    ShowColumn(text("notification_channel"), lambda *_: None),
    ShowColumn(text("storage_integration"), integration_name),
    ShowColumn(text("endpoint"), stored(ENDPOINT)),
    OWNER_ROLE_TYPE,
    ShowColumn(text("directory_enabled"), lambda _, obj: _yes(mapped(obj.properties[DIRECTORY]).get("ENABLE"))),
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
        Property(URL, Text(), unset=REFUSED),
        Property(ENDPOINT, _NOT_EMPTY, only="CREATE"),
        Property(ACCESS_POINT, Text(check=lambda arn: arn.startswith("arn:")), unset=REFUSED),
        Property(INTEGRATION, Reference(STORAGE_INTEGRATION), unset=REFUSED),
        Property(
            CREDENTIALS,
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
            ENCRYPTION,
            Group({"TYPE": choice(*_ENCRYPTIONS), "MASTER_KEY": _Secret(), "KMS_KEY_ID": _NOT_EMPTY}),
            unset=REFUSED,
        ),
        Property(PRIVATE, Boolean(), unset=REFUSED),
        Property(DIRECTORY, directory.OPTIONS, only="CREATE"),
        Property(FORMAT, format_options.FileFormat(), unset=REFUSED),
        Property("COMMENT", Text(), default="", unset=REFUSED),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE", "READ", "WRITE"}),
        describe=None,
    ),
    actions=(Action("SET DIRECTORY", directory.set_directory), Action("REFRESH", directory.refresh, privilege=None)),
    or_alter=True,
    copying=Copying(
        clone="USAGE",
        clonable=is_external,
    ),
    show=Show(_COLUMNS, cut=True),
    describe=describe,
    lifecycle=Lifecycle(
        settle=settle,
    ),
)
