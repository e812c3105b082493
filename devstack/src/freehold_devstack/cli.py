"""The `devstack` command: start, stop and look at instances, run kubectl and helm on them, or Snowflake alone."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from freehold_devstack import images as container_images
from freehold_devstack.cluster import Cluster
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.demo import account
from freehold_devstack.errors import COMMAND, DevstackError
from freehold_devstack.instance import choose, end, instances
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import ProcessId
from freehold_devstack.progress import console
from freehold_devstack.snowflake.control_client import ControlClient, RefusedError

app = typer.Typer(
    help="Real Kubernetes on this machine, and a Snowflake endpoint, for Freehold's demo and tests.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Name = Annotated[
    str | None,
    typer.Option("--name", envvar="DEVSTACK_NAME", help="Which instance; by default the only one that runs."),
]

PASS_THROUGH = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command()
def up(
    tier: Annotated[Tier, typer.Option(help="How much of Kubernetes; `cluster` needs root.")] = Tier.CONTROL_PLANE,
    nodes: Annotated[int, typer.Option(min=1, max=200, help="Nodes of the cluster tier.")] = 1,
    name: Annotated[str, typer.Option(envvar="DEVSTACK_NAME", help="What to call it.")] = "devstack",
) -> None:
    """Start an instance and leave it running."""
    instance = Cluster(name, nodes=nodes, detached=True) if tier is Tier.CLUSTER else ControlPlane(name, detached=True)
    instance.start()
    console.print(
        f"`{COMMAND} kubectl get namespaces` talks to it, `{COMMAND} down --name {name}` ends it.", soft_wrap=True
    )


@app.command()
def down(
    name: Annotated[
        str | None,
        typer.Option("--name", envvar="DEVSTACK_NAME", help="Which; by default all but those of runs in progress."),
    ] = None,
) -> None:
    """End instances, and clean up what killed runs left."""
    for ended in end(name):
        outcome = "leftovers of a run that was killed: removed" if ended.killed else "ended"
        console.print(f"{ended.name}: {outcome}")


@app.command()
def status() -> None:
    """Show the instances and their processes."""
    for instance in instances():
        if record := instance.state.record():
            sys.stdout.write(f"{instance.name}: {record.tier}, {record.server}\n")
            _show_process("supervisor", record.supervisor)
            for component in instance.state.components():
                _show_process(component.name, instance.state.process(component.name))


@app.command()
def logs(
    component: Annotated[str, typer.Argument(help="Whose; without, the ones there are.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it grows.")] = False,
    name: Name = None,
) -> None:
    """Print the log of a component; for a node also those of its programs, as node1/kubelet."""
    directory = choose(name).state.directory
    files = {path.stem: path for path in sorted(directory.glob("logs/*.log"))}
    files |= {f"{path.parent.name}/{path.stem}": path for path in sorted(directory.glob("node*/*.log"))}
    if component not in files:
        sys.stdout.write("\n".join(files) + "\n")
        raise typer.Exit(code=bool(component))
    _replace(("tail", "--lines=+1", *(("--follow",) if follow else ()), str(files[component])))


@app.command()
def env(name: Name = None) -> None:
    """Print shell commands that set KUBECONFIG and PATH, for a control plane: `eval "$(devstack env)"`."""
    instance = choose(name)
    if instance.record.tier is Tier.CLUSTER:
        raise DevstackError(
            f"{instance.name} is a cluster, whose network this shell isn't in",
            f"use `{COMMAND} kubectl` and `{COMMAND} helm`",
        )
    for variable, value in instance.environment.items():
        sys.stdout.write(f"export {variable}='{value}'\n")
    sys.stdout.write(f"export PATH='{instance.binaries.bin}':\"$PATH\"\n")


@app.command(context_settings=PASS_THROUGH)
def kubectl(context: typer.Context) -> None:
    """Run kubectl on an instance (DEVSTACK_NAME says which, if several run)."""
    _become("kubectl", context.args)


@app.command(context_settings=PASS_THROUGH)
def helm(context: typer.Context) -> None:
    """Run helm on an instance (DEVSTACK_NAME says which, if several run)."""
    _become("helm", context.args)


@app.command(context_settings=PASS_THROUGH)
def snowflake(context: typer.Context) -> None:
    """Serve a Snowflake endpoint alone, until interrupted."""
    _replace((sys.executable, "-m", "freehold_devstack.snowflake", *context.args))


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help="One statement.")],
    role: Annotated[str, typer.Option(help="As whom.")] = "ACCOUNTADMIN",
    name: Name = None,
) -> None:
    """Run a statement in the demo's Snowflake account, as somebody beside Freehold; prints its rows as JSON."""
    instance = choose(name)
    ready = account.ready_file(instance.state.directory)
    if not ready.exists():
        raise DevstackError(f"{instance.name} has no Snowflake account", "`KEEP=1 make demo` leaves one running")
    with instance.joined():
        try:
            rows = ControlClient.read(ready).sql(statement, role=role)
        except RefusedError as error:
            raise DevstackError(str(error), f"it was run as {role}; --role says as whom") from error
    for row in rows:
        sys.stdout.write(f"{json.dumps(row)}\n")


@app.command()
def images(
    repository: Annotated[Path, typer.Argument(help="The checkout.", exists=True, file_okay=False)] = Path(),
) -> None:
    """Build the project's images; those whose inputs are unchanged are taken from the cache."""
    for image in container_images.project(repository.absolute()):
        sys.stdout.write(f"{image.reference}\t{image.archive}\n")


def main() -> None:
    """Run the command; what goes wrong is printed as a message, not as a trace."""
    try:
        app()
    except DevstackError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)


def _show_process(name: str, process: ProcessId | None) -> None:
    state = "stopped" if process is None else f"{process.pid:<8} {'running' if process.alive else 'ended'}"
    sys.stdout.write(f"  {name:<24} {state}\n")


def _become(program: str, arguments: list[str]) -> NoReturn:
    instance = choose(os.environ.get("DEVSTACK_NAME"))
    os.environ.update(instance.environment)
    _replace(instance.command(instance.binaries.path(program), *arguments))


def _replace(command: tuple[str, ...]) -> NoReturn:
    path = shutil.which(command[0])
    if path is None:
        raise DevstackError(f"{command[0]} is missing on this machine", "install it")
    os.execv(path, command)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main()
