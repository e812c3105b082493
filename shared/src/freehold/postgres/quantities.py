"""Quantities as Kubernetes writes them (`50Gi`, `500m`) and sizes as PostgreSQL does (`256MB`), by their value.

Rules: "Quantity" in Kubernetes' API reference; "Numeric with Unit" in PostgreSQL's "Setting Parameters".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

_FACTORS: Mapping[str, Decimal] = {
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)},
    **{suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
_NUMBER = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_QUANTITY = re.compile(rf"\+?{_NUMBER}(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]{{1,2}}))?")
PATTERN = f"^{_QUANTITY.pattern.replace('?:', '')}$"
"""Of quantities that aren't negative."""

_SIZE = re.compile(r"([0-9]+) *(B|kB|MB|GB|TB)?")
_SIZES: Mapping[str, int] = {unit: 1024**power for power, unit in enumerate(("B", "kB", "MB", "GB", "TB"))}


def parse(text: str) -> Decimal:
    """The value of a quantity; of a size, in bytes.

    Raises:
        ValueError: it is none, or negative.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no quantity: write a number with a suffix, such as 50Gi or 500m")
    number, suffix, exponent = found.groups()
    return Decimal(number) * (Decimal(10) ** int(exponent) if exponent else _FACTORS[suffix or ""])


def size(text: str) -> int:
    """The bytes of a size in PostgreSQL's spelling. A bare number counts MB, as CloudNativePG reads it.

    Raises:
        ValueError: it is none.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no size: write a number with a unit, such as 256MB or 4GB")
    return int(found[1]) * _SIZES[found[2] or "MB"]


def _written(value: object) -> object:
    """A number as people may write it in YAML, as text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _checked(text: str) -> str:
    parse(text)
    return text


Quantity = Annotated[
    str,
    BeforeValidator(_written),
    AfterValidator(_checked),
    WithJsonSchema({"x-kubernetes-int-or-string": True, "pattern": PATTERN, "maxLength": 32}),
]
"""A quantity that isn't negative, in Kubernetes' spelling; a number without quotes will do."""
