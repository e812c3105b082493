"""Slots: what is set on objects rather than created, written as SQL reads it, so that one thing has one spelling.

A grant is its privilege, securable and grantee; ownership, an attached policy or a tag's value is the place alone, for
it can hold one value at a time, whatever that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freehold.identifiers import InvalidName
from freehold.identity import Name, Slot

Phrase = tuple[str | Name, ...]
"""A part of a slot: a securable (`ON TABLE "T"`) or a grantee (`TO ROLE "R"`)."""

ACCOUNT: Phrase = ("ACCOUNT",)
"""The account itself."""

_SAME_TYPE: Mapping[str, str] = {
    "ICEBERG TABLE": "TABLE",
    "HYBRID TABLE": "TABLE",
    "MATERIALIZED VIEW": "VIEW",
    "VOLUME": "EXTERNAL VOLUME",
}
"""Object types that GRANT knows by the word of another one. In bulk (ON ALL, ON FUTURE) they are types of their own."""
_SAME_PRIVILEGE: Mapping[str, str] = {"ALL": "ALL PRIVILEGES", "CREATE DATA EXCHANGE LISTING": "CREATE LISTING"}
"""Privileges by the name that they have by now (for listings: behaviour change 1926 in Snowflake's documentation)."""
_JOINTS = frozenset({"ON", "TO", "IN", "OF"})
"""What joins the parts of a slot, and can stand in none of them."""


def of(object_type: str, *parts: str, arguments: tuple[str, ...] | None = None) -> Phrase:
    """An object: `TABLE "DB"."S"."T"`.

    Args:
        object_type: its SQL words; any spelling that means the same gives the same.
        parts: its stored name parts, outermost first.
        arguments: argument types of a function or procedure, by `datatypes.signature`.

    Raises:
        InvalidName: it can't be written so.
    """
    words = _type(object_type)
    return (_SAME_TYPE.get(words, words), Name(parts, arguments))


def all_in(plural: str, container: Phrase) -> Phrase:
    """All objects of a type that a container holds at the time: `ALL TABLES IN SCHEMA "DB"."S"`."""
    return _joined(f"ALL {_type(plural)} IN", container)


def future_in(plural: str, container: Phrase) -> Phrase:
    """All objects of a type that a container will hold: `FUTURE TABLES IN SCHEMA "DB"."S"`."""
    return _joined(f"FUTURE {_type(plural)} IN", container)


def grant(privilege: str, securable: Phrase, grantee: Phrase) -> Slot:
    """`SELECT ON TABLE "DB"."S"."T" TO ROLE "R"`."""
    words = _words(privilege)
    return Slot(_joined(f"{_SAME_PRIVILEGE.get(words, words)} ON", securable, "TO", grantee))


def ownership(securable: Phrase) -> Slot:
    """`OWNERSHIP ON TABLE "DB"."S"."T"`: there is one owner at a time."""
    return Slot(_joined("OWNERSHIP ON", securable))


def owned(slot: Slot) -> Phrase:
    """What a slot that `ownership` made is about."""
    first, *rest = slot.phrase
    return (str(first).removeprefix("OWNERSHIP ON "), *rest)


def assignment(role: Phrase, grantee: Phrase) -> Slot:
    """`ROLE "A" TO USER "U"`."""
    return Slot(_joined(*role, "TO", grantee))


@dataclass(frozen=True, slots=True)
class Granted:
    """What a grant says.

    Attributes:
        privilege: its words.
        securable: what it is on.
        grantee_type: words of who has it, such as `DATABASE ROLE`.
        grantee: who that is.
    """

    privilege: str
    securable: Phrase
    grantee_type: str
    grantee: Name

    @property
    def on(self) -> tuple[str, Name]:
        """Words and name of the object that it is on, where it is on one."""
        match self.securable:
            case (str(words), Name() as name):
                return words, name
        raise ValueError(f"not on an object: {self}")


def granted(slot: Slot) -> Granted:
    """What a slot says that `grant` made."""
    match slot.phrase:
        case (str(first), Name() as securable, str(to), Name() as grantee):
            privilege, _, words = first.partition(" ON ")
            return Granted(privilege, (words, securable), to.removeprefix("TO "), grantee)
        case (str(first), Name() as grantee):
            privilege, _, rest = first.partition(" ON ")
            words, _, to = rest.rpartition(" TO ")
            return Granted(privilege, (words,), to, grantee)
    raise ValueError(f"not the grant of a privilege: {slot}")


@dataclass(frozen=True, slots=True)
class Assigned:
    """What an assignment says.

    Attributes:
        role_type: words of the role, such as `DATABASE ROLE`.
        role: which role it is.
        holder_type: words of who has it.
        holder: who that is.
    """

    role_type: str
    role: Name
    holder_type: str
    holder: Name


def assigned(slot: Slot) -> Assigned:
    """What a slot says that `assignment` made."""
    match slot.phrase:
        case (str(role_type), Name() as role, str(words), Name() as holder):
            return Assigned(role_type, role, words.removeprefix("TO "), holder)
    raise ValueError(f"not the assignment of a role: {slot}")


def taken_from(slot: Slot) -> Slot:
    """A grant or an assignment as REVOKE reads it: `SELECT ON TABLE "T" FROM ROLE "R"`."""
    *before, words, grantee = slot.phrase
    if not isinstance(words, str):
        raise TypeError(f"not a slot that ends with a grantee: {slot}")
    left, to, right = words.rpartition("TO ")
    if not to:
        raise ValueError(f"not a slot that gives somebody something: {slot}")
    return Slot((*before, f"{left}FROM {right}", grantee))


def attachment(policy_type: str, holder: Phrase) -> Slot:
    """`NETWORK POLICY OF USER "U"`, `NETWORK POLICY OF ACCOUNT`, `MASKING POLICY OF TABLE "T" COLUMN "C"`."""
    return Slot(_joined(f"{_type(policy_type)} OF", holder))


@dataclass(frozen=True, slots=True)
class Place:
    """What something is set on.

    Attributes:
        type: its words, such as `TABLE`.
        name: its name; None of the account.
        column: the column of a table or view that is meant; None for all of it.
    """

    type: str
    name: Name | None = None
    column: str | None = None


def holder(slot: Slot) -> Place:
    """What an attachment, or the value of a tag, is set on."""
    if len(slot.phrase) == 1:
        return Place(_after_joint(str(slot.phrase[0])))
    *before, words, name = slot.phrase
    if words == "COLUMN" and isinstance(name, Name) and isinstance(before[-2], str) and isinstance(before[-1], Name):
        return Place(_after_joint(before[-2]), before[-1], name.parts[0])
    if isinstance(words, str) and isinstance(name, Name):
        return Place(_after_joint(words), name)
    raise ValueError(f"not something that is set on something else: {slot}")


def _after_joint(words: str) -> str:
    """The type of object at the end of `MASKING POLICY OF TABLE` or `ON WAREHOUSE`."""
    kept = words.split()
    return " ".join(kept[max(at for at, word in enumerate(kept) if word in _JOINTS) + 1 :])


def tag(slot: Slot) -> Name:
    """The tag whose value is in a slot."""
    match slot.phrase:
        case ("TAG", Name() as name, *_):
            return name
    raise ValueError(f"not the value of a tag: {slot}")


def column(relation: Phrase, name: str) -> Phrase:
    """`TABLE "DB"."S"."T" COLUMN "C"`."""
    return (*relation, "COLUMN", Name((name,)))


def tag_value(tag: tuple[str, str, str], holder: Phrase) -> Slot:
    """`TAG "DB"."S"."T" ON TABLE "DB"."S"."X" COLUMN "C"`."""
    return Slot(_joined("TAG", Name(tag), "ON", holder))


def constraint(type_: str, name: str, table: Phrase) -> Slot:
    """`PRIMARY KEY "PK" ON TABLE "DB"."S"."T"`: each table has a name space of its own for all types of them."""
    return Slot(_joined(_words(type_), Name((name,)), "ON", table))


@dataclass(frozen=True, slots=True)
class Constrained:
    """What a constraint is.

    Attributes:
        type: its words, such as `FOREIGN KEY`.
        name: its stored name.
        table: the table.
    """

    type: str
    name: str
    table: Name


def constrained(slot: Slot) -> Constrained:
    """What a slot says that `constraint` made."""
    match slot.phrase:
        case (str(words), Name((name,)), "ON TABLE", Name() as table):
            return Constrained(words, name, table)
    raise ValueError(f"not a constraint: {slot}")


def _joined(*pieces: str | Name | Phrase) -> Phrase:
    """One phrase, with keywords that meet made one piece."""
    joined: list[str | Name] = []
    for piece in pieces:
        for each in piece if isinstance(piece, tuple) else (piece,):
            if joined and isinstance(each, str) and isinstance(joined[-1], str):
                joined[-1] += f" {each}"
            else:
                joined.append(each)
    return tuple(joined)


def _type(text: str) -> str:
    """A type of object; SHOW writes it with underscores."""
    return _words(text.replace("_", " "))


def _words(text: str) -> str:
    """Keywords in upper case with single blanks between them."""
    words = text.upper().split()
    if not words or not _JOINTS.isdisjoint(words):
        raise InvalidName(f"not a privilege or type of object: {text!r}")
    return " ".join(words)
