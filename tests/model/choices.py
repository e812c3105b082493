"""What the machine chooses from: manifests, annotations, what strangers do, and what goes wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.model.strangers import DEEDS, REPLACEMENTS
from tests.model.trouble import What

PLACES = {"a": ("n", "a"), "b": ("n", "b"), "c": ("m", "c")}

ID = {"name": "ID", "type": "NUMBER(38,0)"}
NOTE = {"name": "NOTE", "type": "VARCHAR(10)"}
COLUMNS: tuple[list[dict[str, str]], ...] = (
    [ID],
    [ID, NOTE],
    [ID, {**NOTE, "type": "VARCHAR(20)"}],
    [ID, {"name": "TEXT", "type": "VARCHAR(20)", "previousName": "NOTE"}],
)
FIELDS: dict[str, tuple[Any, ...]] = {
    "comment": (None, "a", "b"),
    "transient": (None, True, False),
    "columns": COLUMNS,
    "droppedColumns": (None, ["NOTE"], ["NOTE", "THEIRS"]),
    "deletionPolicy": (None, "Delete", "Orphan"),
    "vanishedPolicy": (None, "Stop", "Recreate"),
    "paused": (None, True),
    "adoptionPolicy": (None, "adopt"),
    "driftPolicy": (None, "detect-only"),
    "observeOnly": (None, True),
    "createOrAlter": (None, True),
}
ALONE = {
    "transient": frozenset({"Database", "Schema", "Table"}),
    "columns": frozenset({"Table"}),
    "droppedColumns": frozenset({"Table"}),
}
"""Fields that not every kind has."""
POLICIES = frozenset({"adoptionPolicy", "driftPolicy", "observeOnly", "createOrAlter"})
THIS = "the spec as it is"
ANNOTATIONS = {
    "abandon-on-delete": (None, "true"),
    "force-destroy": (None, "true"),
    "reconcile-now": (None, "1", "2"),
    "hand-over-to": (None, "m/c", "n/b"),
    "force-new": (None, THIS),
}

EVENTS: tuple[str | int, ...] = ("arrive", "sweep", "restart", 1, 60, 100, 3600)
"""What happens by itself: statements under way arrive, idle claims are swept, another process begins, seconds pass."""

ups = st.sampled_from((0, 0, 0, 1, 1, 2))
"""How far above the innermost kind of the family."""
places = st.sampled_from(("a", "a", "a", "b", "c"))
names = st.sampled_from(("W", "W", "W", "V"))


def _values_of(*names: str) -> st.SearchStrategy[tuple[str, Any]]:
    return st.sampled_from([(name, value) for name in names for value in FIELDS[name]])


fields = st.one_of(_values_of("comment"), _values_of("comment", "columns"), _values_of(*FIELDS))
specs = st.lists(fields, max_size=3, unique_by=lambda each: each[0]).map(dict)
deletions = st.sampled_from(({}, {}, {}, {"default": "Orphan"}, {"maxPerHour": 1}))
rarely = st.sampled_from((False, False, False, False, True))
"""What keeps everything else from happening."""
notes = st.sampled_from([(name, value) for name, values in ANNOTATIONS.items() for value in values])
strangers = st.sampled_from(tuple(DEEDS))
requests = st.one_of(st.integers(-4, -1), st.integers(1, 12))
moments = st.one_of(st.just(-1), st.integers(-4, -1), st.integers(3, 9))
"""Of a pass, in which it has looked and not yet acted."""
replacements = st.sampled_from(REPLACEMENTS)
faults = st.one_of(
    st.tuples(requests, st.sampled_from([each.value for each in What]), strangers),
    st.tuples(moments, st.just(What.STRANGER.value), replacements),
)
troubles = st.lists(faults, min_size=1, max_size=2).map(tuple)

Then = bool | tuple[tuple[int, str, str], ...]
"""What the process does after a step: nothing, a resync of every resource, or a pass over the one at hand in which
something goes wrong: at which of its requests (`Fault.at`), how, and what a stranger does then if it is that."""

TAKEN = ("creates", "creates in our role")

thens = st.one_of(st.booleans(), troubles, troubles)
begins = st.one_of(st.just(True), troubles)
