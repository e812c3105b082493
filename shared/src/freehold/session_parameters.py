"""The session parameters that are Freehold's own, which a ProviderConfig may not set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

FIXED: Mapping[str, object] = {
    "QUOTED_IDENTIFIERS_IGNORE_CASE": False,  # true would fold the names that we quote
    "TIMEZONE": "UTC",
    "ABORT_DETACHED_QUERY": True,
    "CLIENT_TELEMETRY_ENABLED": False,
}
"""What they are in every session."""

TIMEOUT = "STATEMENT_TIMEOUT_IN_SECONDS"
TAG = "QUERY_TAG"
ROWS = "ROWS_PER_RESULTSET"

RESERVED = FIXED.keys() | {
    TIMEOUT,
    TAG,
    # They change what statements do, or how much of an answer arrives: what is missing there would pass for gone.
    "AUTOCOMMIT",
    "MULTI_STATEMENT_COUNT",
    ROWS,
    "SIMULATED_DATA_SHARING_CONSUMER",
}
"""Parameters that Freehold sets, or that would make it misread the account."""


def refused(names: Iterable[str]) -> list[str]:
    """The names that may not be set, in whatever case they are written."""
    return sorted(name for name in names if name.upper() in RESERVED)
