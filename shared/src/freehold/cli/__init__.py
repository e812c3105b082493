"""The `freehold` command line: what people ask of manifests, and of the claims of a cluster."""

from __future__ import annotations

import typer

from freehold.cli import claims, kinds, role_script, whoowns
from freehold.cli.plan.command import PlanCommand, plan

app = typer.Typer(
    help="Freehold: Snowflake objects as Kubernetes resources, each with one owner.", no_args_is_help=True
)
app.command()(kinds.kinds)
app.command(cls=PlanCommand)(plan)
app.command()(role_script.role_script)
app.command()(whoowns.whoowns)
app.add_typer(claims.app)


def main() -> None:
    """Entry point."""
    app()
