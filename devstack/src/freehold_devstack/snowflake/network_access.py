"""Which addresses network policies let in, which policy governs whom, and what holds on to rules and policies."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parameters import in_force

PARAMETER = "NETWORK_POLICY"
IP_LISTS = ("ALLOWED_IP_LIST", "BLOCKED_IP_LIST")
RULE_LISTS = ("ALLOWED_NETWORK_RULE_LIST", "BLOCKED_NETWORK_RULE_LIST")

_ADDRESSES = frozenset({"IPV4", "IPV6"})
"""The types of rules that say something of an address."""


def is_network(version: type[IPv4Network | IPv6Network], value: str) -> bool:
    """Whether a text is an address or a range of addresses in CIDR notation."""
    try:
        version(value, strict=False)
    except ValueError:
        return False
    return True


def entries(obj: CatalogObject, name: str) -> tuple[str, ...]:
    """A property that is a list of texts."""
    return texts(obj.properties.get(name))


def values(rule: CatalogObject) -> tuple[str, ...]:
    """What a network rule is about."""
    return entries(rule, "VALUE_LIST")


def rules(catalog: Catalog, policy: CatalogObject, name: str) -> list[CatalogObject]:
    """The network rules in one of a policy's lists."""
    listed = (catalog[int(rule)] for rule in entries(policy, name))
    return [rule for rule in listed if catalog.is_live(rule)]


# --- log-ins ---------------------------------------------------------------------------------------------------------


def governing(catalog: Catalog, holder: CatalogObject) -> CatalogObject | None:
    """The policy that holds for a user or the account: the user's own, else the account's."""
    return _named(catalog, in_force(catalog, holder, PARAMETER).value)


def attached_to(catalog: Catalog, holder: CatalogObject) -> CatalogObject | None:
    """The policy that a user or the account has itself."""
    return _named(catalog, holder.parameters.get(PARAMETER))


def _named(catalog: Catalog, name: Scalar) -> CatalogObject | None:
    return catalog.find("NETWORK POLICY", str(name)) if name else None


def admits(catalog: Catalog, policy: CatalogObject, address: str) -> bool:
    """Whether a policy lets a client in: what is blocked comes first, then only what is allowed is.

    A list of allowed rules without any about addresses leaves these as they are.
    """
    if _names(catalog, policy, "BLOCKED", address):
        return False
    allowed = rules(catalog, policy, RULE_LISTS[0])
    about_addresses = not allowed or any(rule.properties["TYPE"] in _ADDRESSES for rule in allowed)
    restricted = about_addresses or bool(entries(policy, IP_LISTS[0]))
    return not restricted or _names(catalog, policy, "ALLOWED", address)


def _names(catalog: Catalog, policy: CatalogObject, which: str, address: str) -> bool:
    listed = list(entries(policy, f"{which}_IP_LIST"))
    for rule in rules(catalog, policy, f"{which}_NETWORK_RULE_LIST"):
        listed += values(rule) if rule.properties["TYPE"] in _ADDRESSES else ()
    return any(ip_address(address) in ip_network(network, strict=False) for network in listed)


def check_activation(context: Context, holder: CatalogObject, policy: CatalogObject) -> None:
    """Refuse to attach what lets nobody in (098519), or not the session itself."""
    if not any(entries(policy, name) for name in (*IP_LISTS, *RULE_LISTS)):
        raise errors.network_policy_empty(policy.name)
    own = context.session.user is not None and PARAMETER in context.catalog[context.session.user].parameters
    concerned = context.is_self(holder) or (holder.parent is None and not own)
    if concerned and not admits(context.catalog, policy, context.session.address):
        raise errors.locked_out_by_policy(policy.name, context.session.address)


def check_change(context: Context, policy: CatalogObject) -> None:
    """Refuse a change after which an attached policy lets nobody in (098519), or not the session itself (098506)."""
    if not holders(context.catalog, policy):
        return
    if not any(entries(policy, name) for name in (*IP_LISTS, *RULE_LISTS)):
        raise errors.network_policy_empty(policy.name)
    user = context.catalog.account if context.session.user is None else context.catalog[context.session.user]
    governs = governing(context.catalog, user)
    concerned = governs is not None and governs.id == policy.id
    if concerned and not admits(context.catalog, policy, context.session.address):
        raise errors.locked_out_by_change(policy.name, context.session.address)


# --- associations ----------------------------------------------------------------------------------------------------


def holders(catalog: Catalog, policy: CatalogObject) -> list[CatalogObject]:
    """The account and the users that a policy is attached to."""
    possible = [catalog.account, *catalog.members("USER")]
    return [holder for holder in possible if holder.parameters.get(PARAMETER) == policy.name]


def policies_with(catalog: Catalog, rule: CatalogObject) -> Iterator[CatalogObject]:
    """The policies that list a network rule."""
    for policy in catalog.members("NETWORK POLICY"):
        if any(str(rule.id) in entries(policy, name) for name in RULE_LISTS):
            yield policy


def check_unassociated(context: Context, container: CatalogObject) -> None:
    """Refuse the end of a database (098507) or schema (098508) whose network rules policies list."""
    for rule in context.catalog.of_kind("NETWORK RULE"):
        if context.catalog.contains(container, rule) and any(policies_with(context.catalog, rule)):
            raise errors.rules_associated(container.kind, container.name)
