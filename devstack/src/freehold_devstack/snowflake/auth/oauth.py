"""Access tokens of external OAuth servers, which security integrations map to users and roles."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.auth.login import Login, Proof, RoleLimit, enabled, find_user
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.errors import LoginError
from freehold_devstack.snowflake.jws import ExpiredTokenError, InvalidTokenError

CLOCK_SKEW = 60
"""Seconds by which a token may have been issued in the future."""

_ROLE = "session:role:"
_ANY_ROLE = "session:role-any"


@dataclass(frozen=True)
class ExternalOAuth:
    """A security integration of the type EXTERNAL_OAUTH.

    Attributes:
        user_claims: Claims that may name the user, the first that is there counts.
        user_attribute: What of a user they name.
        audiences: What `aud` may say; the account's own URL is not among them.
        any_role: Whether the scope `session:role-any` opens all roles of the user.
        blocked_roles: What no token opens.
    """

    issuer: str
    audiences: frozenset[str]
    user_claims: tuple[str, ...]
    user_attribute: str
    any_role: bool
    blocked_roles: frozenset[str]
    scope_claim: str
    scope_delimiter: str

    def limit(self, token: jws.Token, held: Iterable[str]) -> RoleLimit:
        """The roles that a token opens, of those that its user holds."""
        written = token.claims.get(self.scope_claim, ())
        scopes = written.split(self.scope_delimiter) if isinstance(written, str) else [str(each) for each in written]
        named = {scope.removeprefix(_ROLE).upper() for scope in scopes if scope.startswith(_ROLE)}
        if self.any_role and _ANY_ROLE in scopes:
            named.update(held)
        return RoleLimit(frozenset(named - self.blocked_roles), _wrong_role)


class OAuthTokens:
    """Checks access tokens against one account's security integrations."""

    def __init__(self, catalog: Catalog, integrations: Iterable[ExternalOAuth], issuers: Issuers) -> None:
        self._catalog = catalog
        self._integrations = {integration.issuer: integration for integration in integrations}
        self._issuers = issuers

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user that the token is mapped to.

        Raises:
            LoginError: 390303 for a bad token, 390318 for an expired one, 390304 where no user is mapped, 390309 for
                another user's. 390101 for a disabled user.
        """
        try:
            integration, token = self._check(login.token, now)
        except ExpiredTokenError as error:
            raise LoginError(390318, f"OAuth access token expired. [{uuid.uuid4()}]", cause=str(error)) from None
        except InvalidTokenError as error:
            raise LoginError(390303, f"Invalid OAuth access token. [{uuid.uuid4()}]", cause=str(error)) from None
        user = self._user(integration, token)
        if login.login_name and login.login_name.upper() != user.properties["LOGIN_NAME"]:
            raise LoginError(
                390309,
                "The user you were trying to authenticate as differs from the user tied to the access token.",
                cause=f"the token is mapped to {user.name}",
            )
        held = (self._catalog[role].name for role in self._catalog.inherited_roles(user.id))
        return Proof(enabled(user), integration.limit(token, held))

    def _check(self, text: str, now: float) -> tuple[ExternalOAuth, jws.Token]:
        token = jws.Token.parse(text)
        integration = self._integrations.get(self._issuers.verify(token))
        if integration is None:
            raise InvalidTokenError(f"no security integration has the issuer {token.claims['iss']}")
        token.check_times(now, skew=CLOCK_SKEW)
        if integration.audiences.isdisjoint(token.audiences):
            raise InvalidTokenError(f"aud {sorted(token.audiences)} is none of {sorted(integration.audiences)}")
        return integration, token

    def _user(self, integration: ExternalOAuth, token: jws.Token) -> CatalogObject:
        claim = next((str(token.claims[name]) for name in integration.user_claims if name in token.claims), None)
        user = None if claim is None else find_user(self._catalog, integration.user_attribute, claim)
        if user is None:
            cause = f"no user has {claim!r} as {integration.user_attribute}"
            raise LoginError(390304, "The user mapping of the access token failed.", cause=cause)
        return user


def _wrong_role(role: str) -> LoginError:
    return LoginError(390317, f"The role {role} is not listed in the Access Token or was filtered.")
