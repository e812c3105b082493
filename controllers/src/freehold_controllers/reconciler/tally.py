"""How many resources there are, by kind and by what their condition Ready says: what alerts ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from freehold.kube.objects import Object
from freehold.lifecycle.reasons import Reason
from freehold.metrics import LiveGauge
from freehold_controllers.reconciler.status import READY

_RESOURCES = LiveGauge(
    "freehold_resources",
    "Resources by kind, and by status and reason of their condition Ready (empty: not reconciled yet).",
    ["kind", "ready", "reason"],
)

_REASONS = frozenset(Reason)

_Series = tuple[str, str, str]
"""Kind, and the condition's status and reason."""


class Tally:
    """A live count."""

    def __init__(self) -> None:
        self._counts: Counter[_Series] = Counter()
        _RESOURCES.read_from(self._counts.items)

    def note(self, before: Object | None, after: Object | None) -> None:
        """Take a change of a resource in."""
        if before is not None:
            series = _series(before)
            self._counts[series] -= 1
            if not self._counts[series]:
                del self._counts[series]
        if after is not None:
            self._counts[_series(after)] += 1


def _series(resource: Object) -> _Series:
    # Read as it is: this is done for every change of everything.
    conditions = resource.status.get("conditions") or ()
    ready: Mapping[str, str] = next((each for each in conditions if each["type"] == READY), {})
    # A reason that isn't ours, somebody else has written: there may be any number of them.
    if ready.get("reason") not in _REASONS:
        return resource.kind, "", ""
    return resource.kind, ready["status"], ready["reason"]
