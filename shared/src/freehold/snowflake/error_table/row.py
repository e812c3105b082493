"""A row of the table of Snowflake's answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Answers that mean the same.

    Attributes:
        numbers: as the server sends them, without leading zeros; none where no number is publicly known.
        about: what is the matter, for people.
        advice: what they can do, in sentences, where the message itself doesn't say it.
        pattern: regular expression for a part of the message, by which it is known in place of a number.
        reported: whether only third parties tell of it, and neither Snowflake nor a server's answer that was seen.
    """

    numbers: tuple[int, ...]
    about: str
    advice: str = ""
    pattern: str = ""
    reported: bool = False


def unnumbered(pattern: str, about: str, advice: str = "") -> Row:
    """A row for an answer whose number isn't publicly known."""
    return Row((), about, advice, pattern)
