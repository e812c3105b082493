"""What people have written into each field: values from the samples and the recorded cases of every kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from tests.properties import texts
from tests.properties.schemas import Node

_ROOT = Path(__file__).parents[2]


@cache
def _written(kind: str) -> Mapping[str, list[Any]]:
    """The values in each place of a kind's specs."""
    found: dict[str, list[Any]] = {}
    for path, value in (place for spec in _specs(kind) for place in _places("", spec)):
        values = found.setdefault(path, [])
        if value not in values:
            values.append(value)
    return found


def _specs(kind: str) -> Iterator[Mapping[str, Any]]:
    for document in _read(f"docs/samples/{kind.lower()}.yaml"):
        if document["kind"] == kind:
            yield document["spec"]
    for case in chain(*_read(f"tests/unit/kinds/cases/{kind.lower()}.yaml")):
        yield from (case[key] for key in ("spec", "old") if key in case)


def _read(path: str) -> Iterator[Any]:
    with (_ROOT / path).open() as file:
        yield from yaml.load_all(file, yaml.CSafeLoader)


def _places(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if path:
        yield path, value
    for name, each in value.items() if isinstance(value, Mapping) else ():
        yield from _places(f"{path}.{name}".lstrip("."), each)
    for each in value if isinstance(value, list) else ():
        yield from _places(path, each)


class Corpus:
    """What fits into the places of one kind's specs.

    Args:
        kind: its name.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._known: dict[str, tuple[str, ...]] = {}

    def texts(self, node: Node) -> tuple[str, ...]:
        """Texts that a place with a grammar of its own takes."""
        if node.path not in self._known:
            of_check = texts.written(node.check) if node.check else ()
            # SQL that people wrote elsewhere names what isn't there.
            ours = _written(self._kind).get(node.path, ()) if not node.check or not texts.is_sql(node.check) else ()
            found = [*(each for each in ours if isinstance(each, str)), *of_check]
            self._known[node.path] = tuple(each for each in dict.fromkeys(found) if _fits(node, each))
        return self._known[node.path]

    def maps(self, node: Node) -> tuple[Mapping[str, Any], ...]:
        """Maps that were written there."""
        return tuple(each for each in _written(self._kind).get(node.path, ()) if isinstance(each, Mapping))


def _fits(node: Node, text: str) -> bool:
    schema = node.schema
    if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)):
        return False
    if "pattern" in schema and not re.search(schema["pattern"], text):
        return False
    try:
        if node.check:
            node.check(text)
    except ValueError:
        return False
    return True
