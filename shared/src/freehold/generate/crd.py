"""CustomResourceDefinitions from the declarations: structural schema, CEL rules, printer columns, names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from typing import Any

from freehold.kinds.model import Model, model_in
from freehold.kinds.property import Change
from freehold.kinds.registry import refusal
from freehold.kinds.resource import Resource, Rule
from freehold.kinds.spec_fields import properties
from freehold.recreation import FORCE_NEW_ANNOTATION

_DROPPED = frozenset({"title", "additionalProperties", "$defs", "discriminator"})
"""Keywords of JSON schema that a structural schema has no place for. Unknown fields are refused by the API server."""

_ANEW = f"the annotation {FORCE_NEW_ANNOTATION}: the object is dropped and created again."
_CHANGED = {Change.IDENTITY: "Can't be changed.", Change.RECREATE: f"A change needs {_ANEW}"}
"""What people are told of the change of a field that no statement makes."""
_SOMETIMES = f"Some changes need {_ANEW}"

NOT_SUPPORTED = "Not supported"
"""How the description of a field begins that this release refuses."""

UNOBSERVED = -1
"""status.observedGeneration of an object that no controller has looked at yet. Without it, whoever goes by kstatus
takes an object that has no conditions for one that is ready."""


def definition(resource: Resource) -> dict[str, Any]:
    """The CustomResourceDefinition of a resource, as plain data."""
    path = resource.path
    top: dict[str, Any] = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": _spec(resource),
    }
    version: dict[str, Any] = {
        "name": path.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            {"name": c.name, "jsonPath": c.path, "type": c.type} | ({"priority": c.priority} if c.priority else {})
            for c in resource.columns
        ],
    }
    if resource.status is not None:
        top["status"] = {**schema(resource.status), "default": {"observedGeneration": UNOBSERVED}}
        version["subresources"] = {"status": {}}
    description = cleandoc(resource.spec.__doc__ or "")
    root: dict[str, Any] = {"type": "object", "description": description, "required": ["spec"], "properties": top}
    _enforce(root, resource.name_rules)
    version["schema"] = {"openAPIV3Schema": root}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": path.definition},
        "spec": {
            "group": path.group,
            "scope": "Namespaced" if path.namespaced else "Cluster",
            "names": {
                "kind": path.kind,
                "listKind": f"{path.kind}List",
                "plural": path.plural,
                "singular": path.kind.lower(),
                "shortNames": list(resource.short_names),
                "categories": list(resource.categories),
            },
            "versions": [version],
        },
    }


def _spec(resource: Resource) -> dict[str, Any]:
    """The schema of the spec with its rules: those declared, and those that follow from the fields."""
    spec = schema(resource.spec)
    _enforce(spec, [*resource.rules, *_rules(resource.spec, spec)])
    return spec


def _rules(model: type[Model], schema_: dict[str, Any]) -> Iterator[Rule]:
    """The rules that follow from the fields of a model. Its schema is completed by what holds of single fields, and of
    models inside."""
    for attribute, info in model.model_fields.items():
        if inner := model_in(info.annotation):
            node = schema_["properties"][info.alias or attribute]
            node = node.get("items", node)
            _enforce(node, _rules(inner, node))
    for each in properties(model):
        node = schema_["properties"][each.name]
        if reason := refusal(each):
            node["description"] = f"{NOT_SUPPORTED}: {reason}. {node['description']}"
            yield Rule(f"!has(self.{each.name})", f"NotSupported: {reason}", each.name)
            continue
        if each.facts.change in _CHANGED:
            node["description"] += f" {_CHANGED[each.facts.change]}"
        elif each.facts.recreate_when is not None:
            node["description"] += f" {_SOMETIMES}"
        if each.facts.change is Change.IDENTITY:
            _enforce(node, [Rule("self == oldSelf", f"{each.name} can't be changed: {_REMEDY}")])
            if each.name not in schema_.get("required", ()):
                yield Rule(
                    f"has(self.{each.name}) == has(oldSelf.{each.name})",
                    f"{each.name} can't be added or removed: {_REMEDY}",
                    each.name,
                )


def _enforce(node: dict[str, Any], rules: Iterable[Rule]) -> None:
    """Add rules to a node of a schema."""
    if added := [rule.validation for rule in rules]:
        node["x-kubernetes-validations"] = [*node.get("x-kubernetes-validations", ()), *added]


_REMEDY = "it is part of what the object is; make another resource, and delete this one when it isn't needed"


def schema(model: type[Model]) -> dict[str, Any]:
    """The structural schema of a model."""
    generated = model.model_json_schema(by_alias=True)
    return _structural(generated, generated.get("$defs", {}))


def _structural(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """One node of a JSON schema, with references resolved and null taken out: absence is Kubernetes' null."""
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[1]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    if "anyOf" in node:
        (only,) = (each for each in node["anyOf"] if each.get("type") != "null")
        return _structural({**only, **{key: value for key, value in node.items() if key != "anyOf"}}, definitions)
    if "const" in node:
        node = {**{key: value for key, value in node.items() if key != "const"}, "enum": [node["const"]]}
    result = {key: value for key, value in node.items() if key not in _DROPPED}
    if isinstance(node.get("additionalProperties"), Mapping):
        result["additionalProperties"] = _structural(node["additionalProperties"], definitions)
    if "properties" in node:
        result["properties"] = {name: _structural(each, definitions) for name, each in node["properties"].items()}
    if "items" in node:
        result["items"] = _structural(node["items"], definitions)
    if result.get("type") == "integer":
        result["format"] = "int64"
    if "description" in result:
        result["description"] = " ".join(result["description"].split())
    if "default" in result and (default := _without_null(result.pop("default"))) is not None:
        result["default"] = default
    return result


def _without_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: kept for key, each in value.items() if (kept := _without_null(each)) is not None}
    return value
