"""The ways to log in to one account, behind one door."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake.auth import login as words
from freehold_devstack.snowflake.auth.access_token import AccessTokens
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.auth.key_pair import KeyPairs
from freehold_devstack.snowflake.auth.login import Login, Proof, check_periods, enabled
from freehold_devstack.snowflake.auth.oauth import ExternalOAuth, OAuthTokens
from freehold_devstack.snowflake.auth.password import Passwords
from freehold_devstack.snowflake.auth.policies import LoginPolicy
from freehold_devstack.snowflake.auth.workload_identity import WorkloadIdentities
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.context import AccountIdentity
from freehold_devstack.snowflake.errors import LoginError, session_lost
from freehold_devstack.snowflake.network_access import admits, governing
from freehold_devstack.snowflake.sessions import Session


class Authenticator:
    """Checks the credentials of one account's users.

    Args:
        integrations: The account's security integrations.
        issuers: Whose signatures can be checked.
        policy: What governs the log-ins of a user, by the user's name.
    """

    def __init__(
        self,
        identity: AccountIdentity,
        catalog: Catalog,
        *,
        integrations: Iterable[ExternalOAuth],
        issuers: Issuers,
        policy: Callable[[str], LoginPolicy],
    ) -> None:
        self._catalog = catalog
        self._policy = policy
        self._methods: Mapping[str, Callable[[Login, float], Proof]] = {
            words.PASSWORD: Passwords(catalog).authenticate,
            words.KEY_PAIR: KeyPairs(identity, catalog).authenticate,
            words.ACCESS_TOKEN: AccessTokens(catalog).authenticate,
            words.OAUTH: OAuthTokens(catalog, integrations, issuers).authenticate,
            words.WORKLOAD_IDENTITY: WorkloadIdentities(catalog, issuers).authenticate,
        }

    def authenticate(self, login: Login, now: float) -> Proof:
        """What the credentials prove, if they are good and no policy forbids them.

        Raises:
            LoginError: They are not, or one does; 390139 for a way that there isn't.
        """
        method = self._methods.get(login.authenticator)
        if method is None:
            text = "The specified authenticator is not accepted by your Snowflake account configuration."
            raise LoginError(390139, f"{text} Contact your local system administrator to get the correct URL to use.")
        proof = method(login, now)
        check_periods(proof.user, now)
        self._governing(proof.user).check(login)
        return replace(proof, user=self._welcome(proof.user, now))

    def check_session(self, session: Session) -> None:
        """Refuse a query of a session whose user has been dropped or disabled, or may not ask from there any more.

        Raises:
            LoginError: 390111, 390101 or 390420.
        """
        if session.user is None:
            return
        user = self._catalog[session.user]
        if user.dropped_on is not None:
            raise session_lost()
        self._governing(enabled(user)).check_address(session.authenticator, session.address)

    def _welcome(self, user: CatalogObject, now: float) -> CatalogObject:
        """Keep when the user has logged in; that ends a lock."""
        properties = {**user.properties, "LAST_SUCCESS_LOGIN": int(now * 1000), "LOCKED_UNTIL": None}
        return self._catalog.update(user, replace(user, properties=properties))

    def _governing(self, user: CatalogObject) -> LoginPolicy:
        """What governs a user's log-ins: a network policy that is attached in the catalog comes before the seed's."""
        policy, attached = self._policy(user.name), governing(self._catalog, user)
        return policy if attached is None else replace(policy, admits=partial(admits, self._catalog, attached))
