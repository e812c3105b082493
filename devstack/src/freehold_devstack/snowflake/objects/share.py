"""SHARE: https://docs.snowflake.com/en/sql-reference/sql/create-share and the pages beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Property
from freehold_devstack.snowflake.grants import records
from freehold_devstack.snowflake.grants.privileges import REFERENCE_USAGE
from freehold_devstack.snowflake.grants.shares import ORIGIN, shared_database
from freehold_devstack.snowflake.listing import Filters, parse_filters
from freehold_devstack.snowflake.object_type import Form, Lifecycle, ObjectType, Show, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Name, Parser, print_name
from freehold_devstack.snowflake.results import Result, text, timestamp
from freehold_devstack.snowflake.values import Boolean, Text

ACCOUNTS = "ACCOUNTS"
"""Property: the accounts that a share is offered to, as ORGANIZATION.ACCOUNT, in the order in which they were added."""

_SECURE_ONLY = "SECURE_OBJECTS_ONLY"
_ACCOUNTS_SHOWN = 3


def accounts(share: CatalogObject) -> tuple[str, ...]:
    """The accounts that a share is offered to."""
    return texts(share.properties.get(ACCOUNTS))


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """What may be in a share is decided when it is made: CREATE OR ALTER takes and changes the comment alone."""
    known = context.catalog.get(draft.id)
    if known is None:
        return draft
    if _SECURE_ONLY in given:
        raise errors.invalid_property(_SECURE_ONLY, "SHARE")
    return replace(draft, properties={**draft.properties, _SECURE_ONLY: known.properties[_SECURE_ONLY]})


# --- accounts --------------------------------------------------------------------------------------------------------

_Change = Literal["ADD", "REMOVE", "SET"]


def _parse_accounts(change: _Change, parser: Parser) -> Act:
    """Take `= account [, …] [SHARE_RESTRICTIONS = { TRUE | FALSE }]`; SET takes a comment instead."""
    parser.expect("=")
    names = list(map(print_name, parser.names(parts=2)))
    comment, restricted = None, None
    if change == "SET" and parser.accept("COMMENT", "="):
        comment = parser.string()
    elif change != "SET" and parser.accept("SHARE_RESTRICTIONS", "="):
        restricted = parser.choose("TRUE", "FALSE") == "TRUE"
    return partial(_change_accounts, change, names, comment, restricted)


def _change_accounts(
    change: _Change,
    names: Sequence[str],
    comment: str | None,
    restricted: bool | None,
    context: Context,
    share: CatalogObject,
) -> None:
    account = context.catalog.account
    context.require("MANAGE SHARE TARGET", account)
    if restricted is not None:
        context.require("OVERRIDE SHARE RESTRICTIONS", account)
    if change != "REMOVE":
        _check_offer(context, share, names, restricted)
    for name in names:
        if name not in context.identity.peers:
            raise errors.unknown_account(name)
    kept = [known for known in accounts(share) if change == "ADD" or (change == "REMOVE" and known not in names)]
    added = names if change != "REMOVE" else ()
    properties = {**share.properties, ACCOUNTS: tuple(dict.fromkeys((*kept, *added)))}
    if comment is not None:
        properties["COMMENT"] = comment
    context.catalog.update(share, replace(share, properties=properties))


def _check_offer(context: Context, share: CatalogObject, names: Sequence[str], restricted: bool | None) -> None:
    """Refuse to offer a share that is empty, to the own account, or to a lower edition."""
    if shared_database(context, share) is None:
        raise errors.share_without_database(share.name)
    if context.identity.qualified in names:
        raise errors.unnumbered(f"Share '{share.name}' can't be shared with the account that it belongs to.")
    # The peers' editions are unknown here: none is taken for Business Critical.
    if context.identity.edition == "BUSINESS_CRITICAL" and restricted is not False:
        raise errors.unnumbered(
            f"Share '{share.name}' of a Business Critical account takes SHARE_RESTRICTIONS = FALSE to be offered to "
            "accounts of a lower edition."
        )


# --- SHOW and DESCRIBE -----------------------------------------------------------------------------------------------

_COLUMNS = (
    timestamp("created_on"), text("kind"), text("owner_account"), text("name"), text("database_name"), text("to"),
    text("owner"), text("comment"), text("listing_global_name"), text("secure_objects_only"),
)  # fmt: skip

_SHOW = Show((), starts_with=True, limit=True, cut=True)


@dataclass(frozen=True)
class _Listed:
    """A share as an account sees it.

    Attributes:
        provider: The account that it belongs to, as ORGANIZATION.ACCOUNT.
        catalog: That account's.
    """

    share: CatalogObject
    provider: str
    catalog: Catalog

    def row(self, context: Context) -> tuple[Scalar, ...]:
        outbound = self.catalog is context.catalog
        if outbound:
            database = shared_database(context, self.share)
        else:
            origin = f"{self.provider}.{print_name((self.share.name,))}"
            made = context.catalog.members("DATABASE")
            database = next((each for each in made if each.properties.get(ORIGIN) == origin), None)
        return (
            self.share.created_on,
            "OUTBOUND" if outbound else "INBOUND",
            self.provider,
            self.share.name,
            "" if database is None else database.name,
            ", ".join(accounts(self.share)[:_ACCOUNTS_SHOWN]) if outbound else "",
            context.owner_name(self.share) if outbound else "",
            str(self.share.properties["COMMENT"]),
            "",
            str(self.share.properties[_SECURE_ONLY]).lower(),
        )


def _listed(context: Context) -> list[_Listed]:
    """The account's own shares that the session may list, and those that other accounts offer it."""
    if not context.authority.holds_on_account("IMPORT SHARE"):
        return []
    own = context.identity.qualified
    is_accountadmin = context.has_role("ACCOUNTADMIN")
    outbound = [
        _Listed(share, own, context.catalog)
        for share in context.catalog.members("SHARE")
        if is_accountadmin or context.authority.owns(share)
    ]
    return outbound + _inbound(context)


