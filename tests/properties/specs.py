"""Specs at random that the API server and admission let pass, derived from the declaration of their kind.

Each free text is drawn twice: a tame one, by which it is found again in a statement, and a hostile one in its place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change
from freehold.kinds.registry import KINDS
from freehold.kinds.spec_fields import properties
from freehold.validation import faults
from tests.properties.corpus import Corpus
from tests.properties.schemas import Law, Node, spec_node
from tests.properties.texts import LONGEST_NAME, hostile

MARK = "QX"
"""What every tame text begins with."""
NAME = r"^[^\x00]+$"
_RESOURCES = ("a", "b", "c")
_ATTEMPTS = 12
_REPAIRS = 40
_FAULTY = re.compile(r"spec\.(\w+)")


class NoSuch(Exception):
    """Nothing was found that fits into a place."""


@dataclass(frozen=True)
class Draft:
    """A spec with tame and with hostile texts.

    Attributes:
        kind: its kind.
        tree: the spec as a manifest has it, with tame texts.
        texts: the hostile text for each tame one.
    """

    kind: Kind
    tree: Mapping[str, Any]
    texts: Mapping[str, str]

    @property
    def tame(self) -> SnowflakeSpec:
        return self.kind.spec.model_validate(self.tree)

    @property
    def hostile(self) -> SnowflakeSpec:
        return self.kind.spec.model_validate(self._replaced(self.tree))

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.texts.get(value, value)
        if isinstance(value, list):
            return [self._replaced(each) for each in value]
        return {name: self._replaced(each) for name, each in value.items()} if isinstance(value, Mapping) else value


_corpus = cache(Corpus)


@cache
def _mutable(kind: str) -> tuple[str, ...]:
    """Fields that may change while the object stays what it is."""
    fixed = {each.name for each in properties(KINDS[kind].spec) if each.facts.change is Change.IDENTITY}
    return tuple(name for name in spec_node(kind).fields if name not in fixed)


class Maker:
    """Makes specs of one kind.

    Args:
        kind: the kind.
        rng: chooses.
        mark: what its tame texts begin with.
    """

    def __init__(self, kind: Kind, rng: random.Random, mark: str = f"{MARK}A") -> None:
        self._mark = mark
        self._kind, self._rng, self._root = kind, rng, spec_node(kind.name)
        self._texts: dict[str, str] = {}
        self._names: list[str] = []

    def spec(self) -> Draft:
        """A spec.

        Raises:
            NoSuch: none was found.
        """
        for _ in range(_ATTEMPTS):
            try:
                tree = self._object(self._root)
            except NoSuch:
                continue
            if draft := self._sound(tree):
                return draft
        raise NoSuch(self._kind.name)

    def changed(self, draft: Draft) -> Draft:
        """The same object with other values in some of its fields.

        Raises:
            NoSuch: none was found.
        """
        for _ in range(_ATTEMPTS):
            tree = dict(draft.tree)
            for name in _mutable(self._kind.name):
                if self._rng.random() < 0.4:
                    self._change(self._root, tree, name, draft.tree)
            if changed := self._sound(tree, draft.tree):
                return changed
        raise NoSuch(self._kind.name)

    def _sound(self, tree: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Draft | None:
        """A draft in which nobody finds a fault, made of a tree by leaving out what is faulty."""
        tree = dict(tree)
        for _ in range(_ATTEMPTS):
            draft = Draft(self._kind, tree, dict(self._texts))
            try:
                found = [*faults(self._kind, draft.tame), *faults(self._kind, draft.hostile)]
            except ValidationError:
                return None
            if not found:
                return draft if all(law.holds(tree, before) for law in self._root.laws) else None
            names = {match[1] for each in found if (match := _FAULTY.match(each))}
            for name in names:
                if before is None and name not in self._root.required and self._rng.random() < 0.7:
                    tree.pop(name, None)
                elif name in self._root.fields and (before is None or name in _mutable(self._kind.name)):
                    self._change(self._root, tree, name, before)
        return None

    def _object(self, node: Node) -> dict[str, Any]:
        state: dict[str, Any] = {}
        optional = [name for name in node.fields if name not in node.required]
        self._rng.shuffle(optional)
        for name in node.required:
            state[name] = self._value(node.fields[name])
        share = self._rng.choice((0.05, 0.2, 0.5, 0.9))
        for name in optional:
            default = node.fields[name].schema.get("default")
            if default is not None:
                state[name] = default
            if self._rng.random() < share:
                self._change(node, state, name, None)
        return self._repaired(node, state)

    def _repaired(self, node: Node, state: dict[str, Any]) -> dict[str, Any]:
        for _ in range(_REPAIRS):
            broken = [law for law in node.laws if not law.holds(state)]
            if not broken:
                return state
            self._change(node, state, self._rng.choice(self._rng.choice(broken).fields), None)
        raise NoSuch(node.path)

    def _change(self, node: Node, state: dict[str, Any], name: str, before: Mapping[str, Any] | None) -> None:
        """Give a field another value, or none, unless that breaks more laws than it keeps."""
        if name not in node.fields:
            return
        laws = node.laws_of[name]
        was, had = _broken(laws, state, before), dict(state)
        if name in state and name not in node.required and self._rng.random() < 0.5:
            del state[name]
            if (default := node.fields[name].schema.get("default")) is not None:
                state[name] = default
        else:
            try:
                state[name] = self._value(node.fields[name])
            except NoSuch:
                return
        if _broken(laws, state, before) > was:
            state.clear()
            state.update(had)

    # --- values

    def _value(self, node: Node) -> Any:
        schema, rng = node.schema, self._rng
        if "enum" in schema:
            return rng.choice(schema["enum"])
        match schema.get("type"):
            case "object" if node.fields:
                return self._object(node)
            case "object":
                return self._one_of(node, _corpus(self._kind.name).maps(node))
            case "array":
                return self._list(node)
            case "boolean":
                return rng.random() < 0.5
            case "integer":
                low, high = schema.get("minimum", -3), schema.get("maximum", 2**31)
                return rng.choice((low, high, min(low + 1, high), rng.randint(low, high)))
            case "string":
                return self._text(node)
        raise TypeError(f"no values are known for {node.path}: {schema}")

    def _list(self, node: Node) -> list[Any]:
        assert node.item is not None
        least, most = node.schema.get("minItems", 0), node.schema.get("maxItems", 4)
        found: list[Any] = []
        keys = node.schema.get("x-kubernetes-list-map-keys", ())
        alone = bool(keys) or node.schema.get("x-kubernetes-list-type") == "set"
        for _ in range(min(max(least, self._rng.choice((0, 1, 1, 2, 3))), most)):
            each = self._value(node.item)
            if not alone or _key(each, keys) not in [_key(other, keys) for other in found]:
                found.append(each)
        if len(found) < least:
            raise NoSuch(node.path)
        return found

    def _text(self, node: Node) -> str:
        if node.plain:
            return self._rng.choice(_RESOURCES)
        if node.check or node.schema.get("pattern", NAME) != NAME:
            return str(self._one_of(node, _corpus(self._kind.name).texts(node)))
        is_name = "pattern" in node.schema
        if is_name and self._names and self._rng.random() < 0.4:
            return self._rng.choice(self._names)
        shortest, longest = node.schema.get("minLength", 0), node.schema.get("maxLength", 4096)
        if not shortest and self._rng.random() < 0.1:
            return ""
        tame = f"{self._mark}{len(self._texts):04}Z".ljust(shortest, "Z")
        self._texts[tame] = hostile(self._rng, longest=min(longest, LONGEST_NAME), shortest=shortest)
        if is_name:
            self._names.append(tame)
        return tame

    def _one_of(self, node: Node, values: Iterable[Any]) -> Any:
        found = tuple(values)
        if not found:
            raise NoSuch(node.path)
        return self._rng.choice(found)


def _key(item: Any, keys: Iterable[str]) -> Any:
    return tuple(item.get(key) for key in keys) if keys else item


def _broken(laws: Iterable[Law], state: Mapping[str, Any], before: Mapping[str, Any] | None) -> int:
    return sum(not law.holds(state, before) for law in laws)
