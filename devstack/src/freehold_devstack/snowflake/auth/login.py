"""What a client sends to log in, and what its credentials prove."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.errors import UNKNOWN_NUMBER, LoginError
from freehold_devstack.snowflake.payloads import Credentials

PASSWORD = "SNOWFLAKE"  # noqa: S105 - the driver's word for it
KEY_PAIR = "SNOWFLAKE_JWT"
ACCESS_TOKEN = "PROGRAMMATIC_ACCESS_TOKEN"  # noqa: S105 - the same
OAUTH = "OAUTH"
WORKLOAD_IDENTITY = "WORKLOAD_IDENTITY"


@dataclass(frozen=True)
class Login:
    """What a client asks for.

    Attributes:
        authenticator: The driver's word for the way it proves who it is.
        provider: Who attests a workload's identity.
        address: The client's IP address.
        role, database, schema, warehouse: As written in the connection; None where it names none.
    """

    account: str
    login_name: str
    authenticator: str
    password: str
    token: str
    provider: str
    address: str
    parameters: Mapping[str, Any]
    role: str | None = None
    database: str | None = None
    schema: str | None = None
    warehouse: str | None = None

    @classmethod
    def parse(cls, sent: Credentials, query: Mapping[str, str], address: str = "") -> "Login":
        """Read what the body and the URL's query say."""
        return cls(
            account=sent.account_name,
            login_name=sent.login_name,
            authenticator=(sent.authenticator or PASSWORD).upper(),
            password=sent.password or "",
            token=sent.token or "",
            provider=(sent.provider or "").upper(),
            address=address,
            parameters=sent.session_parameters or {},
            role=query.get("roleName") or None,
            database=query.get("databaseName") or None,
            schema=query.get("schemaName") or None,
            warehouse=query.get("warehouse") or None,
        )


@dataclass(frozen=True)
class RoleLimit:
    """The only roles that a session may use, because its token names them.

    Attributes:
        roles: Their names.
        refusal: The error for a role of another name.
        default: What is primary in a connection that names no role; the user's default role where this is None.
    """

    roles: frozenset[str]
    refusal: Callable[[str], LoginError]
    default: str | None = None


@dataclass(frozen=True)
class Proof:
    """The user that the credentials prove, and what else they say."""

    user: CatalogObject
    limit: RoleLimit | None = None


def find_user(catalog: Catalog, attribute: str, value: str) -> CatalogObject | None:
    """The user with this LOGIN_NAME or other attribute, in whatever case."""
    wanted = value.upper()
    return next(
        (user for user in catalog.members("USER") if str(user.properties.get(attribute) or "").upper() == wanted), None
    )


def enabled(user: CatalogObject) -> CatalogObject:
    """The user.

    Raises:
        LoginError: 390101 for one that is disabled.
    """
    if user.properties.get("DISABLED"):
        raise LoginError(390101, "User access disabled. Contact your local system administrator.")
    return user


def check_lock(user: CatalogObject, now: float) -> None:
    """Refuse a user who is locked.

    Raises:
        LoginError: 390102.
    """
    until = user.properties.get("LOCKED_UNTIL")
    if isinstance(until, int) and until > now * 1000:
        raise LoginError(
            390102,
            "Your user account has been temporarily locked due to too many failed attempts. "
            "Try again after 15 minutes or contact your account administrator for assistance.",
        )


def check_periods(user: CatalogObject, now: float) -> None:
    """Refuse a user who is locked (390102) or has expired (by no number of Snowflake's, since none is known)."""
    check_lock(user, now)
    expiry = user.properties.get("EXPIRES_AT")
    if isinstance(expiry, int) and expiry <= now * 1000:
        raise LoginError(UNKNOWN_NUMBER, "The user has expired. Contact your local system administrator.")
