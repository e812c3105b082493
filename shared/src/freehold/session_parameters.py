"""The session parameters that a ProviderConfig may not set."""

from __future__ import annotations

from collections.abc import Iterable

RESERVED = frozenset(
    {
        # Set by Freehold.
        "QUOTED_IDENTIFIERS_IGNORE_CASE",
        "TIMEZONE",
        "ABORT_DETACHED_QUERY",
        "CLIENT_TELEMETRY_ENABLED",
        "STATEMENT_TIMEOUT_IN_SECONDS",
        "QUERY_TAG",
        # They change what statements do, or how much of an answer arrives: what is missing there would pass for gone.
        "AUTOCOMMIT",
        "MULTI_STATEMENT_COUNT",
        "ROWS_PER_RESULTSET",
        "SIMULATED_DATA_SHARING_CONSUMER",
    }
)
"""Parameters that are Freehold's, or that would make it misread the account."""


def refused(names: Iterable[str]) -> list[str]:
    """The names that may not be set, in whatever case they are written."""
    return sorted(name for name in names if name.upper() in RESERVED)
