"""Masking policies."""

from __future__ import annotations

from contextlib import suppress

import orjson

from freehold import datatypes
from freehold.datatypes import InvalidDataType
from freehold.kinds import signatures
from freehold.kinds.clauses import clause
from freehold.kinds.fields import comment, tags
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import Change, Target
from freehold.kinds.signatures import Argument
from freehold.observation import UNKNOWN, Observation

_EXEMPT = "EXEMPT_OTHER_POLICIES"


def _exempt(observation: Observation) -> object:
    """The column `options` is a JSON object, or empty."""
    options = observation.row.get("options", UNKNOWN)
    if options is UNKNOWN:
        return UNKNOWN
    try:
        found = orjson.loads(str(options or "{}"))
    except ValueError:
        return UNKNOWN
    return found.get(_EXEMPT, False) if isinstance(found, dict) else UNKNOWN


class MaskingPolicySpec(InSchemaSpec):
    """An expression that stands in for the values of columns, for those who may not see them."""

    signature: list[Argument] = signatures.signature()
    """Its arguments: first the value that it masks, then values of further columns that it decides by."""
    return_data_type: str | None = signatures.returns()
    """Type of the masked value. By default that of the first argument, which it must agree with but for its length."""
    body: str = signatures.body("COMMENT", _EXEMPT)
    """The expression that is shown in place of the value."""
    comment: str | None = comment()
    """A note for people."""
    exempt_other_policies: bool | None = clause(
        _EXEMPT, change=Change.RECREATE, observe=_exempt, source="show.options", unset=False
    )
    """Whether row access policies and other masking policies may refer to columns that it masks."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _faults(spec: MaskingPolicySpec) -> tuple[str, ...]:
    """Types that can't be read are told of where they stand."""
    found = signatures.faults(spec)
    with suppress(InvalidDataType):
        masked, returned = datatypes.parse(spec.signature[0].type), datatypes.parse(spec.return_data_type or "")
        if masked.signature != returned.signature:
            return (*found, f"spec.returnDataType: a policy that masks {masked} returns no {returned}")
    return found


MASKING_POLICY = Kind(
    spec=MaskingPolicySpec,
    domain=Domain.SCHEMA,
    object_type="MASKING POLICY",
    level=Level.SCHEMA,
    holds_data=False,
    short_names=("mp",),
    rules=IN_SCHEMA_RULES,
    details={signatures.DETAIL: Target.describe},
    content=(signatures.USES,),
    faults=_faults,
    advice=signatures.advice,
)
