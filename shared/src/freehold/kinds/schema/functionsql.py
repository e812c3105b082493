"""Functions whose source is SQL."""

from __future__ import annotations

from collections.abc import Iterator

from freehold.kinds import routines, sources
from freehold.kinds.fields import keyword, unsupported
from freehold.kinds.observers import column
from freehold.kinds.property import Place
from freehold.kinds.resource import Rule


class FunctionSQLSpec(routines.FunctionSpec):
    """A function whose source is an expression or a query."""

    null_input_behavior: routines.Nulls | None = unsupported(
        "a SQL function is always called, also when an argument is NULL: leave the field out"
    )
    """Whether it is called when an argument is NULL."""
    memoizable: bool | None = keyword(
        "MEMOIZABLE", place=Place.PROPERTIES, observe=column("is_memoizable"), source="show.is_memoizable"
    )
    """Whether results are remembered for equal arguments."""
    comment: str | None = routines.comment("user-defined function")
    """A note for people."""
    body: str = sources.body()
    """The expression, or the query; of a function that returns a table always a query."""


def _faults(spec: FunctionSQLSpec) -> Iterator[str]:
    yield from routines.faults(spec)
    if spec.memoizable and routines.returns_table(spec):
        yield "spec.memoizable: the results of a function that returns a table can't be remembered: leave it out"
    words = spec.body.split(maxsplit=1)
    if words and words[0].upper() not in ("BEGIN", "DECLARE") and spec.body.rstrip().endswith(";"):
        yield "spec.body: it is one expression or one query: leave out the semicolon at its end"


FUNCTION_SQL = routines.routine(
    FunctionSQLSpec,
    "FUNCTION",
    "SQL",
    words="",
    short_name="fsql",
    faults=lambda spec: tuple(_faults(spec)),
    rules=(
        Rule(
            "!has(self.memoizable) || !self.memoizable || !has(self.volatility) || self.volatility == 'IMMUTABLE'",
            "the results of a VOLATILE function can't be remembered: set volatility to IMMUTABLE or leave it out",
            "memoizable",
        ),
    ),
)
