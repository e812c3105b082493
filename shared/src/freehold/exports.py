"""Fields of a status that go elsewhere: which of them are sensitive, how one is found, and how its value is written.

What is sensitive follows from the declarations of the kinds: columns of SHOW that a kind names, those of fields that
hold secrets or code, and what is remembered of secret values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from freehold import bodies
from freehold.kinds.kind import Kind

Path = tuple[str, ...]

ROOT = ".status."

_SHOW = "show."
_CODE = frozenset({bodies.expression, bodies.query, bodies.statement})
_TELLING = frozenset({
    *("action", "as", "body", "condition", "definition", "select_text", "text"),
    *("config", "email", "login_name", "notification_channel", "url"),
})  # fmt: skip
"""Columns that hold code, what people are known by, or what others trust, in whichever kind."""


def segments(path: str) -> Path:
    """The segments of a path such as `.status.showOutput.name`, below the status.

    Raises:
        ValueError: it is no path into a status.
    """
    found = tuple(path.removeprefix(ROOT).split("."))
    if not path.startswith(ROOT) or "[" in path or not all(found):
        raise ValueError(f"{path} is no path into a status: write {ROOT} and names of fields with dots between them")
    return found


def sensitive(kind: Kind, path: Path) -> str | None:
    """The sensitive field that a path is, lies in or holds, as people write it; None where there is none."""
    for each in sorted(set(_sensitive(kind))):
        common = min(len(each), len(path))
        if each[:common] == path[:common]:
            return ROOT + ".".join(each)
    return None


def value_at(status: Mapping[str, object], path: Path) -> object:
    """The value of a field; None where it is missing."""
    found: object = status
    for each in path:
        found = found.get(each) if isinstance(found, Mapping) else None
    return found


def text_of(value: object) -> str:
    """A value as text that is the same each time: strings as they are, all else as JSON with sorted keys."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _sensitive(kind: Kind) -> Iterator[Path]:
    yield from (("showOutput", column) for column in kind.sensitive)
    # What another cloud has to trust.
    yield from (("outputs", name) for name in kind.outputs)
    for each in kind.fields:
        facts, column = each.facts, each.facts.source.removeprefix(_SHOW)
        shown = facts.source.startswith(_SHOW)
        if shown and (facts.secret or facts.check in _CODE or column in _TELLING):
            yield ("showOutput", column)
        if facts.secret:
            # Hashes that short, or of that little, can be guessed.
            yield from (("trackedParameters", each.name), ("parameters", each.name), ("lastAppliedSpecHash",))
