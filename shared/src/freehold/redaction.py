"""Secrets are kept out of what others say: a server quotes what it refuses, whole or cut, a proxy whatever it likes.

What we say ourselves needs none of this: no message of ours holds a secret, nor does a `repr`.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass

_MASK = "***"
_WORD = re.compile(r"[^\s'\"]+")
_PEM_LINE = 64
_TELLING = 4
"""Length from which a part of a secret tells something."""


def secrets_of(holder: object) -> Iterator[str]:
    """The secrets in a dataclass, and in those that it holds: what their `repr` leaves out.

    Bytes are told in base64, by the lines of PEM (RFC 7468, section 2).
    """
    if not is_dataclass(holder):
        return
    for each in fields(holder):
        value = getattr(holder, each.name)
        if each.repr:
            yield from secrets_of(value)
        elif isinstance(value, bytes):
            yield from textwrap.wrap(base64.b64encode(value).decode(), _PEM_LINE)
        elif isinstance(value, str) and value:
            yield value


def without(message: str, secrets: Collection[str]) -> str:
    """A message without secrets that it quotes whole.

    Args:
        message: what somebody else says.
        secrets: in every form that may occur in it; none is empty.
    """
    for each in sorted(secrets, key=len, reverse=True):
        message = message.replace(each, _MASK)
    return message


def without_parts(message: str, secrets: Collection[str]) -> str:
    """A message without any word that a secret contains, too: for those who quote what they were sent, and cut it.

    Not for others: an ordinary word that is missing tells that the secret contains it.

    Args:
        message: what somebody else says.
        secrets: as above.
    """

    def mask(word: re.Match[str]) -> str:
        part = word[0].strip(".,:;")
        return _MASK if len(part) >= _TELLING and any(part in each for each in secrets) else word[0]

    return _WORD.sub(mask, without(message, secrets))
