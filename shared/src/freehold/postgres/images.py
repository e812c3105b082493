"""References of container images, as far as they tell the version of PostgreSQL in them."""

from __future__ import annotations

import re

DEFAULT = "ghcr.io/cloudnative-pg/postgresql"
"""CloudNativePG's own images, tagged by version."""

_TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = "[A-Za-z][A-Za-z0-9]*([+._-][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"
PATTERN = rf"^([^\s:@/]+(:[0-9]+)?/)?[^\s:@]+:{_TAG}(@{_DIGEST})?$"
"""Of images with a tag and perhaps a digest."""

_MAJOR = re.compile(r"[0-9]+(?=[-._A-Za-z]|$)")


def without_digest(image: str) -> str:
    """The reference up to its tag."""
    return image.partition("@")[0]


def tag(image: str) -> str:
    """The tag; empty where there is none."""
    return without_digest(image).rpartition("/")[2].partition(":")[2]


def major(image: str) -> int | None:
    """Major version of PostgreSQL that the tag begins with; None where it doesn't."""
    found = _MAJOR.match(tag(image))
    return int(found[0]) if found else None
