"""The clauses that are peculiar to tasks, in CREATE and ALTER."""

from collections.abc import Callable
from dataclasses import replace

from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Given
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.scripting import parse_body, parse_condition
from freehold_devstack.snowflake.tasks import graph
from freehold_devstack.snowflake.tasks.rules import USER, settle


def _parse_tasks(parser: Parser) -> tuple[Name, ...]:
    """Take `<task> [, …]`, which clauses may follow."""
    return tuple(parser.names(parts=3))


_TAIL: dict[str, Callable[[Parser], Value]] = {
    "AFTER": _parse_tasks,
    USER: lambda parser: parser.identifier(),
    "WHEN": parse_condition,
    "AS": parse_body,
}
"""The clauses that follow the properties, in this order, and what their words are followed by."""


def parse_tail(words: str, parser: Parser) -> Given:
    """Take what follows the words of one of these clauses, and the clauses after it up to the body."""
    following = [*_TAIL][[*_TAIL].index(words) + 1 :]
    given = {words: _TAIL[words](parser)}
    while words != "AS":
        words = next((words for words in following if parser.accept_phrase(words)), "")
        if not words:
            raise parser.unexpected()
        given[words] = _TAIL[words](parser)
        following = following[following.index(words) + 1 :]
    return given


def changing(words: str, parser: Parser) -> Act:
    """ALTER gives one of these clauses anew."""
    return _with({words: _TAIL[words](parser)})


def removing(words: str, _parser: Parser) -> Act:
    return _with({words: None})


def _with(given: Given) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        _store(context, task, given)

    return act


def add_after(parser: Parser) -> Act:
    names = _parse_tasks(parser)

    def act(context: Context, task: CatalogObject) -> None:
        known = (each.name for each in graph.predecessors(context, task))
        _store(context, task, {"AFTER": (*known, *names)})

    return act


def remove_after(parser: Parser) -> Act:
    names = _parse_tasks(parser)

    def act(context: Context, task: CatalogObject) -> None:
        _store(context, task, {"AFTER": graph.without(context, task, names)})

    return act


def _store(context: Context, task: CatalogObject, given: Given) -> None:
    changed = replace(task, properties={**task.properties, **given})
    context.catalog.update(task, settle(context, changed, frozenset(given)))
