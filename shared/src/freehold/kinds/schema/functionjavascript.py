"""Functions whose source is JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

from freehold.kinds import routines, sources


class FunctionJavascriptSpec(routines.FunctionSpec):
    """A function whose source is JavaScript."""

    comment: str | None = routines.comment("user-defined function")
    """A note for people."""
    body: str = sources.body()
    """The source, which sees each argument by its exact name: X of an argument X."""


_REFUSED = frozenset({"NUMBER", "TIME", "DECFLOAT"})


def _faults(spec: FunctionJavascriptSpec) -> Iterator[str]:
    yield from routines.faults(spec)
    yield from routines.refused_types(spec, "JavaScript", _REFUSED, "use FLOAT for numbers, VARCHAR for times")


FUNCTION_JAVASCRIPT = routines.routine(
    FunctionJavascriptSpec,
    "FUNCTION",
    "JAVASCRIPT",
    words="LANGUAGE JAVASCRIPT",
    short_name="fjs",
    faults=lambda spec: tuple(_faults(spec)),
)
