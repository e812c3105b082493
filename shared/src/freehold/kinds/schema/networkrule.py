"""Network rules."""

from __future__ import annotations

import operator
from functools import partial
from typing import Annotated, Literal

from pydantic import StringConstraints

from freehold.kinds.fields import comment, prop
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Target
from freehold.kinds.resource import Rule
from freehold.kinds.values import TextSet, Word
from freehold.observation import UNKNOWN, Observation


def _listed(observation: Observation) -> object:
    rows = (observation.details or {}).get("values")
    return UNKNOWN if rows is None else rows[0]["value_list"] if rows else ""


_fixed = partial(prop, codec=Word(quoted=False), reset=KEEP, recreate_when=operator.ne, required=True)
"""A word that every rule has, and keeps."""


class NetworkRuleSpec(InSchemaSpec):
    """Places in a network that policies and integrations let through, or keep out."""

    type: Literal[
        "IPV4", "IPV6", "AWSVPCEID", "AZURELINKID", "GCPPSCID", "HOST_PORT", "PRIVATE_HOST_PORT", "COMPUTE_POOL"
    ] = _fixed("TYPE", show="type")
    """What the values are."""
    value_list: list[Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^,\s]+$")]] | None = (
        prop("VALUE_LIST", observe=_listed, codec=TextSet(), details=("values",), max_length=10_000)
    )
    """The places, such as 10.0.0.0/8 or example.com:443. Their order means nothing."""
    mode: Literal[
        "INGRESS", "INTERNAL_STAGE", "EGRESS", "POSTGRES_INGRESS", "POSTGRES_EGRESS", "SNOWFLAKE_MANAGED_STORAGE_VOLUME"
    ] = _fixed("MODE", show="mode")
    """What the rule is about: requests to Snowflake, to its internal stages, or from it to the outside."""
    comment: str | None = comment()
    """A note for people."""


NETWORK_RULE = Kind(
    spec=NetworkRuleSpec,
    domain=Domain.SCHEMA,
    object_type="NETWORK RULE",
    level=Level.SCHEMA,
    holds_data=False,
    short_names=("nr",),
    create_or_alter=True,
    details={"values": Target.describe},
    volatile=frozenset({"entries_in_valuelist"}),
    rules=(
        *IN_SCHEMA_RULES,
        Rule(
            "!(self.type in ['HOST_PORT', 'PRIVATE_HOST_PORT']) || self.mode == 'EGRESS'",
            "hosts and ports are of rules for what goes out: set mode to EGRESS",
            "mode",
        ),
        Rule(
            "self.type != 'AWSVPCEID' || self.mode in ['INGRESS', 'INTERNAL_STAGE']",
            "VPC endpoints are of rules for what comes in: set mode to INGRESS or INTERNAL_STAGE",
            "mode",
        ),
    ),
)
