"""What GRANT and REVOKE of privileges are understood as, on objects that are there and on those yet to be made."""

from collections.abc import Sequence

from freehold_devstack.snowflake.grants.grantees import Grantee
from freehold_devstack.snowflake.grants.securables import Existing, FutureObjects
from freehold_devstack.snowflake.object_type import Form

_On = Existing | FutureObjects


def _what(privileges: Sequence[str], on: _On) -> str:
    return f"{', '.join(privileges) or 'ALL'} ON {on}"


def grant_form(privileges: Sequence[str], on: _On, grantee: Grantee, *, grant_option: bool) -> Form:
    """The form of GRANT; no privileges stand for ALL."""
    option = " WITH GRANT OPTION" if grant_option else ""
    return Form("GRANT", "", (), f"{_what(privileges, on)} TO {grantee}{option}")


def revoke_form(privileges: Sequence[str], on: _On, grantee: Grantee, *, option_only: bool, cascade: bool) -> Form:
    """The form of REVOKE; no privileges stand for ALL."""
    option = "GRANT OPTION FOR " if option_only else ""
    ending = " CASCADE" if cascade else ""
    return Form("REVOKE", "", (), f"{option}{_what(privileges, on)} FROM {grantee}{ending}")
