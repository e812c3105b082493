"""Which of several functions or procedures of one name a row of SHOW is about, told by the types of its arguments.

Source: the column `arguments` of SHOW USER FUNCTIONS and SHOW PROCEDURES, `F(NUMBER, DEFAULT VARCHAR) RETURN FLOAT`.
Accounts have printed lengths there for a while (BCR-1944), so that types are read as anywhere else.
"""

from __future__ import annotations

import re

from freehold import datatypes
from freehold.identifiers import quote
from freehold.identity import split_arguments
from freehold.observation import Row

_MARK = re.compile(r"(?:(?:IN|INPUT|OUT|OUTPUT|DEFAULT) )+")
_NAMED = re.compile(r'(?:"(?:[^"]|"")+"|\S+) +(.+)')


def shown(row: Row) -> tuple[str, ...] | None:
    """The argument types of a row, as `datatypes.signature` has them; None where they can't be read."""
    found = _listed(row)
    return None if found is None else tuple(_type(each) for each in found)


def optional(row: Row) -> tuple[bool, ...] | None:
    """Which of the arguments have a default, likewise."""
    found = _listed(row)
    return None if found is None else tuple("DEFAULT " in _marks(each) for each in found)


def _listed(row: Row) -> tuple[str, ...] | None:
    """The arguments of a row as they are printed."""
    name, text = str(row.get("name")), str(row.get("arguments"))
    # The name may hold any mark itself: it is cut off as a whole.
    start = next((len(each) for each in (name, quote(name)) if text.startswith(f"{each}(")), None)
    if start is None:
        return None
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return split_arguments(text[start + 1 : at].strip())
    return None


def _marks(argument: str) -> str:
    found = _MARK.match(argument)
    return found[0] if found else ""


def _type(argument: str) -> str:
    text = argument.removeprefix(_marks(argument))
    found = datatypes.read(text)
    named = None if found.known else _NAMED.fullmatch(text)
    return datatypes.read(named[1]).signature if named else found.signature
