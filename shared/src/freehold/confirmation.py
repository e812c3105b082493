"""The confirmation of DROPs beyond the cap of a ProviderConfig: an annotation, with the time until which it holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from freehold.kinds.account.providerconfig import CONFIRMED_UNTIL

FORM = "2006-01-02T15:04:05Z"
"""How the time is written (RFC 3339), for people."""


def until(annotations: Mapping[str, str]) -> datetime | None:
    """The end of the confirmation; None where there is none, or none that can be read.

    Args:
        annotations: of the ProviderConfig.
    """
    try:
        time = datetime.fromisoformat(annotations.get(CONFIRMED_UNTIL, ""))
    except ValueError:
        return None
    return time if time.tzinfo else None


def unreadable(annotations: Mapping[str, str]) -> str | None:
    """What the annotation says in place of a time; None where there is none, or it says one.

    Args:
        annotations: likewise.
    """
    text = annotations.get(CONFIRMED_UNTIL)
    return text if text and not until(annotations) else None


def fault(annotations: Mapping[str, str]) -> str | None:
    """What is wrong with the annotation, and how it is written; None where nothing is.

    Args:
        annotations: likewise.
    """
    text = unreadable(annotations)
    if text is None:
        return None
    return f"annotation {CONFIRMED_UNTIL} is {text!r}, which is no time and confirms nothing: write it as {FORM}"
