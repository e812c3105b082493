"""What goes together in a stage."""

from collections.abc import Mapping
from dataclasses import replace

from freehold_devstack.snowflake import errors, format_options, locations
from freehold_devstack.snowflake.catalog import CatalogObject, Value, mapped
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.objects.storage_integration import covers
from freehold_devstack.snowflake.stages.directory import with_directory
from freehold_devstack.snowflake.stages.properties import (
    ACCESS_POINT,
    CREDENTIALS,
    ENCRYPTION,
    ENDPOINT,
    EXTERNAL_ONLY,
    FORMAT,
    INTEGRATION,
    INTERNAL_ENCRYPTIONS,
    PRIVATE,
    STORAGE_INTEGRATION,
    URL,
    is_external,
    storage_of,
)


def settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """As `Lifecycle.settle`."""
    old = context.catalog.get(draft.id)
    if URL in given and not is_external(draft):
        raise errors.url_prefix("")
    if old is not None:
        _check_kept(old, draft)
    draft = _with_format(context, draft, given)
    draft = with_directory(context, old, draft, given)
    if is_external(draft):
        return _settle_external(context, draft, given)
    if given & EXTERNAL_ONLY:
        raise errors.stage_location_missing(draft.name) if old is None else errors.internal_stage()
    encryption = mapped(draft.properties[ENCRYPTION])
    if encryption and (encryption.get("TYPE") not in INTERNAL_ENCRYPTIONS or len(encryption) > 1):
        raise errors.internal_stage()
    return draft


def _check_kept(old: CatalogObject, draft: CatalogObject) -> None:
    """Refuse what neither ALTER nor CREATE OR ALTER can change."""
    if not is_external(old):
        if is_external(draft) or old.properties[ENCRYPTION] != draft.properties[ENCRYPTION]:
            raise errors.internal_stage()
    elif not is_external(draft):
        raise errors.stage_location_missing(draft.name)
    elif storage_of(old) is not storage_of(draft):
        raise errors.unnumbered("The storage provider of a stage can't be changed.")


def _with_format(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """A stage keeps the full name of a file format: one that takes its place is taken up again."""
    name = mapped(draft.properties[FORMAT]).get(format_options.FORMAT_NAME)
    if FORMAT not in given or not isinstance(name, tuple):
        return draft
    file_format = context.resolve_reference("FILE FORMAT", name, "CREATE")
    context.require("USAGE", file_format, primary_only=True)
    named: Value = {format_options.FORMAT_NAME: context.catalog.path(file_format)}
    return replace(draft, properties={**draft.properties, FORMAT: named})


def _settle_external(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    storage, properties = storage_of(draft), dict(draft.properties)
    if {INTEGRATION, CREDENTIALS} <= given:
        raise errors.unnumbered(f"{INTEGRATION} and {CREDENTIALS} can't be given together.")
    if INTEGRATION in given:
        properties |= {INTEGRATION: _integration(context, str(properties[INTEGRATION])).id, CREDENTIALS: None}
    if CREDENTIALS in given:
        properties[INTEGRATION] = None
    _check_credentials(storage, mapped(properties[CREDENTIALS]))
    properties[ENCRYPTION] = _encryption(storage, mapped(properties[ENCRYPTION]))
    _check_location(context, storage, properties, given)
    return replace(draft, properties=properties)


def _integration(context: Context, name: str) -> CatalogObject:
    integration = context.resolve_reference(STORAGE_INTEGRATION, (name,), "CREATE")
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
    url = str(properties[URL])
    if bool(properties[ENDPOINT]) != url.startswith("s3compat://"):
        raise errors.unnumbered(f"{ENDPOINT} has to be given for S3-compatible storage, and for no other.")
    if properties[ACCESS_POINT] and (storage.cloud != "AWS" or properties[ENDPOINT]):
        raise errors.unnumbered(f"{ACCESS_POINT} is for Amazon S3 alone.")
    integration = properties[INTEGRATION]
    if isinstance(integration, int):
        known = context.catalog[integration]
        if given & {URL, INTEGRATION} and not covers(known, url):
            raise errors.location_refused(url, known.name)
    if properties[PRIVATE]:
        if integration is not None:
            raise errors.unnumbered(
                "Integration based stages are not allowed to be altered to use privatelink endpoint. "
                "Please alter the storage integration instead"
            )
        locations.check_private_connectivity(context, storage)
