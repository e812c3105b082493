"""Identity tokens of workloads, by OpenID Connect: the user is whoever has the token's issuer and subject."""

from collections.abc import Mapping

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.auth.login import Login, Proof, enabled
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Value
from freehold_devstack.snowflake.errors import UNKNOWN_NUMBER, LoginError
from freehold_devstack.snowflake.jws import InvalidTokenError

PROPERTY = "WORKLOAD_IDENTITY"
DEFAULT_AUDIENCE = "snowflakecomputing.com"
"""What `aud` has to say for a user that lists no audiences."""
CLOCK_SKEW = 60
"""Seconds by which a token may have been issued in the future."""


class WorkloadIdentities:
    """Checks identity tokens against the workloads of one account's users."""

    def __init__(self, catalog: Catalog, issuers: Issuers) -> None:
        self._catalog = catalog
        self._issuers = issuers

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user of the workload.

        Raises:
            LoginError: Whatever is wrong with the token, by no number of Snowflake's, since none is known; its `cause`
                says what. 390101 for a disabled user.
        """
        try:
            return Proof(enabled(self._user(login, now)))
        except InvalidTokenError as error:
            raise LoginError(UNKNOWN_NUMBER, "The workload identity is not accepted.", cause=str(error)) from None

    def _user(self, login: Login, now: float) -> CatalogObject:
        if login.provider != "OIDC":
            raise InvalidTokenError(f"the endpoint checks no attestation of {login.provider or 'nobody'}")
        token = jws.Token.parse(login.token)
        issuer, subject = self._issuers.verify(token), token.claim("sub", str)
        token.check_times(now, skew=CLOCK_SKEW)
        for user in self._catalog.members("USER"):
            workload = user.properties.get(PROPERTY)
            if isinstance(workload, Mapping) and _is(workload, issuer, subject):
                if token.audiences.isdisjoint(_audiences(workload)):
                    raise InvalidTokenError(f"aud {sorted(token.audiences)} is none that {user.name} takes")
                return user
        raise InvalidTokenError(f"no user has the issuer {issuer} and the subject {subject}")


def _is(workload: Mapping[str, Value], issuer: str, subject: str) -> bool:
    return (workload.get("TYPE"), workload.get("ISSUER"), workload.get("SUBJECT")) == ("OIDC", issuer, subject)


def _audiences(workload: Mapping[str, Value]) -> frozenset[str]:
    listed = workload.get("OIDC_AUDIENCE_LIST")
    return frozenset(map(str, listed)) if isinstance(listed, list | tuple) and listed else frozenset({DEFAULT_AUDIENCE})
