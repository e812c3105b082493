"""All object types, and the words that statements know them by."""

from collections.abc import Iterable, Iterator, Mapping

from freehold_devstack.snowflake.access import KNOWN_PRIVILEGES
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.parser import Parser, Vocabulary


class Types(Mapping[str, ObjectType]):
    """The object types by kind, and the words that statements know them and what is theirs by.

    Args:
        declared: All of them.
    """

    def __init__(self, declared: Iterable[ObjectType]) -> None:
        self._by_kind = {object_type.kind: object_type for object_type in declared}
        types = self._by_kind.values()
        privileges = {privilege: privilege for each in types for privilege in each.rights.grantable}
        self.privileges = Vocabulary(privileges)
        self.grantable = Vocabulary({**privileges, **{privilege: privilege for privilege in KNOWN_PRIVILEGES}})
        self.modifiers = Vocabulary({clause.words: clause.words for each in types for clause in each.modifiers})
        self.extra_shows = Vocabulary(dict(extra for each in types for extra in each.extra_shows))
        self.extra_describes = Vocabulary(dict(extra for each in types for extra in each.extra_describes))
        self.shows_of_own = Vocabulary({f"USER {each.plural}": each for each in types if each.show.own})
        self._words = {
            (plural, creating): self._called(plural=plural, creating=creating)
            for plural in (False, True)
            for creating in (False, True)
        }

    def __getitem__(self, kind: str) -> ObjectType:
        return self._by_kind[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_kind)

    def __len__(self) -> int:
        return len(self._by_kind)

    def _called(self, *, plural: bool, creating: bool) -> Vocabulary[ObjectType]:
        by_words: dict[str, ObjectType] = {}
        for object_type in self.values():
            by_words[object_type.plural if plural else object_type.kind] = object_type
            for singular, several in () if creating else object_type.aliases:
                by_words[several if plural else singular] = object_type
        return Vocabulary(by_words)

    def is_next(self, parser: Parser) -> bool:
        """Whether the words of an object type come next."""
        return parser.at_any(self._words[False, False])

    def parse(self, parser: Parser, *, plural: bool, creating: bool) -> ObjectType | None:
        """Take the words of an object type, if they come next; the longest match wins."""
        return parser.accept_any(self._words[plural, creating])
