"""STORAGE INTEGRATION: https://docs.snowflake.com/en/sql-reference/sql/create-storage-integration and the like."""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from freehold_devstack.snowflake import errors, locations
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Property, Refused
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.show_columns import CREATED_ON, NAME, stored
from freehold_devstack.snowflake.values import Boolean, ListOf, Text, choice

_KEPT = Refused("Cannot unset property '{property}' on integration '{name}'")
_ALLOWED, _BLOCKED, _PRIVATE = "STORAGE_ALLOWED_LOCATIONS", "STORAGE_BLOCKED_LOCATIONS", "USE_PRIVATELINK_ENDPOINT"
_PROVIDER, _EXTERNAL_ID, _ACL = "STORAGE_PROVIDER", "STORAGE_AWS_EXTERNAL_ID", "STORAGE_AWS_OBJECT_ACL"
_ROLE_ARN, _TENANT = "STORAGE_AWS_ROLE_ARN", "AZURE_TENANT_ID"

_AWS = frozenset({_ROLE_ARN, _EXTERNAL_ID, _ACL, _PRIVATE})
_OWN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("S3", "S3GOV", "S3CHINA"), _AWS),
    "GCS": frozenset(),
    "AZURE": frozenset({_TENANT, _PRIVATE}),
}
"""What integrations of a provider take beyond what all take."""

_NEEDED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("S3", "S3GOV", "S3CHINA"), (_ROLE_ARN,)),
    "AZURE": (_TENANT,),
}


# --- rules -----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    properties = draft.properties
    if context.catalog.get(draft.id) is None:
        _check_completeness(given, str(properties[_PROVIDER]))
    provider = str(properties[_PROVIDER])
    for name in sorted(given & (_AWS | {_TENANT}) - _OWN[provider]):
        raise errors.invalid_property(name, "STORAGE INTEGRATION")
    for name in (_ALLOWED, _BLOCKED):
        _check_locations(provider, name, texts(properties[name]))
    if _PRIVATE in given and properties[_PRIVATE]:
        locations.check_private_connectivity(context, _storage(provider))
    kept = {name: value for name, value in properties.items() if name in _OWN[provider] or name not in _AWS | {_TENANT}}
    return replace(draft, properties=kept)


def _check_completeness(given: frozenset[str], provider: str) -> None:
    needed = ("TYPE", _PROVIDER, "ENABLED", _ALLOWED)
    missing = [name for name in (*needed, *_NEEDED.get(provider, ())) if name not in given]
    if missing:
        raise errors.missing_options(missing)


def _storage(provider: str) -> locations.Storage:
    return next(storage for storage in locations.STORAGES.values() if storage.provider == provider)


def _check_locations(provider: str, name: str, urls: Sequence[str]) -> None:
    for url in urls:
        if url == locations.ANYWHERE and name == _ALLOWED and len(urls) == 1:
            continue
        if locations.storage_of(url).provider != provider:
            raise errors.url_prefix(url)


def covers(integration: CatalogObject, url: str) -> bool:
    """Whether stages of an integration may be at a location of its provider."""
    properties = integration.properties
    allowed, blocked = (texts(properties[name]) for name in (_ALLOWED, _BLOCKED))
    return (
        locations.storage_of(url).provider == properties[_PROVIDER]
        and locations.lies_in(url, allowed)
        and not locations.lies_in(url, blocked)
    )


# --- what the server makes of it -------------------------------------------------------------------------------------


def _digest(*parts: object) -> str:
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()


def _iam_user(context: Context, _integration: CatalogObject) -> str:
    """Every integration of an account has the same one."""
    account = _digest("aws", context.identity.locator)
    return f"arn:aws:iam::{int(account[:12], 16) % 10**12:012d}:user/{account[12:16]}0000-s"


def _external_id(context: Context, integration: CatalogObject) -> str:
    """The chosen one, else one that stays the same as long as the integration is there."""
    chosen = integration.properties[_EXTERNAL_ID]
    return str(
        chosen or f"{context.identity.locator}_SFCRole=2_{_digest('id', integration.id, integration.created_on)[:24]}="
    )


def _service_account(context: Context, _integration: CatalogObject) -> str:
    return f"{_digest('gcp', context.identity.locator)[:12]}@gcpeuropewest3-1234.iam.gserviceaccount.com"


def _consent_url(context: Context, integration: CatalogObject) -> str:
    client = uuid.UUID(_digest("azure", context.identity.locator)[:32])
    tenant = integration.properties[_TENANT]
    return f"https://login.microsoftonline.com/{tenant}/oauth2/authorize?client_id={client}&response_type=code"


