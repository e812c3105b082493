"""Texts and times in the forms that the API wants."""

from __future__ import annotations

from datetime import UTC, datetime

_TAIL = 160
"""Bytes that are kept of the end of a shortened text: an error's query id comes last."""


def shortened(text: str, limit: int) -> str:
    """The text in at most so many bytes of UTF-8: its beginning and its end, the middle left out.

    Args:
        text: any text.
        limit: bytes, as the API server counts them; at least 512.
    """
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    gap = " ... "
    head = encoded[: limit - _TAIL - len(gap)].decode(errors="ignore")
    return head + gap + encoded[-_TAIL:].decode(errors="ignore")


def micro_time(moment: datetime) -> str:
    """A MicroTime, as Leases and Events have it: RFC 3339 in UTC with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
