"""NETWORK POLICY: https://docs.snowflake.com/en/sql-reference/sql/create-network-policy and the pages beside it."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, listed, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Property
from freehold_devstack.snowflake.network_access import (
    IP_LISTS,
    PARAMETER,
    RULE_LISTS,
    check_change,
    entries,
    holders,
    is_network,
    rules,
)
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Result, number, text
from freehold_devstack.snowflake.show_columns import COMMENT, CREATED_ON, NAME
from freehold_devstack.snowflake.values import ListOf, Names, Text, read_value

_MAX_CHARACTERS = 100_000
"""Of ALLOWED_IP_LIST."""

# --- rules -----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Names of rules become ids, so that the lists follow what happens to the rules."""
    properties = dict(draft.properties)
    for name in RULE_LISTS:
        if name in given:
            properties[name] = _resolved(context, draft, _names(properties[name]))
    if len(",".join(entries(draft, IP_LISTS[0]))) > _MAX_CHARACTERS:
        raise errors.unnumbered(f"{IP_LISTS[0]} is longer than {_MAX_CHARACTERS} characters.")
    settled = replace(draft, properties=properties)
    check_change(context, settled)
    return settled


def _names(value: Value) -> list[Name]:
    return [texts(name) for name in listed(value)]


def _resolved(context: Context, policy: CatalogObject, names: Iterable[Name]) -> tuple[int, ...]:
    """The ids of the rules."""
    ids = []
    for name in names:
        rule = context.resolve(context.types["NETWORK RULE"], name, "ALTER")
        context.require("USAGE", rule)
        if "EGRESS" in str(rule.properties["MODE"]):
            raise errors.unnumbered(
                f"The egress network rule {rule.name} cannot be attached to the network policy {policy.name}."
            )
        ids.append(rule.id)
    return tuple(ids)


def _dropping(context: Context, policy: CatalogObject) -> None:
    for holder in holders(context.catalog, policy):
        raise errors.network_policy_attached(policy.name, holder.kind, holder.name)


def _redefining(context: Context, policy: CatalogObject) -> None:
    for holder in holders(context.catalog, policy):
        raise errors.unnumbered(
            f"Network policy {policy.name} cannot be replaced as it is attached to {holder.kind} {holder.name}."
        )


def _renamed(context: Context, old: CatalogObject, new: CatalogObject) -> None:
    for holder in holders(context.catalog, old):
        context.catalog.update(holder, replace(holder, parameters={**holder.parameters, PARAMETER: new.name}))


# --- forms of ALTER --------------------------------------------------------------------------------------------------


def _change_rules(name: str, parser: Parser, *, add: bool) -> Act:
    parser.expect("=")
    literal = parser.literal()
    names = _names(read_value(name, ListOf(Names(), low=1), literal))

    def act(context: Context, policy: CatalogObject) -> None:
        old = tuple(map(int, entries(policy, name)))
        changed = _resolved(context, policy, names)
        kept = [rule for rule in old if add or rule not in changed]
        new = (*kept, *(rule for rule in dict.fromkeys(changed) if add and rule not in old))
        altered = replace(policy, properties={**policy.properties, name: new})
        check_change(context, altered)
        context.catalog.update(policy, altered)

    return act


# --- the declaration -------------------------------------------------------------------------------------------------


def _describe(context: Context, policy: CatalogObject) -> Result:
    """Only the lists that hold something."""
    shown = {name: ",".join(entries(policy, name)) for name in IP_LISTS}
    for name in RULE_LISTS:
        listed = [{"fullyQualifiedRuleName": context.print_path(each)} for each in rules(context.catalog, policy, name)]
        shown[name] = json.dumps(listed, separators=(",", ":")) if listed else ""
    return Result((text("name"), text("value")), [(name, value) for name, value in shown.items() if value])


def _count(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, policy: len(entries(policy, name))


def _is_blockable(value: str) -> bool:
    """Whether it is a range of addresses, but not that of all."""
    return is_network(IPv4Network, value) and not value.endswith("/0")


_ADDRESSES, _BLOCKABLE = Text(check=partial(is_network, IPv4Network)), Text(check=_is_blockable)

TYPE = ObjectType(
    kind="NETWORK POLICY",
    plural="NETWORK POLICIES",
    properties=(
        *(Property(name, ListOf(Names()), (), unset=()) for name in RULE_LISTS),
        Property(IP_LISTS[0], ListOf(_ADDRESSES), (), unset=()),
        Property(IP_LISTS[1], ListOf(_BLOCKABLE), (), unset=()),
        Property("COMMENT", Text(), default="", unset=""),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE"}),
        shown_to=frozenset(),
    ),
    actions=tuple(
        Action(f"{verb} {name}", partial(_change_rules, name, add=verb == "ADD"))
        for verb in ("ADD", "REMOVE")
        for name in RULE_LISTS
    ),
    show=Show(
        (
            CREATED_ON,
            NAME,
            COMMENT,
            *(ShowColumn(number(f"entries_in_{name.lower()}"), _count(name)) for name in IP_LISTS),
            ShowColumn(number("entries_in_allowed_network_rules"), _count(RULE_LISTS[0])),
            ShowColumn(number("entries_in_blocked_network_rules"), _count(RULE_LISTS[1])),
        ),
        like=False,
        cut=True,
    ),
    describe=_describe,
    or_alter=True,
    tagged_at_creation=False,
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=_dropping,
        replacing=_redefining,
        redefining=_redefining,
        renamed=_renamed,
    ),
)
