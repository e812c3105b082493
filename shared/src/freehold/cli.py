"""The `freehold` command line: what people can ask without a cluster or an account."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from freehold import planning
from freehold.identifiers import InvalidName
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS, refused
from freehold.sql import Sql

app = typer.Typer(help="Freehold: Snowflake and PostgreSQL as Kubernetes resources.", no_args_is_help=True)
out = Console()
err = Console(stderr=True)


@app.command()
def kinds() -> None:
    """List the kinds: what they are called, what contains them, who runs them."""
    table = Table(box=None, header_style="bold")
    for heading in ("KIND", "SHORT", "OBJECT", "INSIDE", "CONTROLLER", "HOLDS DATA"):
        table.add_column(heading, no_wrap=True)
    for kind in KINDS.values():
        inside = kind.level.name.lower()
        short = ", ".join(kind.resource.short_names)
        table.add_row(kind.name, short, kind.object_type, inside, kind.domain.value, "yes" if kind.holds_data else "no")
    out.print(table)


@app.command()
def plan(
    files: Annotated[list[Path], typer.Argument(help="Manifests, or folders of them; - reads standard input.")],
) -> None:
    """Print the statements that would create the objects of manifests that don't exist yet. Nothing is sent.

    Rules that span fields, and whether a name is taken, only the API server knows: kubectl apply --dry-run=server.
    """
    try:
        manifests = [each for file in files for each in _manifests(file)]
    except (OSError, ManifestError, yaml.YAMLError) as error:
        err.print(f"[red]error:[/red] {escape(' '.join(str(error).split()))}", highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    if not manifests:
        err.print(f"nothing to plan: no manifest is of a kind that has an object ({', '.join(KINDS)})", soft_wrap=True)
    by_key = {(each["kind"], _namespace(each), each["metadata"]["name"]): each for each in manifests}
    failed = False
    for manifest in manifests:
        title = f"{manifest['kind']} {_namespace(manifest)}/{manifest['metadata']['name']}"
        out.print(f"[dim]-- {title}[/dim]", highlight=False, soft_wrap=True)
        try:
            statements, warnings = _creation(KINDS[manifest["kind"]], manifest, by_key)
        except (InvalidName, LookupError, ValidationError) as error:
            failed = True
            for line in _reasons(error):
                err.print(f"[red]error:[/red] {title}: {escape(line)}", highlight=False, soft_wrap=True)
            continue
        for statement in statements:
            out.print(f"{statement};", soft_wrap=True, markup=False)
        for warning in warnings:
            err.print(f"[yellow]warning:[/yellow] {title}: {escape(warning)}", highlight=False, soft_wrap=True)
    raise typer.Exit(1 if failed else 0)


class ManifestError(ValueError):
    """A file that holds something else than manifests."""


def _creation(
    kind: Kind, manifest: Mapping[str, Any], manifests: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> tuple[tuple[Sql, ...], tuple[str, ...]]:
    """What would be sent to create a manifest's object, and what is likely wrong with it."""
    spec = kind.spec.model_validate(manifest.get("spec", {}))
    for field, reason in refused(kind, spec):
        raise LookupError(f"spec.{field} isn't supported: {reason}")
    target = kind.target(_parts(kind, spec, _namespace(manifest), manifests))
    steps = kind.after_create(target, spec) if kind.after_create else ()
    return (planning.create(kind, target, spec), *(step.statement for step in steps)), planning.advice(kind, spec)


def _reasons(error: InvalidName | LookupError | ValidationError) -> Iterator[str]:
    if not isinstance(error, ValidationError):
        yield str(error)
        return
    for each in error.errors(include_url=False):
        unknown = each["type"] == "extra_forbidden"
        yield f"spec.{'.'.join(str(part) for part in each['loc'])}: {'unknown field' if unknown else each['msg']}"


def _manifests(file: Path) -> Iterator[dict[str, Any]]:
    """The manifests of our kinds in a file, a folder or standard input.

    Raises:
        OSError: the file can't be read.
        YAMLError: it isn't YAML.
        ManifestError: it holds something else.
    """
    if file.is_dir():
        for each in sorted(file.glob("*.y*ml")):
            yield from _manifests(each)
        return
    for document in yaml.safe_load_all(sys.stdin.read() if str(file) == "-" else file.read_text()):
        if document is None:
            continue
        if not isinstance(document, dict):
            raise ManifestError(f"{file}: not a manifest but a {type(document).__name__}")
        for each in document.get("items", [document]):
            if each.get("kind") in KINDS:
                if not isinstance(each.get("metadata"), dict) or "name" not in each["metadata"]:
                    raise ManifestError(f"{file}: a {each['kind']} has no metadata.name")
                yield each


def _namespace(manifest: Mapping[str, Any]) -> str:
    return str(manifest["metadata"].get("namespace", "default"))


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
                raise LookupError(
                    f"spec.{asked.field} names {asked.kind} {asked.namespace}/{asked.name}, which no file holds"
                )
            asked = computation.send(KINDS[asked.kind].spec.model_validate(found["spec"]))
    except StopIteration as done:
        parts: tuple[str, ...] = done.value
        return parts


def main() -> None:
    """Entry point."""
    app()
