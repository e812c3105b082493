"""Secrets are kept out of what others say: a server quotes what it refuses, whole or cut, a proxy whatever it likes.

What we say ourselves needs none of this: no message of ours holds a secret, nor does a `repr`.
"""

from __future__ import annotations

import base64
import re
import textwrap
from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass

_MASK = "***"
_MARK = re.compile(r"['\"`](?=\S)")
"""What begins a quotation, or ends one right before something that is no word of the message."""
_STRING = re.compile(r"(?P<mark>['\"`])(?P<text>.+?)(?P=mark)", re.DOTALL)
_WORD = re.compile(r"[^\s'\"]+")
_PEM_LINE = 64
_TELLING = 4
"""Length from which a part of a secret tells something."""
_PROSE = re.compile(r"\w*")
"""What stands in a line of its own, and may be a word of the message: BEGIN, else."""


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


def without_quotations(message: str, texts: Collection[str]) -> str:
    """A message without what it quotes of texts that people write: what begins with a quotation mark and is a part of
    one, their lines, and the strings in them. All else of it stays, for whoever is to mend the text.

    Args:
        message: what somebody else says.
        texts: programs or queries, in any language.
    """
    lines = {line.strip() for text in texts for line in text.splitlines()}
    strings = {found["text"] for text in texts for found in _STRING.finditer(text)}
    whole = {each for each in lines if not _PROSE.fullmatch(each)} | strings
    told, after = list[str](), 0
    for mark in _MARK.finditer(message):
        begin = mark.end()
        end = begin + _common(message[begin:], texts) if begin > after else begin
        if end - begin >= _TELLING:
            told += (message[after:begin], _MASK)
            after = end
    return without("".join((*told, message[after:])), {each for each in whole if len(each) >= _TELLING})


def _common(quoted: str, texts: Collection[str]) -> int:
    """How many characters a message quotes of a text, in whole words."""
    too_many = bisect_left(range(1, len(quoted) + 1), True, key=lambda n: all(quoted[:n] not in each for each in texts))
    rest = re.match(r"\w*", quoted[too_many:])
    return len(re.sub(r"\w*\Z", "", quoted[:too_many])) if rest and rest[0] else too_many


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
