"""Directory tables of stages: their options, and the forms of ALTER that change and refresh them."""

from collections.abc import Mapping
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Value, mapped
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act
from freehold_devstack.snowflake.parser import Parser, print_identifier
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.stages.properties import (
    DIRECTORY,
    INTEGRATION,
    REFRESHED,
    has_directory,
    is_external,
    storage_of,
)
from freehold_devstack.snowflake.values import Boolean, Group, Text, read_value


def with_directory(
    context: Context, old: CatalogObject | None, draft: CatalogObject, given: frozenset[str]
) -> CatalogObject:
    """Check the options of the directory table and note when it was last refreshed."""
    directory = dict(mapped(draft.properties[DIRECTORY]))
    if DIRECTORY in given:
        _check_directory(context, draft, directory)
    refreshes = directory.pop("REFRESH_ON_CREATE", None)
    if old is not None:
        if refreshes is not None:
            raise errors.unsupported("CREATE OR ALTER STAGE REFRESH_ON_CREATE")
        refreshed = draft.properties.get(REFRESHED) if directory.get("ENABLE") else None
    else:
        refreshed = context.now if directory.get("ENABLE") and refreshes is not False else None
    return replace(draft, properties={**draft.properties, DIRECTORY: directory or None, REFRESHED: refreshed})


def _check_directory(context: Context, stage: CatalogObject, directory: Mapping[str, Value]) -> None:
    external = is_external(stage)
    if not directory["ENABLE"] and len(directory) > 1:
        raise errors.unnumbered("A directory table takes options only with ENABLE = TRUE.")
    fits = {
        "REFRESH_ON_CREATE": external,
        "AWS_SNS_TOPIC": external and storage_of(stage).provider.startswith("S3"),
        "NOTIFICATION_INTEGRATION": external and storage_of(stage).provider in {"GCS", "AZURE"},
    }
    for name in (name for name in directory if not fits.get(name, True)):
        raise errors.unnumbered(f"{name} doesn't fit the directory table of this stage.")
    notifier = directory.get("NOTIFICATION_INTEGRATION")
    if notifier is not None:
        # None can be made here, so that whatever the name says is missing.
        raise context.missing("INTEGRATION", print_identifier(str(notifier)))
    if directory.get("AUTO_REFRESH") and fits["NOTIFICATION_INTEGRATION"]:
        raise errors.unnumbered("AUTO_REFRESH takes a NOTIFICATION_INTEGRATION.")


OPTIONS = Group(
    {
        "ENABLE": Boolean(),
        "AUTO_REFRESH": Boolean(),
        "REFRESH_ON_CREATE": Boolean(),
        "AWS_SNS_TOPIC": Text(check=lambda arn: arn.startswith("arn:")),
        "NOTIFICATION_INTEGRATION": Text(check=bool),
    },
    required=frozenset({"ENABLE"}),
)


_ENABLE = Group({"ENABLE": Boolean()}, required=frozenset({"ENABLE"}))


def set_directory(parser: Parser) -> Act:
    """ALTER STAGE … SET DIRECTORY = (ENABLE = …), which is a statement of its own."""
    parser.expect("=")
    literal = parser.literal()

    def act(context: Context, stage: CatalogObject) -> None:
        enable = read_value(DIRECTORY, _ENABLE, literal)
        # Only the topic stays: AUTO_REFRESH goes back to its default.
        kept = {name: arn for name, arn in mapped(stage.properties[DIRECTORY]).items() if name == "AWS_SNS_TOPIC"}
        directory: Value = {**mapped(enable), **kept}
        context.catalog.update(stage, replace(stage, properties={**stage.properties, DIRECTORY: directory}))

    return act


_REFRESHED_FILES = tuple(map(text, ("file", "status", "description")))


def refresh(parser: Parser) -> Act:
    """ALTER STAGE … REFRESH [SUBPATH = '<path>']: no stage here holds a file."""
    if parser.accept("SUBPATH"):
        parser.expect("=")
        parser.string()

    def act(context: Context, stage: CatalogObject) -> Result:
        context.require(OWNERSHIP if is_external(stage) else "WRITE", stage)
        if not has_directory(stage):
            raise errors.unnumbered(f"Stage '{stage.name}' has no directory table.")
        _check_integration(context, stage)
        context.catalog.update(stage, replace(stage, properties={**stage.properties, REFRESHED: context.now}))
        return Result(_REFRESHED_FILES, [])

    return act


def _check_integration(context: Context, stage: CatalogObject) -> None:
    """A stage lives on without its integration, but can't be used."""
    integration = stage.properties[INTEGRATION]
    if isinstance(integration, int) and not context.catalog.is_live(context.catalog[integration]):
        name = context.catalog[integration].name
        raise errors.unnumbered(f"Integration '{name}' associated with the stage '{stage.name}' cannot be found.")
