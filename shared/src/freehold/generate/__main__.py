"""`python -m freehold.generate [--check]`: write everything that derives from declarations in code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from freehold.generate import crd, errors, metrics, rbac, reference
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.resources import DECLARED, RESOURCES

HEADER = "# Generated from the kind declarations by `make generate`; never edited by hand.\n"

_OWN = (Path("crds"), Path("docs/reference"))
"""Folders in which nothing is written by hand."""


def outputs(samples: Path) -> dict[Path, str]:
    """Every generated file, by its path in the repository, with its content.

    Args:
        samples: folder with one manifest a kind, `<kind>.yaml`.
    """
    files: dict[Path, str] = {}
    for each in RESOURCES:
        text = yaml.safe_dump(crd.definition(each), sort_keys=False, width=120, allow_unicode=True)
        files[Path(f"crds/{each.path.group}_{each.path.plural}.yaml")] = HEADER + text
        sample = samples / f"{each.kind.lower()}.yaml"
        files[Path(f"docs/reference/{each.kind.lower()}.md")] = reference.page(
            each, sample.read_text() if sample.exists() else None
        )
    files[Path("docs/reference/README.md")] = reference.index(RESOURCES)
    files[Path("docs/errors.md")] = errors.page()
    files[Path("docs/metrics.md")] = metrics.page()
    permissions = rbac.permissions(DECLARED.values(), PROVIDER_CONFIG)
    files[Path("charts/freehold/files/permissions.yaml")] = HEADER + permissions
    return files


def generate(
    root: Annotated[Path, typer.Argument(help="Root of the repository.")] = Path(),
    *,
    check: Annotated[bool, typer.Option(help="Write nothing; fail when a file is stale.")] = False,
) -> None:
    """Write CRDs, field reference, permissions and the pages about errors and metrics."""
    wanted = {root / path: text for path, text in outputs(root / "docs/samples").items()}
    surplus = {path for folder in _OWN for path in (root / folder).glob("*") if path not in wanted}
    stale = {path for path, text in wanted.items() if not path.exists() or path.read_text() != text} | surplus
    if check:
        for path in sorted(stale):
            typer.echo(f"stale: {path}; run `make generate`", err=True)
        raise typer.Exit(1 if stale else 0)
    for path in sorted(stale):
        if path in surplus:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path])
        typer.echo(f"{'removed' if path in surplus else 'wrote'} {path}")


if __name__ == "__main__":
    typer.run(generate)
