"""The SQL of manifests, without a cluster or an account."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from freehold import planning
from freehold.cli import console
from freehold.cli.manifests import FaultyManifest, faults, namespace_of, reasons
from freehold.identifiers import InvalidName
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.names import Requested
from freehold.kinds.references import references_of, with_names
from freehold.kinds.registry import KINDS
from freehold.sql import Sql

T = TypeVar("T")


def show(manifests: Sequence[Mapping[str, Any]]) -> bool:
    """Print the statements that would create the objects of manifests if none existed yet.

    Rules that span fields, and whether a name is taken, only the API server knows: kubectl apply --dry-run=server.

    Returns:
        Whether no statement can be made of one of them.
    """
    by_key = {(each["kind"], namespace_of(each), each["metadata"]["name"]): each for each in manifests}
    failed = False
    for manifest in manifests:
        title = f"{manifest['kind']} {namespace_of(manifest)}/{manifest['metadata']['name']}"
        console.out.print(f"-- {title}", style="dim", markup=False)
        try:
            statements, warnings = _creation(KINDS[manifest["kind"]], manifest, by_key)
        except (FaultyManifest, InvalidName, LookupError, ValidationError) as error:
            failed = True
            for line in reasons(error):
                console.error(f"{title}: {line}")
            continue
        for statement in statements:
            console.out.print(f"{statement};", markup=False)
        for warning in warnings:
            console.warning(f"{title}: {warning}")
    return failed


def _creation(
    kind: Kind, manifest: Mapping[str, Any], manifests: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> tuple[tuple[Sql, ...], tuple[str, ...]]:
    """What would be sent to create a manifest's object, and what is likely wrong with it."""
    spec = kind.spec.model_validate(manifest.get("spec", {}))
    if wrong := faults(kind, spec):
        raise FaultyManifest(wrong)
    namespace = namespace_of(manifest)
    references = {
        each.field: _computed(KINDS[each.kind].parts(_spec(each, manifests), each.namespace, KINDS), manifests)
        for each in references_of(spec, namespace)
    }
    named = with_names(spec, references)
    statements: list[Sql] = []
    for name in _computed(kind.names(spec, namespace, KINDS), manifests):
        target = kind.target_of(name)
        steps = kind.after_create(target, named) if kind.after_create else ()
        statements += (planning.create(kind, target, named), *(step.statement for step in steps))
    return tuple(statements), planning.advice(kind, spec)


def _computed(
    computation: Generator[Requested, SnowflakeSpec, T], manifests: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> T:
    """What is computed from names, with what is referred to looked up among the manifests given."""
    try:
        asked = next(computation)
        while True:
            asked = computation.send(_spec(asked, manifests))
    except StopIteration as done:
        computed: T = done.value
        return computed


def _spec(asked: Requested, manifests: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> SnowflakeSpec:
    found = manifests.get((asked.kind, asked.namespace, asked.name))
    if found is None:
        where = f"{asked.kind} {asked.namespace}/{asked.name}"
        raise LookupError(f"spec.{asked.field} names {where}, which no file holds: give its file, too")
    return KINDS[asked.kind].spec.model_validate(found["spec"])
