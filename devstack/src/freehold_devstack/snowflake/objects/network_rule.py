"""NETWORK RULE: https://docs.snowflake.com/en/sql-reference/sql/create-network-rule and the pages beside it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network, IPv6Network

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Property
from freehold_devstack.snowflake.network_access import is_network, policies_with, values
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Literal
from freehold_devstack.snowflake.results import Result, number, text, timestamp
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    stored,
)
from freehold_devstack.snowflake.values import Choice, InvalidValueError, ListOf, Text, choice

_MODES: Mapping[str, tuple[str, ...]] = {
    "IPV4": ("INGRESS", "POSTGRES_INGRESS", "POSTGRES_EGRESS"),
    "IPV6": ("INGRESS",),
    "AWSVPCEID": ("INGRESS", "INTERNAL_STAGE", "SNOWFLAKE_MANAGED_STORAGE_VOLUME"),
    "AZURELINKID": ("INGRESS",),
    "GCPPSCID": ("INGRESS",),
    "HOST_PORT": ("EGRESS",),
    "PRIVATE_HOST_PORT": ("EGRESS",),
    "COMPUTE_POOL": ("INGRESS",),
}
"""The types, and the modes of each."""

_ALL_MODES = tuple(dict.fromkeys(mode for modes in _MODES.values() for mode in modes))

_UNRESOLVABLE = (
    "One or more values might be an unresolvable host name. Verify all hosts are resolvable, or use a wildcard pattern."
)
_UNKNOWN_FORM = "One or more values are not of the form that the type of the rule has."

_HOST = re.compile(r"(?!-)[a-z0-9*-]+(\.(?!-)[a-z0-9-]+)*\.[a-z]{2,}", re.IGNORECASE)
_PORT = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")


# --- values -----------------------------------------------------------------------------------------------------------


class _Type(Choice):
    """The type of a rule: any other is answered in words of its own."""

    def read(self, literal: Literal) -> Scalar:
        try:
            return super().read(literal)
        except InvalidValueError:
            text = "The network rule type must be one of the snowflake supported network rule type."
            raise errors.unnumbered(text, family="") from None


def _is_endpoint(value: str) -> bool:
    """Whether it is a domain with or without a port, or the one address that stands for all of them."""
    host, colon, port = value.partition(":")
    numbers = _PORT.fullmatch(port) if colon else None
    ports = [int(each) for each in numbers.groups() if each is not None] if numbers else []
    if colon and (not ports or ports != sorted(ports) or ports[-1] > 65535):
        return False
    if host == "0.0.0.0":
        return set(ports) <= {80, 443}
    return bool(_HOST.fullmatch(host)) and host.count("*") <= 1


def _is_psc_connection(value: str) -> bool:
    """Whether it is the id of a Private Service Connect endpoint, perhaps with the addresses behind it that count."""
    limited = re.fullmatch(r"\{\d+:(.+)\}", value)
    if limited is None:
        return value.isdecimal()
    return all(is_network(IPv4Network, address) for address in limited[1].split(","))


_VALUES: Mapping[str, Callable[[str], bool]] = {
    "IPV4": partial(is_network, IPv4Network),
    "IPV6": partial(is_network, IPv6Network),
    "AWSVPCEID": lambda value: bool(re.fullmatch(r"vpce-[0-9a-f]+", value)),
    "AZURELINKID": str.isdecimal,
    "GCPPSCID": _is_psc_connection,
    "HOST_PORT": _is_endpoint,
    "PRIVATE_HOST_PORT": _is_endpoint,
    "COMPUTE_POOL": lambda value: bool(re.fullmatch(r"\w+", value)),
}


# --- rules -----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    if draft.properties["TYPE"] is None:
        raise errors.missing_options(["TYPE"])
    kind, mode = str(draft.properties["TYPE"]), str(draft.properties["MODE"])
    old = context.catalog.get(draft.id)
    for name in ("TYPE", "MODE"):
        if old is not None and old.properties[name] != draft.properties[name]:
            raise errors.unnumbered(f"{name} of network rule {draft.name} cannot be changed.")
    if mode not in _MODES[kind]:
        raise errors.unnumbered(f"The network rule mode {mode} is not supported by the network rule type {kind}.")
    if "VALUE_LIST" in given:
        _check_values(kind, values(draft))
    # What isn't in the list is no value, so a list that was never given is an empty one.
    return replace(draft, properties={**draft.properties, "VALUE_LIST": values(draft)})


def _check_values(kind: str, given: Sequence[str]) -> None:
    for value in given:
        if not _VALUES[kind](value):
            reason = _UNRESOLVABLE if kind.endswith("HOST_PORT") else _UNKNOWN_FORM
            raise errors.invalid_value_reason(f"[{value}]", "VALUE_LIST", reason)
    if kind == "PRIVATE_HOST_PORT" and len(given) > 1:
        raise errors.invalid_value_reason(f"[{', '.join(given)}]", "VALUE_LIST", "Only one value is allowed.")


def _dropping(context: Context, rule: CatalogObject) -> None:
    if any(policies_with(context.catalog, rule)):
        raise errors.unnumbered(f"Cannot drop Network rule {rule.name} as it is associated with some network policies.")


def _describe(context: Context, rule: CatalogObject) -> Result:
    database, schema, name = context.catalog.path(rule)
    columns = (
        timestamp("created_on"), text("name"), text("database_name"), text("schema_name"), text("owner"),
        text("comment"), text("type"), text("mode"), text("value_list"),
    )  # fmt: skip
    owner, shown = context.owner_name(rule), (str(rule.properties[each]) for each in ("COMMENT", "TYPE", "MODE"))
    return Result(columns, [(rule.created_on, name, database, schema, owner, *shown, ",".join(values(rule)))])


# --- the declaration -------------------------------------------------------------------------------------------------

TYPE = ObjectType(
    kind="NETWORK RULE",
    plural="NETWORK RULES",
    container="SCHEMA",
    properties=(
        Property("TYPE", _Type(choice(*_MODES).spellings), only="CREATE"),
        Property("MODE", choice(*_ALL_MODES), "INGRESS", only="CREATE"),
        Property("VALUE_LIST", ListOf(Text()), (), unset=()),
        Property("COMMENT", Text(), default="", unset=""),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE"}),
        shown_to=frozenset(),
    ),
    show=Show(
        (
            CREATED_ON,
            NAME,
            DATABASE_NAME,
            SCHEMA_NAME,
            OWNER,
            COMMENT,
            ShowColumn(text("type"), stored("TYPE")),
            ShowColumn(text("mode"), stored("MODE")),
            ShowColumn(number("entries_in_valuelist"), lambda _, obj: len(values(obj))),
            OWNER_ROLE_TYPE,
        ),
        starts_with=True,
        limit=True,
        cut=True,
    ),
    describe=_describe,
    or_alter=True,
    if_not_exists=False,
    renames=False,
    taggable=False,
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=_dropping,
    ),
)
