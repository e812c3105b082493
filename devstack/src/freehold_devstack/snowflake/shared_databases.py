"""Databases that are made from another account's share: read-only, and nothing without it.

https://docs.snowflake.com/en/sql-reference/sql/create-database, user-guide/data-share-consumers
"""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants.shares import ORIGIN, is_imported
from freehold_devstack.snowflake.objects.share import accounts
from freehold_devstack.snowflake.parser import Parser, print_name

_OLDER = 2
"""Parts of the older name."""
_WITHOUT_EFFECT = ("TRANSIENT", "DATA_RETENTION_TIME_IN_DAYS", "MAX_DATA_EXTENSION_TIME_IN_DAYS")


def parse_share(parser: Parser) -> str:
    """Take the name of a share: ORGANIZATION.ACCOUNT.SHARE, or the older LOCATOR.SHARE.

    Raises:
        SqlError: 000002 for the older one.
    """
    start = parser.token
    name = parser.name(parts=3)
    if len(name) == _OLDER:
        raise errors.unsupported("FROM SHARE with the locator of an account")
    if len(name) < _OLDER:
        raise parser.unexpected(start)
    return print_name(name)


def check_import(context: Context, draft: CatalogObject) -> None:
    """Refuse a new database that can't be made from its share.

    Raises:
        SqlError: 003001 without IMPORT SHARE, 002003 when there is no such share or it is not offered to this account,
            000002 for what means nothing here, 999999 when there already is a database of this share.
    """
    context.require("IMPORT SHARE", context.catalog.account, primary_only=True)
    share = str(draft.properties[ORIGIN])
    if not _is_offered(context, share):
        raise context.missing("SHARE", share)
    for name in _WITHOUT_EFFECT:
        if draft.properties.get(name) or name in draft.parameters:
            raise errors.unsupported(f"{name} of a database from a share")
    for database in context.catalog.members("DATABASE"):
        if database.properties.get(ORIGIN) == share and database.name != draft.name:
            raise errors.unnumbered(f"Share '{share}' is already imported as database '{database.name}'.")


def check_alterable(database: CatalogObject, given: frozenset[str]) -> None:
    """Refuse to set anything but the comment."""
    if is_imported(database) and given - {"COMMENT"}:
        raise errors.unnumbered(f"Database '{database.name}' is imported from a share: only its comment can be set.")


def check_writable(context: Context, database: CatalogObject) -> None:
    """Refuse to change what is in such a database: nobody has the privileges."""
    if is_imported(database):
        raise context.insufficient("CREATE SCHEMA", database)


def origin(context: Context, database: CatalogObject) -> str:
    """Where a database comes from, as SHOW prints it."""
    share = str(database.properties.get(ORIGIN) or "")
    return "<revoked>" if share and not _is_offered(context, share) else share


def _is_offered(context: Context, name: str) -> bool:
    own = context.identity.qualified
    return any(
        f"{account}.{print_name((share.name,))}" == name and own in accounts(share)
        for account, catalog in context.peers.items()
        for share in catalog.members("SHARE")
    )
