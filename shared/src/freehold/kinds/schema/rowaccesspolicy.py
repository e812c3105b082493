"""Row access policies."""

from __future__ import annotations

from freehold.kinds import signatures
from freehold.kinds.fields import comment, tags
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import Target
from freehold.kinds.signatures import Argument


class RowAccessPolicySpec(InSchemaSpec):
    """A condition that says of each row who may see it."""

    signature: list[Argument] = signatures.signature("BOOLEAN")
    """Its arguments: the values of the columns that it decides by."""
    body: str = signatures.body("COMMENT")
    """The condition, which is true for the rows that are seen."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


ROW_ACCESS_POLICY = Kind(
    spec=RowAccessPolicySpec,
    domain=Domain.SCHEMA,
    object_type="ROW ACCESS POLICY",
    level=Level.SCHEMA,
    holds_data=False,
    short_names=("rap",),
    rules=IN_SCHEMA_RULES,
    details={signatures.DETAIL: Target.describe},
    content=(signatures.USES,),
    faults=signatures.faults,
    advice=signatures.advice,
)
