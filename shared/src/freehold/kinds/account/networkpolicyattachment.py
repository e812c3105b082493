"""Network policies on the account and on users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from freehold import slots, sql
from freehold.identity import Slot
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, own_name, prop, ref
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.resource import Rule, exactly_one
from freehold.kinds.values import Identifier
from freehold.observation import Row
from freehold.sql import Sql

_PARAMETER = "NETWORK_POLICY"


class NetworkPolicyAttachmentSpec(SnowflakeSpec):
    """The network policy of the account or of a user: each has one at most. Snowflake refuses one that would keep out
    the address that Freehold itself comes from."""

    policy_name: Name | None = prop(_PARAMETER, show="value", codec=Identifier())
    """Stored name of the policy. Another one takes its place at once."""
    policy_ref: Reference | None = ref("NetworkPolicy", instead_of="policy_name")
    """The NetworkPolicy, in place of its name."""
    target_type: Literal["ACCOUNT", "USER"] = own_name()
    """Whether all users have it, or one. A user's own policy counts in place of the account's."""
    target_name: Name | None = immutable()
    """Stored name of the user."""
    target_ref: Reference | None = ref("User", instead_of="target_name", parent=True)
    """The User, in place of the name."""


def _slot(spec: NetworkPolicyAttachmentSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    holder = slots.ACCOUNT
    if spec.target_type == "USER":
        holder = slots.of("USER", *(yield from named_in(spec, "target_name", namespace, kinds)))
    return (slots.attachment("NETWORK POLICY", holder),)


def _target(slot: Slot) -> Sql:
    place = slots.holder(slot)
    words = sql.words(place.type)
    return sql.join((words, sql.named(place.name))) if place.name else words


def _show(slot: Slot) -> Listing:
    query = sql.sql("SHOW PARAMETERS LIKE 'NETWORK_POLICY' IN {target}", target=_target(slot))
    return Listing(query, "key", (_PARAMETER,))


def _fills(slot: Slot, row: Row) -> bool:
    """Whether the target has a policy of its own: users are shown what they have of the account, too."""
    return row["key"] == _PARAMETER and row["level"] == slots.holder(slot).type and bool(row["value"])


def _set(slot: Slot, spec: Any) -> Sql:
    policy = sql.identifier(spec.policy_name)
    return sql.sql("ALTER {target} SET NETWORK_POLICY = {policy}", target=_target(slot), policy=policy)


def _unset(slot: Slot, _force: bool) -> Sql:
    return sql.sql("ALTER {target} UNSET NETWORK_POLICY", target=_target(slot))


def _advice(spec: NetworkPolicyAttachmentSpec) -> Iterator[str]:
    if spec.target_type == "ACCOUNT":
        yield "all users of the account without a policy of their own can sign in only as this policy lets them"


NETWORK_POLICY_ATTACHMENT = Kind(
    spec=NetworkPolicyAttachmentSpec,
    domain=Domain.ACCOUNT,
    object_type="NETWORK POLICY ATTACHMENT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("npa",),
    slots=_slot,
    privileges={"ATTACH POLICY": "targetType ACCOUNT"},
    filling=Filling(show=_show, fills=_fills, fill=_set, empty=_unset, value=("policy_name",), refill=_set),
    rules=(
        exactly_one("policyName", "policyRef"),
        Rule(
            "(self.targetType == 'USER') == (has(self.targetName) || has(self.targetRef))",
            "a USER needs targetName or targetRef, the ACCOUNT has neither",
            "targetName",
        ),
        Rule("!has(self.targetName) || !has(self.targetRef)", "set at most one of targetName and targetRef"),
    ),
    advice=lambda spec: tuple(_advice(spec)),
)
