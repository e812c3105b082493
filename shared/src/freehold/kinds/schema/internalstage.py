"""Internal stages."""

from __future__ import annotations

import operator
from typing import Literal

from pydantic import ConfigDict

from freehold import sql
from freehold.kinds.content import Content
from freehold.kinds.fields import comment, prop
from freehold.kinds.groups import Group
from freehold.kinds.in_schema import InSchemaSpec
from freehold.kinds.model import Model
from freehold.kinds.property import KEEP, Target, set_to
from freehold.kinds.resource import ruled
from freehold.kinds.stages import Directory, FileFormatUse, adoptable, directory, directory_rule, file_format, stage
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql


class InternalEncryption(Model):
    """How the files are encrypted."""

    type: Literal["SNOWFLAKE_FULL", "SNOWFLAKE_SSE"] = prop("TYPE", recreate_when=operator.ne, required=True)
    """By the client and by the server (SNOWFLAKE_FULL), which is the default, or by the server alone (SNOWFLAKE_SSE),
    which files need that are read by pre-signed URLs."""


_ENCRYPTION = Group(InternalEncryption)


def _encrypted(observation: Observation) -> object:
    shown = observation.row.get("type")
    return {"TYPE": "SNOWFLAKE_SSE" if "NO CSE" in str(shown) else "SNOWFLAKE_FULL"} if shown else UNKNOWN


class InternalDirectory(Directory):
    """The directory table of a stage, which lists its files."""

    model_config = ConfigDict(json_schema_extra=ruled(directory_rule("autoRefresh", "refreshOnCreate")))

    refresh_on_create: bool | None = prop("REFRESH_ON_CREATE", create_only=True)
    """Whether it is filled at creation. Snowflake took it in the past, and may refuse it."""
    auto_refresh: bool | None = prop("AUTO_REFRESH", recreate_when=operator.ne)
    """Whether it is refreshed when files change. No change leads from one to the other."""


class InternalStageSpec(InSchemaSpec):
    """A place for files in Snowflake's own storage."""

    encryption: InternalEncryption | None = prop(
        "ENCRYPTION", show="type", observe=_encrypted, codec=_ENCRYPTION, reset=KEEP, recreate_when=_ENCRYPTION.beyond
    )
    """How the files are encrypted. It can't be changed: another stage would be without the files."""
    directory: InternalDirectory | None = directory(InternalDirectory)
    """The directory table, which lists the files."""
    file_format: FileFormatUse | None = file_format()
    """How the files are read."""
    comment: str | None = comment(reset=set_to(""))
    """A note for people."""


def _files(target: Target) -> Sql:
    return sql.sql("LIST @{name}", name=target.name)


INTERNAL_STAGE = stage(
    spec=InternalStageSpec,
    holds_data=True,
    short_names=("istg",),
    # A DROP deletes every file at once, and nothing brings them back.
    content=(
        Content(
            query=_files,
            name=lambda row: str(row["name"]),
            remedy="a DROP deletes the files for good, so move or remove them",
            told_to_all=True,
        ),
    ),
    adoptable=adoptable("INTERNAL", "ExternalStage"),
)
