"""The command `freehold plan`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from freehold.cli import console
from freehold.cli.cluster import Context, ask
from freehold.cli.console import FAILED, USAGE
from freehold.cli.manifests import ManifestError, load
from freehold.cli.plan import offline as offline_plan
from freehold.cli.plan import printing
from freehold.cli.plan.entries import Action, Entry
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.login_policy import LoginPolicy
from freehold.options import SNOWFLAKE, AllowedHosts

CHANGES = 2
"""Exit code where there is something to do; 0 where there is nothing, 1 where something is refused or unknown. As
`terraform plan -detailed-exitcode` has it ("Command: plan" in its documentation)."""


class Form(StrEnum):
    """How a plan is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class PlanCommand(TyperCommand):
    """A command that is asked wrongly by the exit code of an error: 2 would tell a pipeline of changes."""

    def parse_args(self, *arguments: Any) -> Any:
        """As the base class has it."""
        try:
            return super().parse_args(*arguments)
        except Exception as error:
            if getattr(error, "exit_code", None) == USAGE:
                setattr(error, "exit_code", FAILED)  # noqa: B010  # of a class that is private to typer
            raise


def plan(
    files: Annotated[
        list[Path],
        typer.Option("--filename", "-f", help="Manifests, or folders of them; - reads standard input."),
    ],
    output: Annotated[Form, typer.Option("--output", "-o", help="For people, programs or a pull request.")] = Form.TEXT,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also what would be dropped with resources that no manifest declares.")
    ] = False,
    selector: Annotated[
        str | None, typer.Option("--selector", "-l", help="Labels of the resources that --prune is about.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Print the SQL that creates all objects, without cluster or account.")
    ] = False,
    allowed_hosts: AllowedHosts = SNOWFLAKE,
    context: Context = None,
) -> None:
    """Tell what applying manifests would create, alter, reset, adopt or drop in Snowflake, and what is refused.

    Only reads, from the cluster and from the account: a role that sees the objects is enough. Exits with 0 when there
    is nothing to do, 2 when there is, and 1 when something is refused or can't be told.
    """
    try:
        manifests = load(files, PROVIDER_CONFIG)
    except ManifestError as error:
        raise console.fail(str(error)) from error
    objects = [each for each in manifests if each["kind"] in KINDS]
    if not objects:
        console.err.print(f"nothing to plan: no manifest is of a kind that has an object ({', '.join(KINDS)})")
    if offline:
        raise typer.Exit(FAILED if offline_plan.show(objects) else 0)
    try:
        # The command line installs without the driver, and does all else without it.
        from freehold.cli.plan import session  # noqa: PLC0415
    except ImportError as error:
        raise console.fail("Snowflake's driver is missing: pip install 'freehold[snowflake]', or --offline") from error
    policy = LoginPolicy(tuple(allowed_hosts.split(",")))

    async def question(kube: Kube) -> Sequence[Entry]:
        return await session.entries(kube, manifests, policy, prune=prune, selector=selector)

    entries = ask(question, context, code=FAILED)
    if output is Form.JSON:
        console.json([each.document() for each in entries])
    elif output is Form.MARKDOWN:
        printing.markdown(entries)
    else:
        printing.show(entries)
    if any(each.action is Action.REFUSE for each in entries):
        raise typer.Exit(FAILED)
    raise typer.Exit(CHANGES if any(each.action.changes for each in entries) else 0)
