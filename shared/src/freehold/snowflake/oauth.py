"""Access tokens by the grant `client_credentials` (RFC 6749, 4.4).

The connector could fetch them, too, but would follow redirects to hosts that nobody allowed, and pass by the proxy.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus, urlsplit

import aiohttp
import orjson

from freehold import redaction
from freehold.snowflake.credentials import ClientCredentials
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CredentialsRefused, LoginFailed, RoleNotGranted, TlsFailed, Unreachable
from freehold.snowflake.settings import ConnectionSettings, Proxy

_ERROR_CODE = re.compile(r"[a-z_]{1,64}")
"""Form of the codes in RFC 6749, 5.2. Nothing else of an answer is shown: it may hold anything."""
_BUSY = 429


async def fetch_token(credential: ClientCredentials, settings: ConnectionSettings, seconds: float) -> str:
    """Ask the token endpoint for an access token, once.

    Args:
        credential: what to ask with.
        settings: of the session that it is for.
        seconds: time limit.

    Raises:
        LoginFailed: one of its subclasses, with a message for people; CredentialsRefused where asking again before
            something is changed leads nowhere.
    """
    form = {"grant_type": "client_credentials"}
    if scope := credential.scope or (f"session:role:{settings.role}" if settings.role else None):
        form["scope"] = scope
    # "2.3.1. Client Password": both are encoded before they are joined.
    user, password = quote_plus(credential.client_id), quote_plus(credential.client_secret)
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(seconds), trust_env=settings.proxy is None) as http,
            http.post(
                credential.token_url,
                data=form,
                headers={"Accept": "application/json", "Authorization": aiohttp.encode_basic_auth(user, password)},
                allow_redirects=False,
                ssl=ssl.create_default_context(cadata=settings.ca_bundle),
                **_through(settings.proxy, credential.token_url),
            ) as response,
        ):
            return _token(response.status, await response.read(), credential)
    except aiohttp.ClientSSLError as error:
        raise TlsFailed(
            f"TLS with the token endpoint {credential.token_url} failed: {_cause(error, settings)}. If its certificate "
            "comes from a private authority, put its root into spec.caBundle",
            error_class=ErrorClass.TRANSIENT,
        ) from None
    except (aiohttp.ClientError, UnicodeError, TimeoutError) as error:  # UnicodeError: a host like "a..example.com"
        raise Unreachable(
            f"no answer from the token endpoint {credential.token_url}: "
            f"{_cause(error, settings) or 'it took too long'}. Check spec.oauth.tokenRequestURL, spec.proxy, and "
            "whether this cluster may reach that address",
            error_class=ErrorClass.TRANSIENT,
        ) from None


def _cause(error: Exception, settings: ConnectionSettings) -> str:
    """What is the matter; the client's own text holds the address of an object, which is another one each time."""
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the proxy answered with HTTP status {error.status}"
    return redaction.without(str(error.__cause__ or error), frozenset(redaction.secrets_of(settings)))


def _through(proxy: Proxy | None, url: str) -> Mapping[str, Any]:
    """What the client is told of the proxy."""
    if proxy is None or proxy.bypasses(urlsplit(url).hostname or ""):
        return {}
    address = f"{proxy.scheme}://{proxy.host}:{proxy.port}"
    if not proxy.user:
        return {"proxy": address}
    proof = aiohttp.encode_basic_auth(proxy.user, proxy.password)
    return {"proxy": address, "proxy_headers": {"Proxy-Authorization": proof}}


def _token(status: int, body: bytes, credential: ClientCredentials) -> str:
    """The token in an answer."""
    place = f"the token endpoint {credential.token_url}"
    if status >= 500 or status == _BUSY:
        raise LoginFailed(f"{place} answered with HTTP status {status}", error_class=ErrorClass.TRANSIENT)
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    answer = answer if isinstance(answer, dict) else {}
    token = answer.get("access_token")
    if status == 200 and isinstance(token, str) and token:
        return token
    code = answer.get("error")
    told = f" ({code})" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""
    remedy = "correct spec.oauth, or the client secret"
    if 300 <= status < 400:
        remedy = "redirects aren't followed: write the URL that it leads to into spec.oauth.tokenRequestURL"
    elif status == 200:
        remedy = "there is no access_token in the answer: correct spec.oauth.tokenRequestURL"
    # A scope is refused for the role that it names: other roles may be open.
    failure = RoleNotGranted if code == "invalid_scope" else CredentialsRefused
    raise failure(
        f"{place} gave no token to client {credential.client_id} with {credential.source}: HTTP status {status}{told}; "
        f"{remedy}",
        error_class=ErrorClass.AUTHENTICATION,
    )
