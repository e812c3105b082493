"""The SQL of manifests, without a cluster or an account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from freehold import planning
from freehold.cli import console
from freehold.cli.manifests import FaultyManifest, faults, namespace_of, reasons
from freehold.identifiers import InvalidName
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.sql import Sql


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
    target = kind.target(_parts(kind, spec, namespace_of(manifest), manifests))
    steps = kind.after_create(target, spec) if kind.after_create else ()
    return (planning.create(kind, target, spec), *(step.statement for step in steps)), planning.advice(kind, spec)


def _parts(
    kind: Kind, spec: SnowflakeSpec, namespace: str, manifests: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> tuple[str, ...]:
    """Name parts, with parents looked up among the manifests given."""
    computation = kind.parts(spec, namespace, KINDS)
    try:
        asked = next(computation)
        while True:
            found = manifests.get((asked.kind, asked.namespace, asked.name))
            if found is None:
                where = f"{asked.kind} {asked.namespace}/{asked.name}"
                raise LookupError(f"spec.{asked.field} names {where}, which no file holds: give its file, too")
            asked = computation.send(KINDS[asked.kind].spec.model_validate(found["spec"]))
    except StopIteration as done:
        parts: tuple[str, ...] = done.value
        return parts
