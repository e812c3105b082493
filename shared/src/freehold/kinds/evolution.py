"""How a table's columns get from what they are to what a spec declares, without losing data that nobody gave up.

What can be added, widened, renamed or noted on a column is altered. What no ALTER makes of a column takes another
column, or another table, and is said. Rules: "ALTER TABLE" and "ALTER TABLE ... ALTER COLUMN" in Snowflake's SQL
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from freehold import bodies, datatypes, sql
from freehold.kinds import defaults
from freehold.kinds.columns import Column, Live, definition, identity_in
from freehold.kinds.pairs import Pair, governed
from freehold.kinds.property import Action, Change, Deviation
from freehold.kinds.spec_fields import item_name

ADD, DROP, RENAME = "ADD COLUMN", "DROP COLUMN", "RENAME COLUMN"


class Evolving(Protocol):
    """A spec of columns that may change."""

    columns: list[Column]
    dropped_columns: list[str] | None
    enable_schema_evolution: bool | None


def deviations(spec: Evolving, have: Sequence[Live], tracked: Collection[str]) -> Iterator[Deviation]:
    """What isn't as it should be in the columns of a table, in an order in which it can be mended.

    Args:
        spec: what is wanted.
        have: the columns that are there.
        tracked: names under which fields, columns and their attributes were ever sent.
    """
    names = {each.name for each in have}
    renamed = {old: each for each in spec.columns if (old := renamed_from(each, names)) is not None}
    yield from (_renamed(column, old) for old, column in renamed.items())
    # In the order of the table, which a new name doesn't change.
    now = (replace(each, name=renamed[each.name].name) if each.name in renamed else each for each in have)
    live = {each.name: each for each in now}
    pairs = [
        Pair(column, live[column.name], tracked, loads_alter=bool(spec.enable_schema_evolution))
        for column in spec.columns
        if column.name in live
    ]
    for aspect in _ASPECTS:
        for pair in pairs:
            yield from aspect(pair)
    yield from (_added(each) for each in spec.columns if each.name not in live)
    yield from _surplus(spec, live, tracked)
    if any(not each.printed for each in have):
        yield from _order(spec, live)


def dropped(spec: Evolving, have: Sequence[Live], _tracked: Collection[str]) -> Iterator[Deviation]:
    """The columns that the spec has given up by name and that are still there."""
    kept = {name for each in spec.columns for name in (each.name, each.previous_name)}
    there = {each.name: each for each in have}
    for name in spec.dropped_columns or ():
        if name in there and name not in kept:
            yield Deviation(
                f"[{name}]",
                None,
                str(there[name].type),
                Change.ASKED,
                (Action(DROP, sql.identifier(name)),),
                said="is listed, and still there",
                remedy="it was added after the list had its effect: drop it yourself, or declare it in place of that",
                causes=(item_name("columns", name),),
            )


def renamed_from(column: Column, live: Collection[str]) -> str | None:
    """The name of the column that is to become this one; None where there is nothing to rename."""
    old = column.previous_name
    return old if old is not None and old in live and column.name not in live else None


def _renamed(column: Column, old: str) -> Deviation:
    clause = sql.sql("{old} TO {new}", old=sql.identifier(old), new=sql.identifier(column.name))
    return Deviation(f"[{column.name}]", column.name, old, actions=(Action(RENAME, clause, alone=True),))


def _added(column: Column) -> Deviation:
    return Deviation(
        f"[{column.name}]",
        column.type,
        None,
        actions=(Action(ADD, definition(column)),),
        said="is declared, and missing",
    )


def _order(spec: Evolving, live: Collection[str]) -> Iterator[Deviation]:
    """Of interest while the manifest is changed; later on, nobody can help it."""
    declared = [each.name for each in spec.columns]
    stored = [name for name in live if name in declared] + [name for name in declared if name not in live]
    if declared != stored:
        said = f"keep the order of their creation in the table: {', '.join(stored)}"
        yield Deviation("", tuple(declared), tuple(stored), Change.TOLD, said=said)


def _surplus(spec: Evolving, live: Mapping[str, Live], tracked: Collection[str]) -> Iterator[Deviation]:
    """The columns that no spec asks for. With schema evolution, loads add some, and there is nothing to say."""
    known = {each.name for each in spec.columns}.union(spec.dropped_columns or ())
    for name, column in live.items():
        if name in known or spec.enable_schema_evolution:
            continue
        type_ = str(column.type)
        if item_name("columns", name) in tracked:
            yield Deviation(
                f"[{name}]",
                None,
                type_,
                Change.DESTRUCTIVE,
                said="isn't declared any more, and dropping it would lose its data",
                remedy=f"declare it; or, if it was renamed, give the new column previousName {name}; or list it in "
                "droppedColumns to lose it with its data",
            )
        else:
            yield Deviation(
                f"[{name}]",
                None,
                type_,
                Change.TOLD,
                said=f"of type {type_} is there and isn't declared",
                remedy="declare it, or list it in droppedColumns to lose it with its data",
            )


def _type(pair: Pair[Column]) -> Iterator[Deviation]:
    desired, observed = datatypes.parse(pair.column.type), pair.live.type
    if datatypes.matches(desired, observed):
        return
    both = (str(desired), str(observed))
    if datatypes.widens(observed, desired):
        yield pair.alters("type", *both, sql.words(f"SET DATA TYPE {desired.ddl}"))
    elif not (desired.known and observed.known):
        yield pair.differs("type", *both, Change.TOLD, "this release doesn't know the type, and leaves it as it is")
    else:
        yield pair.differs(
            "type",
            *both,
            Change.DESTRUCTIVE,
            f"a type can only be widened: declare {observed}; or add a column of the new type, copy what it holds, and "
            "list the old one in droppedColumns",
        )


def _comment(pair: Pair[Column]) -> Iterator[Deviation]:
    desired, observed = pair.column.comment, pair.live.comment
    if (desired or "") == observed or (desired is None and not pair.sent("comment")):
        return
    clause = sql.sql("COMMENT {text}", text=sql.literal(desired)) if desired else sql.words("UNSET COMMENT")
    yield pair.alters("comment", desired, observed, clause)


def _default(pair: Pair[Column]) -> Iterator[Deviation]:
    """Of defaults, no ALTER changes but one sequence into another."""
    desired, observed = pair.column.source, pair.live.default
    if desired is None or pair.column.identity is not None:
        return
    verdict = defaults.same(desired, observed)
    if verdict is True:
        return
    if pair.column.sequence is not None and defaults.is_sequence(observed):
        yield pair.alters("sequence", desired, observed, sql.words(f"SET DEFAULT {desired}"))
        return
    certain = verdict is False or not pair.live.printed
    yield pair.differs(
        "default",
        desired,
        observed,
        Change.RECREATE if certain else Change.TOLD,
        "a default can't be changed: write it as Snowflake prints it, if that means the same",
    )


def _identity(pair: Pair[Column]) -> Iterator[Deviation]:
    desired, observed = pair.column.identity, identity_in(pair.live.default)
    if desired is None:
        return
    if observed is not None and desired.order is None:
        observed = observed.model_copy(update={"order": None})
    if desired != observed:
        yield pair.differs("identity", str(desired), pair.live.default, Change.RECREATE)


def _expression(pair: Pair[Column]) -> Iterator[Deviation]:
    desired, observed = pair.column.expression, pair.live.expression
    if desired is None or (observed is not None and bodies.canonical(desired) == bodies.canonical(observed)):
        return
    uncertain = observed is not None and pair.live.printed
    yield pair.differs(
        "expression",
        desired,
        observed,
        Change.TOLD if uncertain else Change.RECREATE,
        "an expression can't be changed: write it as Snowflake prints it, if that means the same",
    )


def _collation(pair: Pair[Column]) -> Iterator[Deviation]:
    desired, observed = pair.column.collate, pair.live.type.collation or ""
    if desired is not None and desired.lower() != observed.lower():
        yield pair.differs("collate", desired, observed, Change.RECREATE)


def _nullable(pair: Pair[Column]) -> Iterator[Deviation]:
    """Last, since it may fail: rows may hold NULL. Columns of the primary key never take NULL, asked or not."""
    desired, observed = pair.column.nullable, pair.live.nullable
    if desired is None:
        if not pair.sent("nullable"):
            return
        desired = True
    if desired == observed or pair.live.key:
        return
    if not desired and pair.loads_alter and pair.sent("nullable"):
        remedy = "schema evolution lets loads take NOT NULL away: leave nullable out, or set NOT NULL yourself"
        yield pair.differs("nullable", desired, observed, Change.TOLD, remedy)
    else:
        words = sql.words("DROP NOT NULL" if desired else "SET NOT NULL")
        yield pair.alters("nullable", desired, observed, words, alone=not desired)


_ASPECTS: tuple[Callable[[Pair[Column]], Iterator[Deviation]], ...] = (
    _type, _comment, _default, _identity, _expression, _collation, governed, _nullable,
)  # fmt: skip
