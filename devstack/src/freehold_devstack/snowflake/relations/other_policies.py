"""Aggregation, join, storage lifecycle and projection policies: there are no such objects here, so that whoever names
one is told that it doesn't exist. What statements say of them is read all the same.

https://docs.snowflake.com/en/sql-reference/sql/alter-table
"""

from collections.abc import Callable
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.columns import parse_column_names

PROJECTION_POLICY = "PROJECTION POLICY"
"""Of columns."""


@dataclass(frozen=True, slots=True)
class _PolicyType:
    """A type of policy on tables, and mostly on views.

    Attributes:
        words: Its SQL words, and the property of a draft that holds the name.
        columns: The words before its columns.
        required: Whether it must be given columns.
        verbs: Of ALTER: what puts it on and what takes it off.
    """

    words: str
    columns: str
    required: bool
    verbs: tuple[str, str]

    def parse(self, parser: Parser) -> Name:
        """Take <policy> [<words> (<column> [, …])]."""
        name = parser.name(parts=3)
        if self.required:
            parser.expect(*self.columns.split())
            parse_column_names(parser)
        elif parser.accept_phrase(self.columns):
            parse_column_names(parser)
        return name

    def clauses(self) -> tuple[Part, ...]:
        def parse(parser: Parser) -> Given:
            return {self.words: self.parse(parser)}

        return (Part(self.words, parse), Part(f"WITH {self.words}", parse))

    def actions(self) -> tuple[Action, ...]:
        put, take = self.verbs

        def parse_put(parser: Parser) -> Act:
            name = self.parse(parser)
            if put == "SET":
                parser.accept("FORCE")
            return refusing(self.words, name)

        def parse_take(_parser: Parser) -> Act:
            def act(context: Context, table: CatalogObject) -> None:
                context.require(OWNERSHIP, table)
                raise errors.unnumbered(f"There is no {self.words.lower()} on '{table.name}'.")

            return act

        return (Action(f"{put} {self.words}", parse_put, None), Action(f"{take} {self.words}", parse_take, None))


_TYPES = (
    _PolicyType("AGGREGATION POLICY", "ENTITY KEY", required=False, verbs=("SET", "UNSET")),
    _PolicyType("JOIN POLICY", "ALLOWED JOIN KEYS", required=False, verbs=("SET", "UNSET")),
    _PolicyType("STORAGE LIFECYCLE POLICY", "ON", required=True, verbs=("ADD", "DROP")),
)

CLAUSES = tuple(part for each in _TYPES for part in each.clauses())
"""Of CREATE TABLE."""

ACTIONS = tuple(action for each in _TYPES for action in each.actions())
"""Of ALTER TABLE."""

_OF_VIEWS = tuple(each for each in _TYPES if each.words != "STORAGE LIFECYCLE POLICY")

VIEW_CLAUSES = tuple(part for each in _OF_VIEWS for part in each.clauses())
"""Of CREATE VIEW."""

VIEW_ACTIONS = tuple(action for each in _OF_VIEWS for action in each.actions())
"""Of ALTER VIEW."""


def refusing(words: str, name: Name) -> Callable[[Context, CatalogObject], None]:
    """What fails with 002003, for there is no such policy."""

    def act(context: Context, _table: CatalogObject) -> None:
        context.resolve_reference(words, name, "CREATE")

    return act


def check_there(context: Context, draft: CatalogObject) -> None:
    """Refuse with 002003 the policies that CREATE TABLE or CREATE VIEW names."""
    for each in _TYPES:
        name = draft.properties.get(each.words)
        if isinstance(name, tuple):
            context.resolve_reference(each.words, tuple(map(str, name)), "CREATE")
