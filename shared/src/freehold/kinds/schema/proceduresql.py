"""Procedures whose source is SQL."""

from __future__ import annotations

from typing import Literal

from freehold.kinds import routines, sources


class ProcedureSQLSpec(routines.ProcedureSpec):
    """A procedure whose source is a block of Snowflake Scripting."""

    comment: str | None = routines.comment("user-defined procedure")
    """A note for people."""
    execute_as: routines.Rights | None = routines.execute_as()
    """With whose rights it runs: the owner's by default, or those of whoever calls it."""
    auto_event_logging: Literal["LOGGING", "TRACING", "ALL", "OFF"] | None = routines.level("AUTO_EVENT_LOGGING")
    """What is logged of each statement in it."""
    body: str = sources.body()
    """The block, from BEGIN or DECLARE to END. Names in it without quotes are folded to upper case."""


PROCEDURE_SQL = routines.routine(
    ProcedureSQLSpec,
    "PROCEDURE",
    "SQL",
    words="LANGUAGE SQL",
    short_name="psql",
    faults=lambda spec: tuple(routines.faults(spec)),
)
