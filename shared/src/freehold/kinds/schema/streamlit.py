"""Streamlit apps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from freehold import sql
from freehold.identifiers import InvalidName
from freehold.kinds import handlers
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import comment, custom, prop, ref, unsupported
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Observe, Target, set_to
from freehold.kinds.resource import Rule, exclusive, only_when
from freehold.kinds.values import Codec, Comment, Identifier, Word
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

_DETAIL = "describe"


def _described(name: str, *, none: object = None, missing: object = UNKNOWN) -> Observe:
    """A column of DESCRIBE, which has one row.

    Args:
        name: the column.
        none: its value where nothing is set.
        missing: its value where there is no such column.
    """

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(_DETAIL)
        value = rows[0].get(name, missing) if rows else UNKNOWN
        return none if value in (None, "", "null") else value

    return read


# --- where the files are ---------------------------------------------------------------------------------------------


def _with_sign(text: str) -> str:
    """A reference gives the stage's name alone."""
    return f"@{text.removeprefix('@')}"


def _directory(text: str) -> handlers.Place:
    """A directory on a named stage: `@DB.SCHEMA.STAGE/app`.

    Raises:
        InvalidName: it isn't one.
    """
    found = handlers.place(_with_sign(text))
    if found is None or len(found[0]) != Level.SCHEMA.value:
        raise InvalidName(f"not a directory on a named stage, @<database>.<schema>.<stage>/<path>: {text!r}")
    stage, path = found
    return stage, path.strip("/")


class _Directory(Codec):
    """A directory on a stage, in any of its spellings."""

    def render(self, value: Any) -> Sql:
        return sql.literal(handlers.placed(value) if isinstance(value, tuple) else _with_sign(value))

    def canonical(self, value: str) -> handlers.Place:
        return _directory(value)


class _Copied(_Directory):
    """A directory that files were copied from, which nothing tells afterwards. What is seen is False for an app without
    a live version, and where the files are for one that was made the legacy way."""

    def read(self, raw: object) -> object:
        return raw

    def matches(self, _desired: Any, _observed: Any) -> bool:
        return False


def _root(observation: Observation) -> object:
    """Where the app reads its files; None where it has its own, which lie at `snow://`."""
    found = _described("root_location", missing=None)(observation)
    return found if found is UNKNOWN or str(found).startswith("@") else None


def _copied(observation: Observation) -> object:
    root = _root(observation)
    if root is not None:
        return root
    return False if _described("live_version_location_uri")(observation) is None else UNKNOWN


def _add_live_version(target: Target, _desired: str | None, _observed: object) -> Sequence[Sql]:
    return (target.alter(sql.words("ADD LIVE VERSION FROM LAST")),)


# --- the kind --------------------------------------------------------------------------------------------------------


def _capitals(warehouse: str) -> None:
    if warehouse != warehouse.upper():
        raise ValueError(f"an app can't use a warehouse whose name has lower-case letters: {warehouse!r}")


_WAREHOUSE_RUNTIME = "SYSTEM$WAREHOUSE_RUNTIME"

_seen = partial(prop, details=(_DETAIL,))
"""A property that only DESCRIBE tells."""


