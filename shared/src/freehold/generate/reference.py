"""The field reference: one Markdown page a kind, from the same declarations as everything else."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from freehold.generate.crd import NOT_SUPPORTED, definition, schema
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Change, Property
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import Resource
from freehold.kinds.resources import DECLARED
from freehold.kinds.spec_fields import properties
from freehold.recreation import FORCE_NEW_ANNOTATION


def page(resource: Resource, sample: str | None) -> str:
    """The page of a resource.

    Args:
        resource: the resource.
        sample: a manifest of it in YAML; None for resources that nobody applies.
    """
    version = definition(resource)["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    lines = [
        f"# {resource.kind}",
        "",
        " ".join(cleandoc(resource.spec.__doc__ or "").split()),
        "",
        *_facts(resource),
        "",
        *(["```yaml", sample.strip(), "```", ""] if sample else []),
        "## Spec",
        "",
        "| Field | Type | Meaning | In Snowflake | When removed |",
        "| --- | --- | --- | --- | --- |",
        *_rows(resource, spec),
        "",
    ]
    if resource.rules:
        lines += ["## Rules", "", *(f"- {rule.message}" for rule in resource.rules), ""]
    return "\n".join(lines)


def index(resources: tuple[Resource, ...]) -> str:
    """The page that lists the others."""
    rows = [
        f"| [{each.kind}]({each.kind.lower()}.md) | `{each.path.group}` | {', '.join(each.short_names)} | "
        f"{' '.join(cleandoc(each.spec.__doc__ or '').split())} |"
        for each in sorted(resources, key=lambda each: each.kind)
    ]
    return "\n".join(
        ["# Reference", "", "| Kind | Group | Short names | What it is |", "| --- | --- | --- | --- |", *rows, ""]
    )


def _facts(resource: Resource) -> Iterator[str]:
    path = resource.path
    yield f"- `apiVersion: {path.api_version}`, {'namespaced' if path.namespaced else 'cluster-scoped'}"
    if declared := DECLARED.get(resource.kind):
        yield f"- run by the {declared.domain.value} controller (`freehold-{declared.domain.value}`)"
    if kind := KINDS.get(resource.kind):
        yield f"- {_when_deleted(kind)}"


def _when_deleted(kind: Kind) -> str:
    if not kind.holds_data:
        return "holds no data: a vanished object is made again"
    return "holds data: an adopted object is dropped, and a vanished one is made again, only when the manifest says so"


def _rows(resource: Resource, spec: dict[str, Any]) -> Iterator[str]:
    """Own fields first, then those that all Snowflake kinds share; below an object its own fields."""
    kind = KINDS.get(resource.kind)
    facts = {each.name: each.facts for each in (kind.fields if kind else properties(resource.spec))}
    shared = set(schema(SnowflakeSpec)["properties"]) if kind else set()
    required = spec.get("required", ())
    for name in sorted(spec["properties"], key=lambda name: (name in shared, name not in required)):
        found = facts.get(name)
        in_snowflake = f"{_sql(found)} | {_reset(found)}" if found and found.managed else " | "
        yield from _row(name, spec["properties"][name], in_snowflake, required=name in required)


def _row(path: str, node: dict[str, Any], in_snowflake: str, *, required: bool) -> Iterator[str]:
    title = f"`{path}`" + (" (required)" if required else "")
    meaning = node.get("description", "")
    if "default" in node and not isinstance(node["default"], dict):
        meaning += f" Default: `{str(node['default']).lower() if node['type'] == 'boolean' else node['default']}`."
    yield f"| {title} | {_type(node)} | {_cell(meaning)} | {in_snowflake} |"
    if meaning.startswith(NOT_SUPPORTED):
        return
    inside, suffix = (node["items"], "[]") if node.get("type") == "array" else (node, "")
    for name, child in inside.get("properties", {}).items():
        yield from _row(f"{path}{suffix}.{name}", child, " | ", required=name in inside.get("required", ()))


def _type(node: dict[str, Any]) -> str:
    if "enum" in node:
        return " \\| ".join(f"`{value}`" for value in node["enum"])
    kind = node.get("type", "object")
    if kind == "array":
        return f"list of {_type(node['items'])}"
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None or high is not None:
        return f"{kind}, {low if low is not None else ''}…{high if high is not None else ''}"
    return str(kind)


def _sql(facts: Property) -> str:
    where = f" ({facts.source})" if facts.source else ""
    return f"`{facts.sql}`{where}" if facts.sql else facts.source


_BY_CHANGE = {Change.REDEFINE: "CREATE OR ALTER", Change.RECREATE: f"needs `{FORCE_NEW_ANNOTATION}`"}
"""How fields go back that no ALTER changes."""


def _reset(facts: Property) -> str:
    if facts.reset.keep:
        return "stays as it is"
    if facts.change in _BY_CHANGE:
        return _BY_CHANGE[facts.change]
    if facts.alter or facts.differ:
        return "own statement"
    return "UNSET" if facts.reset.value is None else f"SET to {facts.reset.value}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
