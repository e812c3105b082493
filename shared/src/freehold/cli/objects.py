"""Objects as people name them: `db.schema."Table"`, narrowed by account and class where several have one name."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from freehold.claims import ClaimedIdentity
from freehold.cli import console
from freehold.cli.kinds import kind_of
from freehold.datatypes import InvalidDataType, signature
from freehold.identifiers import InvalidName, split
from freehold.identity import Identity, Name, Slot, split_arguments

_CALL = re.compile(r'((?:"(?:[^"]|"")++"|[^"(])++)(\(.*\))?')

Account = Annotated[
    str | None, typer.Option(help="Only in this account: ORGANIZATION.ACCOUNT, or REGION.LOCATOR as claims have it.")
]
Class = Annotated[
    str | None,
    typer.Option(
        "--class", "--kind", help="Only in this name space: a class such as TABLE, or a kind that lives in it."
    ),
]


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for among claims.

    Attributes:
        name: the object, or the slot. A name without argument types stands for all overloads too.
        account: its key or name, in any case; None for all.
        namespace_class: None for all.
    """

    name: Name | Slot
    account: str | None = None
    namespace_class: str | None = None

    def is_(self, claimed: ClaimedIdentity) -> bool:
        """Whether a claimed object is the one that is looked for."""
        return self._narrows_to(claimed) and self._names(claimed.fqn, str(self.name))

    def is_nearly(self, claimed: ClaimedIdentity) -> bool:
        """Whether a claimed object has the name but for upper and lower case."""
        return self._narrows_to(claimed) and self._names(claimed.fqn.casefold(), str(self.name).casefold())

    def _narrows_to(self, claimed: ClaimedIdentity) -> bool:
        return in_account(claimed, self.account) and self.namespace_class in (None, claimed.namespace_class)

    @staticmethod
    def _names(fqn: str, name: str) -> bool:
        return fqn == name or fqn.startswith(f"{name}(")


def seek(text: str, account: str | None, namespace_class: str | None) -> Sought:
    """What a person looks for.

    Args:
        text: a dotted name, whose bare parts are folded to upper case as Snowflake does, with the argument types of a
            function or without; or a grant or other slot as claims print it.
        account: its key or name.
        namespace_class: the class, or a kind of it, in any case.

    Raises:
        Exit: the text is none of these, and the person has been told.
    """
    kind = kind_of(namespace_class) if namespace_class else None
    wanted = kind.object_class if kind else namespace_class and namespace_class.upper()
    try:
        return Sought(_name(text.strip()), account, wanted)
    except InvalidName as error:
        remedy = "write DB.SCHEMA.NAME, and in double quotes what isn't stored in upper case"
        raise console.fail(f"{error}: {remedy}", console.USAGE) from error


def in_account(claimed: ClaimedIdentity, account: str | None) -> bool:
    """Whether an object is in an account, given by key or name; also with a dash, as Snowflake's clients spell it."""
    wanted = account and account.replace("-", ".").casefold()
    return not wanted or wanted in (claimed.account.key.casefold(), claimed.account.name.casefold())


def _name(text: str) -> Name | Slot:
    with suppress(InvalidName):
        printed = Identity.parse("", "", text).name
        if isinstance(printed, Slot) and " " in text:
            return printed
    call = _CALL.fullmatch(text)
    if call is None:
        raise InvalidName(f"not the name of an object: {text!r}")
    parts = split(call[1].strip())
    if call[2] is None:
        return Name(parts)
    try:
        return Name(parts, signature(split_arguments(call[2][1:-1])))
    except InvalidDataType as error:
        raise InvalidName(str(error)) from error