def _inbound(context: Context) -> list[_Listed]:
    return [
        _Listed(share, provider, catalog)
        for provider, catalog in sorted(context.peers.items())
        for share in catalog.members("SHARE")
        if context.identity.qualified in accounts(share)
    ]


@dataclass(frozen=True)
class _ShowShares:
    """SHOW SHARES [LIKE …] [STARTS WITH …] [LIMIT … [FROM …]]."""

    filters: Filters

    @property
    def form(self) -> Form:
        return Form("SHOW", "SHARES", (), self.filters.detail)

    def execute(self, context: Context) -> Result:
        listed = sorted(_listed(context), key=lambda each: (each.share.name, each.provider))
        page = {id(share) for share in self.filters.page(self.filters.names(each.share for each in listed))}
        return Result(_COLUMNS, [each.row(context) for each in listed if id(each.share) in page])


def _parse_show(parser: Parser) -> Statement:
    return _ShowShares(parse_filters(parser, Types(()), _SHOW, ()))


_DESCRIBED = (text("kind"), text("name"), timestamp("shared_on"))


@dataclass(frozen=True)
class _DescribeShare:
    """{ DESCRIBE | DESC } SHARE { <name> | <organization>.<account>.<name> }."""

    name: Name

    @property
    def form(self) -> Form:
        return Form("DESCRIBE", "SHARE", self.name)

    def execute(self, context: Context) -> Result:
        if len(self.name) == 1:
            share, catalog = context.resolve(TYPE, self.name, "DESCRIBE"), context.catalog
        else:
            inbound = (each for each in _inbound(context) if each.provider == print_name(self.name[:-1]))
            found = next((each for each in inbound if each.share.name == self.name[-1]), None)
            if found is None:
                raise context.missing("SHARE", print_name(self.name))
            share, catalog = found.share, found.catalog
        context.require_role("ACCOUNTADMIN")
        return Result(_DESCRIBED, _contents(context, catalog, share))


def _contents(context: Context, catalog: Catalog, share: CatalogObject) -> list[tuple[Scalar, ...]]:
    """What a share holds, the database first; an account that it is offered to sees <DB> instead of its name."""
    shared = {grant.on: grant.created_on for grant in catalog.grants_to(share.id) if grant.privilege != REFERENCE_USAGE}
    objects = sorted((catalog[on] for on in shared), key=lambda obj: (len(catalog.path(obj)), catalog.path(obj)))
    rows: list[tuple[Scalar, ...]] = []
    for obj in objects:
        database, *inside = catalog.path(obj)
        parts = [
            print_name((database,)) if catalog is context.catalog else "<DB>",
            *(print_name((part,)) for part in inside),
        ]
        rows.append((obj.kind.replace(" ", "_"), ".".join(parts), shared[obj.id]))
    return rows


def _parse_describe(parser: Parser) -> Statement:
    return _DescribeShare(parser.name(parts=3))


TYPE = ObjectType(
    kind="SHARE",
    plural="SHARES",
    properties=(
        Property(_SECURE_ONLY, Boolean(), default=True, only="CREATE"),
        Property("COMMENT", Text(), default="", unset=""),
    ),
    actions=(
        Action("ADD ACCOUNTS", partial(_parse_accounts, "ADD")),
        Action("ADD ACCOUNT", partial(_parse_accounts, "ADD")),
        Action("REMOVE ACCOUNTS", partial(_parse_accounts, "REMOVE")),
        Action("REMOVE ACCOUNT", partial(_parse_accounts, "REMOVE")),
        Action("SET ACCOUNTS", partial(_parse_accounts, "SET")),
        Action("SET ACCOUNT", partial(_parse_accounts, "SET")),
    ),
    show=_SHOW,
    or_alter=True,
    renames=False,
    tagged_at_creation=False,
    extra_describes=(("SHARE", _parse_describe),),
    extra_shows=(("SHARES", _parse_show),),
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=records.forget,
    ),
)
