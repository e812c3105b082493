"""Codecs: how a value of a spec field is written into SQL, read back, and compared. Each comparison exists once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freehold import datatypes, sql
from freehold.datatypes import DataType
from freehold.identifiers import unquoted
from freehold.observation import UNKNOWN
from freehold.sql import Sql


class Codec:
    """A text that is compared exactly and written as a string literal."""

    def render(self, value: Any) -> Sql:
        """The value in a statement."""
        return sql.literal(str(value))

    def canonical(self, value: Any) -> Any:
        """The one spelling that values of the spec are compared in."""
        return value

    def read(self, raw: object) -> Any:
        """The canonical value of what Snowflake printed: None when nothing is set, UNKNOWN when it doesn't tell."""
        return None if raw is None else self.canonical(str(raw))

    def matches(self, desired: Any, observed: Any) -> bool:
        """Whether a canonical live value is what a canonical value of the spec asks for."""
        return bool(desired == observed)

    def seen(self, _desired: Any, observed: Any, /) -> Any:
        """What counts of a canonical live value, beside a canonical value of the spec; None for one to be reset."""
        return observed

    def label(self, canonical: Any, /) -> str:
        """What a canonical value is remembered by where it may be another's."""
        return str(canonical)

    def parts(self, _value: Any, /) -> Iterable[tuple[str, Any]]:
        """(name, value) of what is set inside a value of the spec, and goes back by itself when it is removed."""
        return ()


class Collation(Codec):
    """A collation specification, whose case doesn't matter."""

    def canonical(self, value: Any) -> str:
        return str(value).lower()


class TextSet(Codec):
    """Texts as a set, written as a list of literals and printed with commas between them."""

    def render(self, value: Any) -> Sql:
        return sql.sql("({all})", all=sql.join(map(sql.literal, value), ", "))

    def canonical(self, value: Any) -> tuple[str, ...]:
        return tuple(sorted(set(value)))

    def read(self, raw: object) -> tuple[str, ...]:
        return self.canonical([each.strip() for each in str(raw or "").split(",") if each.strip()])


class Comment(Codec):
    """A text whose empty form, NULL and absence mean the same; `absent` is what Snowflake may print for them."""

    def __init__(self, *, absent: str = "") -> None:
        self._absent = absent

    def read(self, raw: object) -> str:
        return str(raw) if raw and raw != self._absent else ""


class Type(Codec):
    """A data type, in any of its spellings; what it leaves open is the account's to fill in."""

    def render(self, value: Any) -> Sql:
        return sql.words(datatypes.parse(str(value)).ddl)

    def canonical(self, value: Any) -> DataType:
        return datatypes.read(str(value))

    def matches(self, desired: DataType, observed: DataType) -> bool:
        return datatypes.matches(desired, observed)


class Identifier(Codec):
    """The stored name of another object; printed with or without quotes, and as `null` where a column says so."""

    def __init__(self, *, absent: str = "") -> None:
        self._absent = absent

    def render(self, value: Any) -> Sql:
        return sql.identifier(str(value))

    def read(self, raw: object) -> Any:
        if raw is None or raw in ("", self._absent):
            return None
        return unquoted(str(raw))


class IdentifierText(Identifier):
    """The name of another object inside a string literal, where Snowflake parses the text as an identifier again."""

    def render(self, value: Any) -> Sql:
        return sql.literal(sql.identifier(str(value)).text)


class Number(Codec):
    """An integer, printed as a number or as text; `absent` is what a missing value means."""

    def __init__(self, *, absent: int | None = None) -> None:
        self._absent = absent

    def render(self, value: Any) -> Sql:
        return sql.number(int(value))

    def read(self, raw: object) -> Any:
        if raw is None or raw == "":
            return UNKNOWN if self._absent is None else self._absent
        return int(str(raw))


class Boolean(Codec):
    """True or false; printed as text in any case."""

    def render(self, value: Any) -> Sql:
        return sql.boolean(bool(value))

    def read(self, raw: object) -> Any:
        if raw is None or raw == "":
            return UNKNOWN
        return raw if isinstance(raw, bool) else str(raw).lower() in ("true", "y", "yes", "1", "on")


@dataclass(frozen=True)
class Word(Codec):
    """One of a few words, compared without case.

    Attributes:
        quoted: written as a string literal; else as a bare keyword.
        spellings: other spellings of a word, in upper case, to the canonical one.
        case: canonical words that Snowflake writes with lower-case letters, by their upper-case form.
    """

    quoted: bool = True
    spellings: Mapping[str, str] = field(default_factory=dict)
    case: Mapping[str, str] = field(default_factory=dict)

    def canonical(self, value: Any) -> Any:
        upper = str(value).upper()
        upper = self.spellings.get(upper, upper)
        return self.case.get(upper, upper)

    def render(self, value: Any) -> Sql:
        word = str(self.canonical(value))
        return sql.literal(word) if self.quoted else sql.words(word)

    def read(self, raw: object) -> Any:
        return UNKNOWN if raw is None or raw == "" else self.canonical(str(raw))
