"""Identity: which external object a resource stands for, the same whoever computes it.

An identity is an account, a namespace class (kinds whose objects share one name space share a class) and a name. Where
something is set rather than created (a grant, an assignment, an attachment, a tag's value), the slot that it is set in
takes the place of the object. The printed form is the fully-qualified name (FQN); the hash names the claim, so that
etcd itself decides who owns the object.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from freehold.identifiers import InvalidName, check, qualified, split

HASH_LENGTH = 52
"""Characters of a hash: 256 bits in unpadded base32."""

_WORDS = re.compile(r"[A-Z][A-Z0-9_.]*(?: [A-Z][A-Z0-9_.]*)*")
_RELATION = re.compile(r"\b(?:(?:DYNAMIC|EVENT|EXTERNAL|ICEBERG|INTERACTIVE) TABLE|(?:SEMANTIC )?VIEW)$")
"""Words of what shares its names with tables."""
_CONSTRAINT = re.compile(r"^(?:PRIMARY KEY|UNIQUE|FOREIGN KEY)$")
"""Types of constraints, which share their names."""
_QUOTED = r'"(?:[^"]|"")+"'
_NAME = re.compile(rf"{_QUOTED}(?:\.{_QUOTED})*")


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an object.

    Attributes:
        parts: stored names, outermost first; each 1 to 255 characters.
        arguments: canonical argument types of a function or procedure (`datatypes.signature`), None for everything
            else.

    Raises:
        InvalidName: a part can't be a Snowflake name, an argument type holds a delimiter out of place.
    """

    parts: tuple[str, ...]
    arguments: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidName("a name has at least one part")
        for part in self.parts:
            check(part)
        for argument in self.arguments or ():
            _check_argument(argument)

    def __str__(self) -> str:
        """`"DB"."S"."F"(NUMBER, VARCHAR)`."""
        name = qualified(self.parts)
        return name if self.arguments is None else f"{name}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place where something is set, as SQL reads it: `SELECT ON TABLE "DB"."S"."T" TO ROLE "R"`.

    Attributes:
        phrase: keywords and names in turn, keywords first. Keywords are in upper case with single blanks between them,
            so that nothing but a name is ever quoted, and only what is quoted is a name.

    Raises:
        InvalidName: keywords and names don't take turns, or keywords hold anything but upper-case words.
    """

    phrase: tuple[str | Name, ...]

    def __post_init__(self) -> None:
        for position, piece in enumerate(self.phrase):
            if isinstance(piece, str) is bool(position % 2):
                raise InvalidName(f"keywords and names take turns in a slot, keywords first: {self}")
            if isinstance(piece, str) and not _WORDS.fullmatch(piece):
                raise InvalidName(f"not keywords: {piece!r}")
        if not self.phrase:
            raise InvalidName("a slot has at least one keyword")

    def __str__(self) -> str:
        return " ".join(map(str, self.phrase))

    @property
    def canonical(self) -> tuple[str | Name, ...]:
        """The phrase with one word for tables, views and all else that shares their names: GRANT takes any of these
        words for any of them, so that several phrases are one place. Likewise for constraints."""
        following = (*self.phrase[1:], None)
        return tuple(
            _CONSTRAINT.sub("CONSTRAINT", _RELATION.sub("TABLE", piece))
            if isinstance(piece, str) and isinstance(name, Name)
            else piece
            for piece, name in zip(self.phrase, following, strict=True)
        )


_CONTAINERS = frozenset({"DATABASE", "SCHEMA"})
"""Namespace classes of what holds other objects; a warehouse may have the same name as a database."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One external object, or one slot.

    Attributes:
        account: key of the proven account (`REGION.LOCATOR` as the server printed them).
        namespace_class: name space that the name lives in, for example `DATABASE`.
        name: the object's name, or the slot.
    """

    account: str
    namespace_class: str
    name: Name | Slot

    def __lt__(self, other: Identity) -> bool:
        """The order that claims are asked for in."""
        return self.hash < other.hash

    @property
    def parts(self) -> tuple[str, ...]:
        """Stored name parts of the object; none of a slot."""
        return self.name.parts if isinstance(self.name, Name) else ()

    @property
    def is_container(self) -> bool:
        """Whether other objects lie in the object."""
        return self.namespace_class in _CONTAINERS

    def holds(self, inner: Identity) -> bool:
        """Whether another object lies in the object."""
        depth = len(self.parts)
        same = self.account == inner.account and self.parts == inner.parts[:depth]
        return self.is_container and same and len(inner.parts) > depth

    @property
    def fqn(self) -> str:
        """The printed form, without account and class."""
        return str(self.name)

    @classmethod
    def parse(cls, account: str, namespace_class: str, fqn: str) -> Self:
        """The inverse of `fqn`.

        Raises:
            InvalidName: `fqn` is no printed identity.
        """
        pieces = tuple(_pieces(fqn))
        match pieces:
            case (Name() as name,):
                return cls(account, namespace_class, name)
            case _:
                return cls(account, namespace_class, Slot(pieces))

    @property
    def hash(self) -> str:
        """sha256 over the canonical bytes, in lower-case unpadded base32: valid as object name and as label value."""
        name: list[Any]
        match self.name:
            case Name(parts, arguments):
                name = [parts, arguments]
            case Slot() as slot:
                pieces = slot.canonical
                name = [[piece if isinstance(piece, str) else [piece.parts, piece.arguments] for piece in pieces]]
        canonical = [self.account, self.namespace_class, *name]
        return digest(json.dumps(canonical, ensure_ascii=False, separators=(",", ":")))


def digest(text: str) -> str:
    """sha256 of a text in lower-case unpadded base32, 52 characters."""
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=").lower()


def _pieces(fqn: str) -> Iterator[str | Name]:
    """The keywords and names that a printed identity is made of."""
    position = 0
    while position < len(fqn):
        if words := _WORDS.match(fqn, position):
            yield words[0]
            position = words.end()
        elif quoted := _NAME.match(fqn, position):
            position = quoted.end()
            arguments = None
            if fqn.startswith("(", position):
                end = _closing(fqn, position)
                arguments = split_arguments(fqn[position + 1 : end])
                position = end + 1
            yield Name(split(quoted[0]), arguments)
        else:
            break
        if position == len(fqn):
            return
        if fqn[position] != " ":
            break
        position += 1
    raise InvalidName(f"not a printed identity: {fqn!r}")


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens at a position closes."""
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    raise InvalidName(f"not a printed identity: {text!r}")


def split_arguments(text: str) -> tuple[str, ...]:
    """The argument types in a list with commas between them; commas inside a type's own parentheses don't count."""
    if not text:
        return ()
    arguments: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            arguments.append(text[start:position].strip())
            start = position + 1
    return (*arguments, text[start:].strip())


def _check_argument(argument: str) -> None:
    """An argument type must survive printing and parsing: no stray delimiters, no outer blanks."""
    if '"' in argument or split_arguments(argument) != (argument,):
        raise InvalidName(f"not an argument type: {argument!r}")
    depth = 0
    for character in argument:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
    if depth:
        raise InvalidName(f"unbalanced parentheses in argument type: {argument!r}")
