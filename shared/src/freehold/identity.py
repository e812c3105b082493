"""Identity: which external object a resource stands for, the same whoever computes it.

An identity is an account, a namespace class (kinds whose objects share one name space share a class) and name parts,
with argument types for functions and procedures. Its printed form is the fully-qualified name (FQN); its hash names
the claim, so that etcd itself decides who owns the object.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Self

from freehold.identifiers import InvalidName, check, qualified, split

HASH_LENGTH = 52
"""Characters of a hash: 256 bits in unpadded base32."""


@dataclass(frozen=True, slots=True, order=True)
class Identity:
    """One external object.

    Attributes:
        account: key of the proven account (`REGION.LOCATOR` as the server printed them).
        namespace_class: name space that the object's name lives in, for example `DATABASE`.
        parts: stored names, outermost first; each 1 to 255 characters.
        arguments: canonical argument types of a function or procedure, None for everything else.

    Raises:
        InvalidName: a part can't be a Snowflake name, an argument type holds a delimiter out of place.
    """

    account: str
    namespace_class: str
    parts: tuple[str, ...]
    arguments: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidName("an identity has at least one name part")
        for part in self.parts:
            check(part)
        for argument in self.arguments or ():
            _check_argument(argument)

    @property
    def fqn(self) -> str:
        """The printed form, without account and class: `"DB"."S"."F"(NUMBER, VARCHAR)`."""
        name = qualified(self.parts)
        return name if self.arguments is None else f"{name}({', '.join(self.arguments)})"

    @classmethod
    def parse(cls, account: str, namespace_class: str, fqn: str) -> Self:
        """The inverse of `fqn`.

        Raises:
            InvalidName: `fqn` is no printed identity.
        """
        if not fqn.endswith(")"):
            return cls(account, namespace_class, split(fqn))
        end = _end_of_name(fqn)
        return cls(account, namespace_class, split(fqn[:end]), _split_arguments(fqn[end + 1 : -1]))

    @property
    def hash(self) -> str:
        """sha256 over the canonical bytes, in lower-case unpadded base32: valid as object name and as label value."""
        canonical = json.dumps(
            [self.account, self.namespace_class, self.parts, self.arguments], ensure_ascii=False, separators=(",", ":")
        )
        return digest(canonical)


def digest(text: str) -> str:
    """sha256 of a text in lower-case unpadded base32, 52 characters."""
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=").lower()


def _end_of_name(fqn: str) -> int:
    """Where the argument list of a printed function begins: the first parenthesis outside quotes."""
    quoted = False
    for position, character in enumerate(fqn):
        if character == '"':
            quoted = not quoted
        elif character == "(" and not quoted:
            return position
    raise InvalidName(f"not a printed identity: {fqn!r}")


def _split_arguments(text: str) -> tuple[str, ...]:
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
    if '"' in argument or _split_arguments(argument) != (argument,):
        raise InvalidName(f"not an argument type: {argument!r}")
    depth = 0
    for character in argument:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
    if depth:
        raise InvalidName(f"unbalanced parentheses in argument type: {argument!r}")
