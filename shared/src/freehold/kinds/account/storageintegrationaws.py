"""Storage integrations with Amazon S3."""

from __future__ import annotations

import operator
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from freehold import sql
from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, prop
from freehold.kinds.groups import described_property
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Target, set_to
from freehold.kinds.resource import Rule
from freehold.kinds.values import Boolean, Codec, TextSet, Word
from freehold.observation import Observation

_DETAIL = "describe"
_told = partial(described_property, _DETAIL)

Location = Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[^,]+$")]


def _described(keyword: str, *, missing: object = "", **facts: Any) -> Any:
    """A property that DESCRIBE tells; it leaves some out that aren't set."""
    return prop(keyword, observe=_told(keyword, missing=missing), details=(_DETAIL,), **facts)


class _Given(Codec):
    """A text, where an empty one means that there is none."""

    def read(self, raw: object) -> Any:
        return str(raw) if raw else None


class StorageIntegrationAWSSpec(SnowflakeSpec):
    """Access of stages to buckets of Amazon S3, by a role of AWS that trusts Snowflake, without credentials."""

    name: Name = own_name()
    """The integration's name as it is stored: case kept, never folded."""
    storage_provider: Literal["S3", "S3GOV", "S3CHINA"] = _described(
        "STORAGE_PROVIDER",
        codec=Word(),
        reset=KEEP,
        recreate_when=operator.ne,
        clause=lambda value: sql.sql(
            "TYPE = EXTERNAL_STAGE STORAGE_PROVIDER = {provider}", provider=sql.literal(value)
        ),
        default="S3",
    )
    """Where the buckets are: S3, the public sector's S3GOV, or S3CHINA. It can't be changed."""
    storage_aws_role_arn: str = _described(
        "STORAGE_AWS_ROLE_ARN",
        alias="storageAWSRoleARN",
        required=True,
        reset=KEEP,
        min_length=1,
        max_length=2048,
        pattern="^arn:",
    )
    """ARN of the role that has access to the buckets and trusts the user in status.outputs. Another role has to trust
    that as well, or stages fail when they are used."""
    storage_aws_external_id: str | None = _described(
        "STORAGE_AWS_EXTERNAL_ID", codec=_Given(), alias="storageAWSExternalID", min_length=1, max_length=1224
    )
    """The id that Snowflake tells the role. One of your own lets the trust policy be written beforehand; by default
    Snowflake makes one, which status.outputs shows."""
    storage_aws_object_acl: Literal["bucket-owner-full-control"] | None = _described(
        "STORAGE_AWS_OBJECT_ACL", codec=_Given(), alias="storageAWSObjectACL"
    )
    """Access control list that objects get which are written."""
    use_privatelink_endpoint: bool | None = _described("USE_PRIVATELINK_ENDPOINT", codec=Boolean(), reset=set_to(False))
    """Whether the way to the buckets is private."""
    enabled: bool = prop("ENABLED", show="enabled", default=True)
    """Whether stages can use it. Those that do stop working while it is false."""
    storage_allowed_locations: list[Location] = _described(
        "STORAGE_ALLOWED_LOCATIONS", codec=TextSet(), reset=KEEP, required=True, min_length=1, max_length=200
    )
    """Where stages may be, as s3://bucket/path/, or * alone for everywhere. Their order means nothing."""
    storage_blocked_locations: list[Location] | None = _described(
        "STORAGE_BLOCKED_LOCATIONS", codec=TextSet(), max_length=200
    )
    """Where they may not be, inside what is allowed."""
    comment: str | None = comment()
    """A note for people."""


def _adoptable(observation: Observation) -> str | None:
    provider = str(_told("STORAGE_PROVIDER")(observation))
    return None if provider.startswith("S3") else f"its storage provider is {provider}, and this kind is for Amazon S3"


def _locations(field: str, condition: str, message: str) -> Rule:
    return Rule(f"!has(self.{field}) || self.{field}.all(each, {condition})", message, field)


_AT_HOME = (
    "each == '*' || each.startsWith("
    "self.storageProvider == 'S3GOV' ? 's3gov://' : self.storageProvider == 'S3CHINA' ? 's3china://' : 's3://')"
)
_SCHEMES = "a location begins with s3://, with s3gov:// for S3GOV, and with s3china:// for S3CHINA"

STORAGE_INTEGRATION_AWS = Kind(
    spec=StorageIntegrationAWSSpec,
    domain=Domain.ACCOUNT,
    object_type="STORAGE INTEGRATION",
    securable="INTEGRATION",
    namespace_class="INTEGRATION",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("siaws",),
    shown_in_pages=False,
    separator=" ",
    details={_DETAIL: Target.describe},
    outputs={
        "storageAWSIAMUserARN": _told("STORAGE_AWS_IAM_USER_ARN"),
        "storageAWSExternalID": _told("STORAGE_AWS_EXTERNAL_ID"),
    },
    rules=(
        _locations("storageAllowedLocations", _AT_HOME, _SCHEMES),
        _locations("storageBlockedLocations", f"each != '*' && ({_AT_HOME})", _SCHEMES),
        Rule(
            "!('*' in self.storageAllowedLocations) || size(self.storageAllowedLocations) == 1",
            "* allows everything: let it stand alone, and use storageBlockedLocations for what is not allowed",
            "storageAllowedLocations",
        ),
    ),
    adoptable=_adoptable,
    adoption_details=frozenset({_DETAIL}),
)
