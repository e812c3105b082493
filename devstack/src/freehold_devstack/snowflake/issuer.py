"""A test issuer of OAuth access tokens and OIDC identity tokens: what an identity provider is to Snowflake."""

import base64
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from freehold_devstack.snowflake import jws

_KEY_ID = "test"
_KEY_BITS = 2048
PATH = "/issuer"
"""Where an endpoint serves it."""


@dataclass(frozen=True)
class Client:
    """Who may fetch tokens with the grant `client_credentials`.

    Attributes:
        claims: What its tokens say besides issuer, times and scope.
        scopes: What it may ask for; it gets all of it when it asks for nothing.
    """

    secret: str
    claims: Mapping[str, object] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()


class Issuer:
    """Signs tokens and serves what others need to fetch and to check them.

    Args:
        url: Its identity: the claim `iss`.
        clients: By their ids.
        clock: Seconds since 1970.
        life: Seconds that its tokens live.
        key: What it signs with; a new RSA key by default.
    """

    def __init__(
        self,
        url: str,
        clients: Mapping[str, Client] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        life: int = 600,
        key: jws.PrivateKey | None = None,
    ) -> None:
        self.url = url
        self._clients = clients or {}
        self._clock = clock
        self._life = life
        self._key = key or rsa.generate_private_key(65537, _KEY_BITS)

    @property
    def public_key(self) -> jws.PublicKey:
        return self._key.public_key()

    @property
    def keys(self) -> dict[str, list[dict[str, str]]]:
        """Its JSON Web Key Set."""
        return {"keys": [jws.print_jwk(self.public_key, _KEY_ID)]}

    def token(self, **claims: object) -> str:
        """A token with these claims; issuer and times are its own where they are not given."""
        now = int(self._clock())
        times: dict[str, object] = {"iss": self.url, "iat": now, "exp": now + self._life}
        return jws.sign(times | claims, self._key, kid=_KEY_ID)

    def routes(self, prefix: str = "") -> list[web.RouteDef]:
        return [
            web.post(f"{prefix}/token", self._token),
            web.get(f"{prefix}/keys", self._keys),
            web.get(f"{prefix}/.well-known/openid-configuration", self._configuration),
        ]

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        client = self._client(request)
        if client is None:
            return _refused("invalid_client", 401)
        if form.get("grant_type") != "client_credentials":
            return _refused("unsupported_grant_type")
        scopes = str(form.get("scope", "")).split() or list(client.scopes)
        if not set(scopes) <= set(client.scopes):
            return _refused("invalid_scope")
        token = self.token(**client.claims, scp=scopes)
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": self._life, "scope": " ".join(scopes)}
        return web.json_response(answer)

    def _client(self, request: web.Request) -> Client | None:
        """Who asks, by `Authorization: Basic …`."""
        scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
        try:
            sent, _, proof = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return None
        # RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
        name, secret = unquote_plus(sent), unquote_plus(proof)
        client = self._clients.get(name) if scheme == "Basic" else None
        known = client is not None and hmac.compare_digest(client.secret.encode(), secret.encode())
        return client if known else None

    async def _keys(self, _request: web.Request) -> web.Response:
        return web.json_response(self.keys)

    async def _configuration(self, request: web.Request) -> web.Response:
        base = str(request.url.parent.parent).rstrip("/")
        return web.json_response({"issuer": self.url, "jwks_uri": f"{base}/keys", "token_endpoint": f"{base}/token"})


def _refused(error: str, status: int = 400) -> web.Response:
    return web.json_response({"error": error}, status=status)
