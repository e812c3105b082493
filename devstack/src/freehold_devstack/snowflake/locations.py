"""Locations in cloud storage: their URLs, whose storage they mean, and what lies in what.

https://docs.snowflake.com/en/sql-reference/sql/create-stage
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.context import Context

ANYWHERE = "*"
"""As an allowed location: all of them."""


@dataclass(frozen=True)
class Storage:
    """Storage of one provider.

    Attributes:
        provider: STORAGE_PROVIDER of the integrations for it; empty where there are none.
        cloud: The column `cloud` of SHOW STAGES.
        credentials: Forms of CREDENTIALS: what has to be given together, and what may be added.
        encryption: TYPE of ENCRYPTION, and what has to be and may be given with it.
        label: What errors about private connectivity call it.
    """

    provider: str
    cloud: str
    credentials: tuple[tuple[frozenset[str], frozenset[str]], ...]
    encryption: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    label: str


_NONE: frozenset[str] = frozenset()
_KEY = frozenset({"AWS_KEY_ID", "AWS_SECRET_KEY"})
_MASTER, _KMS = frozenset({"MASTER_KEY"}), frozenset({"KMS_KEY_ID"})
_AWS_CREDENTIALS = ((_KEY, frozenset({"AWS_TOKEN"})), (frozenset({"AWS_ROLE"}), _NONE))
_AWS_ENCRYPTION = {
    "AWS_CSE": (_MASTER, _NONE),
    "AWS_SSE_S3": (_NONE, _NONE),
    "AWS_SSE_KMS": (_NONE, _KMS),
    "NONE": (_NONE, _NONE),
}


def _s3(provider: str) -> Storage:
    return Storage(provider, "AWS", _AWS_CREDENTIALS, _AWS_ENCRYPTION, "S3")


STORAGES: Mapping[str, Storage] = {
    "s3": _s3("S3"),
    "s3gov": _s3("S3GOV"),
    "s3china": _s3("S3CHINA"),
    "s3compat": Storage("", "AWS", ((_KEY, _NONE),), {}, "S3"),
    "gcs": Storage("GCS", "GCP", (), {"GCS_SSE_KMS": (_NONE, _KMS), "NONE": (_NONE, _NONE)}, "Google Cloud Storage"),
    "azure": Storage(
        "AZURE",
        "AZURE",
        ((frozenset({"AZURE_SAS_TOKEN"}), _NONE),),
        {"AZURE_CSE": (_MASTER, _NONE), "NONE": (_NONE, _NONE)},
        "Azure Storage",
    ),
}
"""The storages by the scheme of their URLs."""

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_AZURE = re.compile(
    r"[a-z0-9]+\.blob\.(core\.windows\.net|core\.chinacloudapi\.cn|core\.usgovcloudapi\.net|fabric\.microsoft\.com)"
)


def storage_of(url: str) -> Storage:
    """Whose storage a URL means.

    Raises:
        SqlError: 001011 for a URL of no known scheme, 999999 for one without a bucket or container.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in STORAGES:
        raise errors.url_prefix(url)
    authority, _, path = rest.partition("/")
    well_formed = _AZURE.fullmatch(authority) and path.strip("/") if scheme == "azure" else _BUCKET.fullmatch(authority)
    if not well_formed:
        raise errors.unnumbered(f"invalid location '{url}'")
    return STORAGES[scheme]


def lies_in(url: str, locations: Iterable[str]) -> bool:
    """Whether a URL is one of the locations or below one; paths count as case-sensitive."""
    place = url.rstrip("/") + "/"
    return any(location == ANYWHERE or place.startswith(location.rstrip("/") + "/") for location in locations)


def check_private_connectivity(context: Context, storage: Storage) -> None:
    """Refuse with 511300 private connectivity to another cloud than the account's own."""
    platform = context.identity.region.partition("_")[0]
    if storage.cloud != platform:
        raise errors.private_connectivity(storage.label, platform.lower())
