"""What the connector is told to log in with, one way for each kind of credential."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from freehold import sql
from freehold.snowflake import oauth
from freehold.snowflake.credentials import (
    ClientCredentials,
    KeyPair,
    OAuthToken,
    Password,
    ProgrammaticAccessToken,
)
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import NotTried
from freehold.snowflake.settings import ConnectionSettings

_DOTS = 2
"""In a JSON web token."""

Options = Mapping[str, object]
"""Arguments of the connector."""


async def options(settings: ConnectionSettings, seconds: float) -> Options:
    """The arguments that prove who logs in. Tokens that don't live in the Secret are fetched or read now.

    Args:
        settings: the log-in.
        seconds: time limit.

    Raises:
        LoginFailed: there is no token; NotTried where nobody was asked for one.
    """
    credential = settings.credential
    if isinstance(credential, KeyPair):
        return {"authenticator": "SNOWFLAKE_JWT", "private_key": credential.private_key}
    if isinstance(credential, Password):
        return {"authenticator": "SNOWFLAKE", "password": credential.password}
    if isinstance(credential, ProgrammaticAccessToken):
        return {"authenticator": "PROGRAMMATIC_ACCESS_TOKEN", "token": credential.token}
    if isinstance(credential, OAuthToken):
        return _oauth(credential.token, settings)
    if isinstance(credential, ClientCredentials):
        return _oauth(await oauth.fetch_token(credential, settings, seconds), settings)
    token = _read(credential.token_file)
    return {"authenticator": "WORKLOAD_IDENTITY", "workload_identity_provider": "OIDC", "token": token}


def _oauth(token: str, settings: ConnectionSettings) -> Options:
    role = {"role": sql.identifier(settings.role).text} if settings.role else {}
    return {"authenticator": "OAUTH", "token": token, **role}


def _read(file: Path) -> str:
    try:
        token = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        why = f"can't be read: {error.strerror}"
    else:
        if token.count(".") == _DOTS:
            return token
        why = "holds no JSON web token"
    raise NotTried(f"the workload identity token {file} {why}", error_class=ErrorClass.TRANSIENT)
