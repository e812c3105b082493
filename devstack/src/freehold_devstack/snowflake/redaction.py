"""Secrets: which properties hold them, and statements without them."""

import re

SECRETS = frozenset(
    {
        "API_KEY",
        "AWS_KEY_ID",
        "AWS_SECRET_KEY",
        "AWS_TOKEN",
        "AZURE_SAS_TOKEN",
        "CREDENTIALS",
        "KEY",
        "MASTER_KEY",
        "OAUTH_ACCESS_TOKEN",
        "OAUTH_CLIENT_SECRET",
        "OAUTH_REFRESH_TOKEN",
        "PASSWORD",
        "PRIVATE_KEY",
        "RSA_PUBLIC_KEY",
        "RSA_PUBLIC_KEY_2",
        "SECRET",
        "SECRET_STRING",
        "TOKEN",
    }
)
"""Properties whose values are shown nowhere. Public keys are no secrets, but nobody wants to read them either."""

HIDDEN = "***"

_NAMES = "|".join(sorted(SECRETS))
_GAP = r"(?:\s|--[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))*"
_STRING = r"""(?:'(?:[^'\\]|\\.|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|\$\$.*?(?:\$\$|\Z))"""
_BARE = r"[^\s'\"(,;)]+"
_GIVEN = re.compile(
    rf'\b({_NAMES})("?{_GAP}=>?{_GAP})(?:{_STRING}|{_BARE})|\b({_NAMES})({_GAP}){_STRING}', re.IGNORECASE | re.DOTALL
)


def redact(sql: str) -> str:
    """A statement with `***` for what it gives to secret properties, whether or not it could be parsed."""
    return _GIVEN.sub(rf"\1\2\3\4'{HIDDEN}'", sql)
