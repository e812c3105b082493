"""Whose signatures the endpoint can check: the issuers that accounts may trust, and their keys."""

from collections.abc import Iterable, Mapping

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.jws import InvalidTokenError, PublicKey


class Issuers:
    """Public keys by the URL that stands in a token as `iss`.

    Snowflake fetches them from the issuer; the endpoint reaches nothing, so it is told them.
    """

    def __init__(self, keys: Mapping[str, Iterable[PublicKey]] | None = None) -> None:
        self._keys = {url: tuple(known) for url, known in (keys or {}).items()}

    def trust(self, url: str, key: PublicKey) -> None:
        """Know a further key."""
        self._keys[url] = (*self._keys.get(url, ()), key)

    def verify(self, token: jws.Token) -> str:
        """Check that a token's issuer has signed it.

        Returns:
            The issuer.

        Raises:
            InvalidTokenError: It has not, or none of its keys is known.
        """
        url = token.claim("iss", str)
        for key in self._keys.get(url, ()):
            try:
                token.verify(key)
            except InvalidTokenError:
                continue
            return url
        raise InvalidTokenError(f"no key of the issuer {url} has signed it")