def _application(context: Context, _integration: CatalogObject) -> str:
    number = int(_digest("azure", context.identity.locator)[32:44], 16)
    return f"{context.identity.locator.lower()}snowflakepacint_{number % 10**13:013d}"


# --- DESCRIBE --------------------------------------------------------------------------------------------------------

_Teller = Callable[[Context, CatalogObject], str]


def _plain(name: str) -> _Teller:
    def tell(_context: Context, integration: CatalogObject) -> str:
        value = integration.properties.get(name)
        if isinstance(value, bool):
            return str(value).lower()
        return ",".join(texts(value)) if name in {_ALLOWED, _BLOCKED} else str(value or "")

    return tell


def _rows(provider: str) -> Sequence[tuple[str, str, _Teller, str]]:
    """Name, type, value and default of what DESCRIBE tells of an integration of a provider."""
    return (
        ("ENABLED", "Boolean", _plain("ENABLED"), "false"),
        (_PROVIDER, "String", _plain(_PROVIDER), ""),
        (_ALLOWED, "List", _plain(_ALLOWED), "[]"),
        (_BLOCKED, "List", _plain(_BLOCKED), "[]"),
        *_PROVIDERS_ROWS.get(provider, _AWS_ROWS),
        (_PRIVATE, "Boolean", lambda _, obj: str(bool(obj.properties.get(_PRIVATE))).lower(), "false"),
        ("COMMENT", "String", _plain("COMMENT"), ""),
    )


_AWS_ROWS: Sequence[tuple[str, str, _Teller, str]] = (
    ("STORAGE_AWS_IAM_USER_ARN", "String", _iam_user, ""),
    (_ROLE_ARN, "String", _plain(_ROLE_ARN), ""),
    (_ACL, "String", _plain(_ACL), ""),
    (_EXTERNAL_ID, "String", _external_id, ""),
)
_PROVIDERS_ROWS: Mapping[str, Sequence[tuple[str, str, _Teller, str]]] = {
    "GCS": (("STORAGE_GCP_SERVICE_ACCOUNT", "String", _service_account, ""),),
    "AZURE": (
        (_TENANT, "String", _plain(_TENANT), ""),
        ("AZURE_CONSENT_URL", "String", _consent_url, ""),
        ("AZURE_MULTI_TENANT_APP_NAME", "String", _application, ""),
    ),
}


def _describe(context: Context, integration: CatalogObject) -> Result:
    rows: list[tuple[Scalar, ...]] = []
    for name, type_, tell, default in _rows(str(integration.properties[_PROVIDER])):
        value = tell(context, integration)
        if value or name != _ACL:
            rows.append((name, type_, value, default))
    return Result(tuple(map(text, ("property", "property_type", "property_value", "property_default"))), rows)


# --- the declaration -------------------------------------------------------------------------------------------------

_COLUMNS = (
    NAME,
    ShowColumn(text("type"), stored("TYPE")),
    ShowColumn(text("category"), lambda *_: "STORAGE"),
    ShowColumn(text("enabled"), _plain("ENABLED")),
    ShowColumn(text("comment"), lambda _, obj: str(obj.properties["COMMENT"]) or None),
    CREATED_ON,
)

TYPE = ObjectType(
    kind="STORAGE INTEGRATION",
    plural="STORAGE INTEGRATIONS",
    aliases=(("INTEGRATION", "INTEGRATIONS"),),
    namespace="INTEGRATION",
    granted_as="INTEGRATION",
    noun="INTEGRATION",
    title="Integration",
    properties=(
        Property("TYPE", choice("EXTERNAL_STAGE"), only="CREATE"),
        Property(_PROVIDER, choice("S3", "S3GOV", "S3CHINA", "GCS", "AZURE"), only="CREATE"),
        Property("ENABLED", Boolean(), unset=False),
        Property(_ALLOWED, ListOf(Text(), low=1), unset=_KEPT),
        Property(_BLOCKED, ListOf(Text()), (), unset=()),
        Property(_ROLE_ARN, Text(check=lambda arn: arn.startswith("arn:")), unset=_KEPT),
        Property(_EXTERNAL_ID, Text(check=bool)),
        Property(_ACL, choice("bucket-owner-full-control")),
        Property(_TENANT, Text(check=bool), unset=_KEPT),
        Property(_PRIVATE, Boolean(), False, unset=_KEPT),
        Property("COMMENT", Text(), "", unset=""),
    ),
    renames=False,
    tagged_at_creation=False,
    rights=Rights(
        grantable=frozenset({"USAGE", "USE_ANY_ROLE"}),
        create="CREATE INTEGRATION",
        describe="USAGE",
    ),
    show=Show(_COLUMNS, scoped=False),
    describe=_describe,
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
