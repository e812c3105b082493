"""The properties of stages, and what they make of one."""

from freehold_devstack.snowflake import locations
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, mapped
from freehold_devstack.snowflake.context import Context

URL, ENDPOINT, ACCESS_POINT = "URL", "ENDPOINT", "AWS_ACCESS_POINT_ARN"
INTEGRATION, CREDENTIALS, ENCRYPTION = "STORAGE_INTEGRATION", "CREDENTIALS", "ENCRYPTION"
PRIVATE, DIRECTORY, FORMAT, REFRESHED = "USE_PRIVATELINK_ENDPOINT", "DIRECTORY", "FILE_FORMAT", "LAST_REFRESHED_ON"
EXTERNAL_ONLY = frozenset({URL, ENDPOINT, ACCESS_POINT, INTEGRATION, CREDENTIALS, PRIVATE})
"""What only external stages have."""

INTERNAL_ENCRYPTIONS = ("SNOWFLAKE_FULL", "SNOWFLAKE_SSE")
STORAGE_INTEGRATION = "STORAGE INTEGRATION"


def has_directory(stage: CatalogObject) -> bool:
    """Whether the directory table of a stage is on."""
    return bool(mapped(stage.properties[DIRECTORY]).get("ENABLE"))


def is_external(stage: CatalogObject) -> bool:
    return bool(stage.properties[URL])


def storage_of(stage: CatalogObject) -> locations.Storage:
    """Whose storage an external stage is in."""
    return locations.storage_of(str(stage.properties[URL]))


def integration_name(context: Context, stage: CatalogObject) -> Scalar:
    """The integration that a stage was made with, which need not be there any more."""
    integration = stage.properties[INTEGRATION]
    return context.catalog[integration].name if isinstance(integration, int) else None
