"""Network policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import IPv4Network
from typing import Annotated, Any

import orjson
from pydantic import StringConstraints

from freehold import sql
from freehold.identifiers import split, split_in_schema
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, prop, ref
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import Target, set_to
from freehold.kinds.resource import exclusive
from freehold.kinds.values import Codec, TextSet
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

_MOST_ADDRESSES, _MOST_RULES = 2_000, 500

_DETAIL = "lists"


def _list_of(name: str) -> Callable[[Observation], object]:
    """The row of a list, which is there only while the list holds something."""

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(_DETAIL)
        return UNKNOWN if rows is None else next((row["value"] for row in rows if row["name"] == name), "")

    return read


def _network(text: str) -> IPv4Network:
    try:
        return IPv4Network(text, strict=False)
    except ValueError as error:
        raise ValueError(
            f"{text!r} is neither an IPv4 address nor a range such as 192.0.2.0/24; IPv6 needs a NetworkRule"
        ) from error


def _blockable(text: str) -> None:
    if _network(text).prefixlen == 0:
        raise ValueError(f"{text} is every address, which Snowflake refuses to block: name the ranges to keep out")


class _Addresses(TextSet):
    """IPv4 addresses and ranges as a set; bits beyond a range's prefix mean nothing."""

    def canonical(self, value: Any) -> tuple[str, ...]:
        return tuple(sorted({str(_network(each)).removesuffix("/32") for each in value}))


class _Rules(Codec):
    """Network rules as a set of names. Accounts print them as JSON with qualified names, or bare with commas."""

    def render(self, value: Any) -> Sql:
        names = sorted(value) if isinstance(value, frozenset) else [split(each) for each in value]
        return sql.sql("({all})", all=sql.join([sql.identifier(*each) for each in names], ", "))

    def canonical(self, value: Any) -> frozenset[tuple[str, ...]]:
        return frozenset(split(each) for each in value)

    def read(self, raw: object) -> frozenset[tuple[str, ...]]:
        text = str(raw or "")
        if text.startswith("["):
            return self.canonical([each["fullyQualifiedRuleName"] for each in orjson.loads(text)])
        return self.canonical([each.strip() for each in text.split(",") if each.strip()])

    def matches(self, desired: Any, observed: Any) -> bool:
        if all(len(each) > 1 for each in observed):
            return bool(desired == observed)
        return sorted(each[-1] for each in desired) == sorted(each[-1] for each in observed)


def _addresses(which: str, check: Callable[[str], object]) -> Any:
    keyword = f"{which}_IP_LIST"
    return prop(
        keyword,
        observe=_list_of(keyword),
        codec=_Addresses(),
        reset=set_to(()),
        details=(_DETAIL,),
        check=check,
        alias=f"{which.lower()}IPList",
        max_length=_MOST_ADDRESSES,
    )


def _rules(which: str) -> Any:
    keyword = f"{which}_NETWORK_RULE_LIST"
    return prop(
        keyword,
        observe=_list_of(keyword),
        codec=_Rules(),
        reset=set_to(()),
        details=(_DETAIL,),
        check=split_in_schema,
        max_length=_MOST_RULES,
    )


_rule_refs = partial(ref, "NetworkRule", qualified=True, max_length=_MOST_RULES)

Address = Annotated[str, StringConstraints(min_length=7, max_length=18)]
RuleName = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class NetworkPolicySpec(SnowflakeSpec):
    """From where users may sign in, once it is attached to the account or to them."""

    name: Name = own_name()
    """The policy's name as it is stored: case kept, never folded."""
    allowed_network_rule_list: list[RuleName] | None = _rules("ALLOWED")
    """Network rules that let in, each by its fully-qualified name: DATABASE.SCHEMA.NAME."""
    allowed_network_rule_refs: list[Reference] | None = _rule_refs(instead_of="allowed_network_rule_list")
    """The NetworkRules that let in, in place of their names."""
    blocked_network_rule_list: list[RuleName] | None = _rules("BLOCKED")
    """Network rules that keep out, each by its fully-qualified name. What is blocked stays out, even if it is also
    allowed."""
    blocked_network_rule_refs: list[Reference] | None = _rule_refs(instead_of="blocked_network_rule_list")
    """The NetworkRules that keep out, in place of their names."""
    allowed_ip_list: list[Address] | None = _addresses("ALLOWED", _network)
    """IPv4 addresses and ranges, such as 192.0.2.0/24, that are let in. Empty without allowed rules lets nobody in."""
    blocked_ip_list: list[Address] | None = _addresses("BLOCKED", _blockable)
    """IPv4 addresses and ranges that are kept out, even if they are also allowed."""
    comment: str | None = comment()
    """A note for people."""


_ALLOWED = ("allowed_ip_list", "allowed_network_rule_list", "allowed_network_rule_refs")


def _faults(spec: NetworkPolicySpec) -> Iterator[str]:
    """What lets nobody in locks everybody out who has the policy: it must be written."""
    if all(getattr(spec, each) is None for each in _ALLOWED) and not spec.management_policies.observe_only:
        yield (
            "spec.allowedIPList: a policy that allows nothing lets nobody sign in: list addresses here or rules in "
            "allowedNetworkRuleRefs, or write allowedIPList: [] if that is meant"
        )


def _advice(spec: NetworkPolicySpec) -> Iterator[str]:
    given = [getattr(spec, each) for each in _ALLOWED]
    if any(each is not None for each in given) and not any(given):
        yield "nothing is allowed: whoever has this policy can't sign in"


NETWORK_POLICY = Kind(
    spec=NetworkPolicySpec,
    domain=Domain.ACCOUNT,
    object_type="NETWORK POLICY",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("np",),
    # CREATE OR ALTER is refused while a policy is attached, which it is made for.
    separator=" ",
    shown_by_name=False,
    shown_in_pages=False,
    details={_DETAIL: Target.describe},
    rules=(
        exclusive("allowedNetworkRuleList", "allowedNetworkRuleRefs"),
        exclusive("blockedNetworkRuleList", "blockedNetworkRuleRefs"),
    ),
    faults=lambda spec: tuple(_faults(spec)),
    advice=lambda spec: tuple(_advice(spec)),
)
