"""What may stand in each place of a spec: the CRD's schema and CEL rules, and the checks of the declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from cel_expr_python import cel

from freehold.generate.crd import definition
from freehold.kinds.common import Reference, SnowflakeSpec
from freehold.kinds.model import Model, model_in
from freehold.kinds.registry import KINDS
from freehold.kinds.spec_fields import properties

_ENVIRONMENT = cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})
_FIELD = re.compile(r"\bself\.(\w+)")
_REFUSAL = re.compile(r"!has\(self\.(\w+)\)")
COMMON = frozenset(info.alias or name for name, info in SnowflakeSpec.model_fields.items())
"""Fields that say nothing of an object."""


@dataclass(frozen=True)
class Law:
    """A CEL rule of an object.

    Attributes:
        text: the expression.
        fields: of the object that it looks at.
    """

    text: str
    program: cel.Expression = field(repr=False, compare=False)
    fields: tuple[str, ...]

    @property
    def of_changes(self) -> bool:
        """Whether it speaks of an earlier value."""
        return "oldSelf" in self.text

    def holds(self, value: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> bool:
        """Whether it lets an object pass, or a change of it; as for the API server, what can't be told doesn't pass."""
        if self.of_changes and before is None:
            return True
        bindings = {"self": self._seen(value), "oldSelf": self._seen(before or {})}
        return self.program.eval(data=bindings).value() is True

    def _seen(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value[name] for name in self.fields if name in value}


@dataclass(frozen=True)
class Node:
    """A place of a spec.

    Attributes:
        path: its field names with dots between, items of a list not counted.
        schema: of its value.
        check: of the declaration, for a text with a grammar of its own.
        fields: of an object.
        item: of a list.
        laws: of an object.
        plain: whether its texts never stand in a statement, such as the names of resources.
    """

    path: str
    schema: Mapping[str, Any]
    check: Callable[[Any], object] | None = None
    fields: Mapping[str, Node] = field(default_factory=dict)
    item: Node | None = None
    laws: tuple[Law, ...] = ()
    plain: bool = False

    @cached_property
    def laws_of(self) -> Mapping[str, tuple[Law, ...]]:
        """The laws that look at a field."""
        return {name: tuple(law for law in self.laws if name in law.fields) for name in self.fields}

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.schema.get("required", ()))


@cache
def spec_node(name: str) -> Node:
    """The spec of a kind, but for what it has in common with all."""
    kind = KINDS[name]
    (version,) = definition(kind.resource)["spec"]["versions"]
    return _node("", version["schema"]["openAPIV3Schema"]["properties"]["spec"], kind.spec, None)


def _node(
    path: str, schema: Mapping[str, Any], model: type[Model] | None, check: Callable[[Any], object] | None
) -> Node:
    if "items" in schema:
        return Node(path, schema, check, item=_node(path, schema["items"], model, check))
    if "properties" not in schema or model is None:
        return Node(path, schema, check, plain=model is Reference)
    texts = [each["rule"] for each in schema.get("x-kubernetes-validations", ())]
    refused = {match[1] for text in texts if (match := _REFUSAL.fullmatch(text))}
    checks = {each.attribute: each.facts.check for each in properties(model)}
    fields = {}
    for attribute, info in model.model_fields.items():
        name = info.alias or attribute
        if name in refused or (not path and name in COMMON):
            continue
        place = f"{path}.{name}".lstrip(".")
        inner = model_in(info.annotation) or (model if model is Reference else None)
        fields[name] = _node(place, schema["properties"][name], inner, checks.get(attribute))
    laws = (_law(text) for text in dict.fromkeys(texts) if not _REFUSAL.fullmatch(text))
    return Node(path, schema, check, fields, None, tuple(law for law in laws if law.fields))


@cache
def _law(text: str) -> Law:
    return Law(text, _ENVIRONMENT.compile(text), tuple(dict.fromkeys(_FIELD.findall(text))))
