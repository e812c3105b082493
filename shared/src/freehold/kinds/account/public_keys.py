"""Public keys of users: whatever form they come in, one body that Snowflake takes and prints."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any

from freehold import sql
from freehold.kinds.values import Codec
from freehold.sql import Sql

_FRAME = re.compile(r"-----(BEGIN|END) [A-Z ]+-----|\s+")
_SEQUENCE = 0x30
_LONG_FORM = 0x80

_REMEDY = "store the public key in PEM form, as `openssl pkey -in key.pem -pubout` prints it"


def body(text: str) -> str:
    """A key in one line, without header, footer and line breaks, which Snowflake doesn't take."""
    return _FRAME.sub("", text)


def check(text: str) -> None:
    """Refuse what is no public key, before it is sent anywhere.

    Raises:
        ValueError: it is none; the message tells nothing of it.
    """
    try:
        der = base64.b64decode(body(text), validate=True)
    except binascii.Error:
        raise ValueError(f"this is no key: {_REMEDY}") from None
    # SubjectPublicKeyInfo is a sequence that begins with another one, a private key a sequence that begins with a
    # number (RFC 5280, section 4.1; RFC 5208, section 5; RFC 8017, appendix A.1.2).
    start = 2 + (der[1] & ~_LONG_FORM if len(der) > 1 and der[1] & _LONG_FORM else 0)
    if "PRIVATE KEY" in text or der[:1] != bytes([_SEQUENCE]) or der[start : start + 1] != bytes([_SEQUENCE]):
        raise ValueError(f"this is no public key: {_REMEDY}")


def fingerprint(key: str) -> str:
    """What Snowflake prints of a key, and knows the private half by.

    Args:
        key: its body.
    """
    digest = hashlib.sha256(base64.b64decode(key)).digest()
    return f"SHA256:{base64.b64encode(digest).decode()}"


class PublicKey(Codec):
    """A public key, the same in every form."""

    def canonical(self, value: Any) -> str:
        return body(str(value))

    def render(self, value: Any) -> Sql:
        return sql.literal(self.canonical(value))
