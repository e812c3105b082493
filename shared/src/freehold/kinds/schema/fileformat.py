"""File formats."""

from __future__ import annotations

from freehold.kinds.fields import comment
from freehold.kinds.file_formats import FORMAT_RULES, FormatOptions, faults
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import Target, set_to
from freehold.kinds.steps import Difference, Step
from freehold.observation import Observation


class FileFormatSpec(FormatOptions, InSchemaSpec):
    """How files are read and written: what they are, and how values stand in them."""

    comment: str | None = comment(reset=set_to(""))
    """A note for people."""


def _parsing_given_up_first(
    _target: Target, _observation: Observation, differences: tuple[Difference, ...], steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """A header can't be skipped while it is parsed, nor the other way round: PARSE_HEADER has a statement of its own,
    which comes last where it is turned on."""
    turned_off = any(each.field.attribute == "parse_header" and not each.desired for each in differences)
    return steps[::-1] if turned_off else steps


FILE_FORMAT = Kind(
    spec=FileFormatSpec,
    domain=Domain.SCHEMA,
    object_type="FILE FORMAT",
    level=Level.SCHEMA,
    holds_data=False,
    short_names=("ff",),
    shown_in_pages=False,
    create_or_alter=True,
    separator=" ",
    rules=(*IN_SCHEMA_RULES, *FORMAT_RULES),
    around_alter=_parsing_given_up_first,
    faults=faults,
)
