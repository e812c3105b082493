"""What Snowflake documents of tables and views beyond what is covered here: refused by its name, not as unknown."""

from freehold_devstack.snowflake.grammar import Action, Part, uncovered
from freehold_devstack.snowflake.parser import phrases

_PROPERTIES = phrases("ERROR_LOGGING, ICEBERG_DEFAULT_DDL_COLLATION, ROW_TIMESTAMP")

_ACTIONS = (
    *(f"{verb} {what}" for verb in ("SET", "UNSET") for what in ("CONTACT", "DATA_METRIC_SCHEDULE")),
    *(f"{verb} DATA METRIC FUNCTION" for verb in ("ADD", "DROP", "MODIFY")),
    "UNSET DCM PROJECT",
)
_TABLE_ACTIONS = (
    *_ACTIONS,
    *(f"{verb} {name}" for verb in ("SET", "UNSET") for name in _PROPERTIES),
    "RECLUSTER",
)


def _clauses(*words: str) -> tuple[Part, ...]:
    return tuple(Part(each, uncovered(each)) for each in words)


_CLAUSES = _clauses("COPY TAGS", "WITH CONTACT", "WITH DATA METRIC FUNCTION")

VIEW_CLAUSES = _CLAUSES
"""Of CREATE VIEW."""

TABLE_CLAUSES = (*_CLAUSES, *_clauses(*_PROPERTIES))
"""Of CREATE TABLE."""

TABLE_ACTIONS = tuple(Action(words, uncovered(f"ALTER TABLE {words}")) for words in _TABLE_ACTIONS)
"""Of ALTER TABLE."""

VIEW_ACTIONS = tuple(Action(words, uncovered(f"ALTER VIEW {words}")) for words in _ACTIONS)
"""Of ALTER VIEW."""