class StreamlitSpec(InSchemaSpec):
    """An app in Python that people open in Snowsight."""

    from_: str | None = custom(
        alter=_add_live_version,
        observe=_copied,
        source="describe.live_version_location_uri",
        codec=_Copied(),
        clause=lambda value: sql.sql("FROM {directory}", directory=_Copied().render(value)),
        details=(_DETAIL,),
        reset=KEEP,
        # Of all that is seen, an app without a live version alone can be helped.
        recreate_when=lambda old, _new: old is not False,
        check=_directory,
        alias="from",
        min_length=1,
        max_length=2048,
    )
    """Directory that the app's files are copied from, once, when it is made: @DB.SCHEMA.STAGE/app. Later changes there
    change nothing. Freehold adds the live version, without which only the app's owner can open it."""
    stage_ref: Reference | None = ref("InternalStage", instead_of="from_", qualified=True)
    """InternalStage with the files at its root, in place of from."""
    root_location: str | None = _seen(
        "ROOT_LOCATION",
        observe=_root,
        codec=_Directory(),
        reset=KEEP,
        recreate_when=lambda old, _new: old is None,
        check=_directory,
        min_length=1,
        max_length=2048,
    )
    """Directory that the app reads its files from, which is Snowflake's legacy way."""
    main_file: str | None = _seen(
        "MAIN_FILE",
        observe=_described("main_file"),
        reset=set_to("streamlit_app.py"),
        min_length=1,
        max_length=1024,
    )
    """File that the app begins with. By default streamlit_app.py."""
    warehouse_name: Name | None = prop("QUERY_WAREHOUSE", show="query_warehouse", codec=Identifier(), check=_capitals)
    """Warehouse that it runs on. Without one the app can be made, and doesn't run. Only names in capitals work."""
    warehouse_ref: Reference | None = ref("Warehouse", instead_of="warehouse_name")
    """The Warehouse, in place of its name."""
    runtime_name: str | None = _seen(
        "RUNTIME_NAME",
        observe=_described("runtime_name"),
        codec=Word(spellings={"SYSTEM$ST_WAREHOUSE_RUNTIME_PY3_11": _WAREHOUSE_RUNTIME}),
        reset=set_to(_WAREHOUSE_RUNTIME),
        min_length=1,
        max_length=256,
    )
    """What it runs in: SYSTEM$WAREHOUSE_RUNTIME, as by default, or a container such as
    SYSTEM$ST_CONTAINER_RUNTIME_PY3_11."""
    compute_pool: Name | None = _seen(
        "COMPUTE_POOL", observe=_described("compute_pool"), codec=Identifier(), reset=KEEP
    )
    """Compute pool that its container runs on."""
    compute_pool_ref: Reference | None = ref("ComputePool", instead_of="compute_pool")
    """The ComputePool, in place of its name."""
    external_access_integrations: list[Name] | None = _seen(
        "EXTERNAL_ACCESS_INTEGRATIONS",
        observe=_described("external_access_integrations", none=""),
        codec=handlers.Integrations(),
        max_length=100,
    )
    """Integrations that let it reach hosts outside of Snowflake."""
    external_access_integration_refs: list[Reference] | None = unsupported(
        "this release has no kind ExternalAccessIntegration; use externalAccessIntegrations with names"
    )
    """ExternalAccessIntegrations, in place of their names."""
    secrets: list[handlers.SecretUse] | None = _seen(
        "SECRETS",
        observe=_described("external_access_secrets", none=""),
        codec=handlers.SecretUses(),
        max_length=100,
    )
    """Secrets that it may read, which one of the integrations must let through."""
    imports: list[handlers.Import] | None = _seen(
        "IMPORTS",
        observe=_described("import_urls", none=""),
        codec=handlers.Locations(),
        reset=set_to(()),
        check=handlers.location,
        max_length=500,
    )
    """Files and directories on stages that it may import, such as @DB.SCHEMA.STAGE/code.zip. Not of a container."""
    title: str | None = prop("TITLE", show="title", codec=Comment(), max_length=1024)
    """What people see as its name."""
    comment: str | None = comment()
    """A note for people."""


_CONTAINER = "has(self.runtimeName) && self.runtimeName.contains('CONTAINER')"


def _advice(spec: StreamlitSpec) -> tuple[str, ...]:
    found = list(handlers.advice(spec))
    if not (spec.from_ or spec.stage_ref or spec.root_location):
        found.append("the app is Snowflake's example, which has no live version: set from, or rootLocation")
    if not (spec.warehouse_name or spec.warehouse_ref):
        found.append("the app can't run without a warehouse: set warehouseName, or warehouseRef")
    return tuple(found)


STREAMLIT = Kind(
    spec=StreamlitSpec,
    domain=Domain.SCHEMA,
    object_type="STREAMLIT",
    level=Level.SCHEMA,
    # What people have edited in Snowsight lies in the app alone.
    holds_data=True,
    short_names=("slt",),
    separator=" ",
    details={_DETAIL: Target.describe},
    outputs={"urlId": lambda observation: observation.row.get("url_id")},
    # A container takes a pool, and Snowflake wants both in one statement.
    companions={"runtimeName": ("computePool",)},
    rules=(
        *IN_SCHEMA_RULES,
        exclusive("from", "stageRef", "rootLocation"),
        exclusive("warehouseName", "warehouseRef"),
        exclusive("computePool", "computePoolRef"),
        only_when(("rootLocation",), "has(self.mainFile)", "rootLocation needs mainFile"),
        only_when(
            ("computePool", "computePoolRef"), _CONTAINER, "a compute pool needs a runtimeName that is a container's"
        ),
        only_when(
            ("rootLocation",),
            "!has(self.runtimeName) && !has(self.secrets)",
            "an app with rootLocation has neither runtimeName nor secrets: use from",
        ),
        Rule(
            f"!has(self.mainFile) || !self.mainFile.contains('/') || has(self.rootLocation) || ({_CONTAINER})",
            "mainFile is a name without a path, but in a container or with rootLocation",
            "mainFile",
        ),
    ),
    faults=lambda spec: tuple(handlers.faults(spec.secrets or ())),
    advice=_advice,
)
