"""The field reference: one Markdown page a kind, from the same declarations as everything else."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from freehold.generate.crd import schema
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.fields import Change, Property, properties
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS, refusal
from freehold.kinds.resource import Resource


def page(resource: Resource, sample: str | None) -> str:
    """The page of a resource.

    Args:
        resource: the resource.
        sample: a manifest of it in YAML; None for resources that nobody applies.
    """
    spec = schema(resource.spec)
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
    kind = KINDS.get(resource.kind)
    if kind is not None:
        yield f"- run by the {kind.domain.value} controller (`freehold-{kind.domain.value}`)"
        yield f"- {_when_deleted(kind)}"


def _when_deleted(kind: Kind) -> str:
    if not kind.holds_data:
        return "holds no data: a vanished object is made again"
    return "holds data: an adopted object is dropped, and a vanished one is made again, only when the manifest says so"


def _rows(resource: Resource, spec: dict[str, Any]) -> Iterator[str]:
    """Own fields first, then those that all Snowflake kinds share."""
    facts = {each.name: each for each in properties(resource.spec)}
    shared = set(schema(SnowflakeSpec)["properties"]) if resource.kind in KINDS else set()
    required = spec.get("required", ())
    names = sorted(spec["properties"], key=lambda name: (name in shared, name not in required))
    for name in names:
        node = spec["properties"][name]
        field = facts.get(name)
        meaning = _cell(node.get("description", ""))
        if field and (reason := refusal(field)):
            meaning = f"*Not supported: {_cell(reason)}.* {meaning}"
        if field and field.facts.change is not Change.ALTER:
            meaning += " Can't be changed."
        sql_name, reset = (_sql(field.facts), _reset(field.facts)) if field and field.facts.managed else ("", "")
        title = f"`{name}`" + (" (required)" if name in required else "")
        yield f"| {title} | {_type(node)} | {meaning} | {sql_name} | {reset} |"


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


def _reset(facts: Property) -> str:
    if facts.alter:
        return "own statement"
    if facts.reset.keep:
        return "stays as it is"
    return "UNSET" if facts.reset.value is None else f"SET to {facts.reset.value}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
