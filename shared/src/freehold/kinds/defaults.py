"""Defaults of columns: when the one that Snowflake prints is the one that a spec declares.

Snowflake rewrites expressions, and prints the name of a sequence without quotes. Only of literals is it certain that
two are different.
"""

from __future__ import annotations

import re
from decimal import Decimal

from freehold import bodies
from freehold.identifiers import split

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_STRING = re.compile(r"'(?:[^'\\]|'')*'")
_TRUTH = {"TRUE": True, "FALSE": False}


def same(desired: str, observed: str | None) -> bool | None:
    """Whether two defaults are the same; None where they may be.

    Args:
        desired: the expression in a spec.
        observed: what DESCRIBE prints; None where there is no default.
    """
    if observed is None:
        return desired.strip().upper() == "NULL"
    if is_sequence(desired) and is_sequence(observed):
        return _same_sequence(desired, observed)
    if _canonical(desired) == _canonical(observed):
        return True
    one, other = _literal(desired.strip()), _literal(observed.strip())
    return one == other if one is not None and type(one) is type(other) else None


def is_sequence(default: str | None) -> bool:
    """Whether a default is the next value of a sequence."""
    return default is not None and default.upper().endswith(".NEXTVAL")


def _same_sequence(desired: str, observed: str) -> bool:
    """Without quotes the parts of a printed name can't be told apart, so the whole text counts; a spec may leave out
    database and schema."""
    try:
        wanted = ".".join(split(desired))
    except ValueError:
        return False
    return ("." + observed.replace('"', "")).endswith("." + wanted.replace('"', ""))


def _canonical(text: str) -> str:
    """An expression in which CURRENT_TIMESTAMP and CURRENT_TIMESTAMP() are the same."""
    return " ".join(bodies.canonical(text)).replace(" ( )", "")


def _literal(text: str) -> object:
    """The value of a literal; None for other expressions."""
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    return text if _STRING.fullmatch(text) else _TRUTH.get(text.upper())
