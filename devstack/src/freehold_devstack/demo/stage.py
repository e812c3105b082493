"""What the steps of the story work on: a cluster, an account, a folder of manifests, the screen they are shown on."""

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from freehold_devstack import build, images, prerequisites
from freehold_devstack.cluster import Cluster
from freehold_devstack.demo import account
from freehold_devstack.demo.account import Account
from freehold_devstack.demo.screen import Screen
from freehold_devstack.errors import COMMAND, DevstackError, StartError
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import until

REPOSITORY = Path(__file__).parents[4]
MANIFESTS = Path(__file__).parent / "manifests"

COMMAND_SECONDS = 180.0
"""A command of the story that takes longer has failed."""

KEPT: dict[str, tuple[str, ...]] = {
    "resources.yaml": ("get", "freehold", "--all-namespaces", "--output=yaml"),
    "events.txt": ("events", "--all-namespaces"),
    "pods.txt": ("describe", "pods", "--all-namespaces"),
    **{
        f"{component}.log": (
            *("logs", "--namespace=freehold-system", f"--selector=app.kubernetes.io/component={component}"),
            *("--prefix", "--tail=-1"),
        )
        for component in ("webhook", "account", "schema")
    },
}
"""Files to keep of a story that went wrong, and the kubectl commands that write them."""


RECEIVED = rf"""grep --only-matching --perl-regexp '"text":"\K(\\.|[^"\\])*' ../{account.NAME}/state"""
"""Prints the statements in the journal that the endpoint keeps next to the stage's folder."""


class UnexpectedError(DevstackError):
    """The story took another turn than it should."""

    def __init__(self, expectation: str) -> None:
        super().__init__(f"expected: {expectation}", "what came instead is printed above")


@dataclass(frozen=True)
class Stage:
    """A cluster without Freehold, and an account that nobody has worked in.

    Attributes:
        folder: where commands run; it holds the chart and the manifests.
    """

    cluster: Cluster
    account: Account
    folder: Path
    screen: Screen

    def play(self, step: Callable[["Stage"], None]) -> None:
        """Go through a step of the story, under its docstring as title.

        Raises:
            Exception: whatever went wrong, with a note that names the folder of logs.
        """
        with self.screen.step(step.__doc__ or step.__name__):
            try:
                step(self)
            except Exception as error:
                error.add_note(f"logs, events and resources: {self._collect()}")
                raise

    def run(self, line: str, *, exit_code: int = 0) -> str:
        """Run a command as a person would type it, and show what it prints.

        Args:
            line: kubectl or helm with its arguments.
            exit_code: what it has to end with.

        Returns:
            What it printed.

        Raises:
            UnexpectedError: it ended otherwise.
        """
        self.screen.command(line)
        program, *arguments = shlex.split(line)
        result = subprocess.run(
            self.cluster.command(self.cluster.binaries.path(program), *arguments),
            cwd=self.folder,
            env=self.cluster.environment | {"PATH": prerequisites.SYSTEM_PATH},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        self.screen.output(result.stdout)
        if exit_code:
            self.screen.say(f"exit code {result.returncode}")
        self.expect(result.returncode == exit_code, f"exit code {exit_code} of `{line}`, not {result.returncode}")
        return result.stdout

    def read(self, *arguments: str) -> Any:
        """What kubectl says in JSON; not shown."""
        return json.loads(self.cluster.kubectl(*arguments, "--output=json").stdout)

    def expect(self, condition: bool, expectation: str) -> None:
        """End the story unless that holds.

        Raises:
            UnexpectedError: it doesn't.
        """
        if not condition:
            raise UnexpectedError(expectation)

    def wait_for(self, condition: Callable[[], bool], seconds: float, expectation: str) -> None:
        """Wait until that holds.

        Raises:
            UnexpectedError: it doesn't in time.
        """
        try:
            until(condition, seconds, expectation)
        except StartError:
            raise UnexpectedError(f"{expectation}, within {seconds:.0f} s") from None

    def _collect(self) -> Path:
        """Save what helps to find out what went wrong, where it outlives the cluster."""
        folder = Path(tempfile.mkdtemp(prefix="freehold-demo-"))
        shutil.copytree(self.cluster.state.directory / "logs", folder / "processes")
        for name, arguments in KEPT.items():
            result = self.cluster.kubectl(*arguments, check=False)
            (folder / name).write_text(result.stdout + result.stderr)
        (folder / "statements.txt").write_text("\n".join(map(str, self.account.statements())))
        return folder


@contextmanager
def opened(screen: Screen, name: str | None = None, *, keep: bool = False) -> Iterator[Stage]:
    """Build what is needed, start cluster and account, and end them with the body, unless they are to be kept.

    Args:
        screen: where it is shown.
        name: of the cluster; a new one by default.
        keep: leave everything running until `devstack down`.

    Raises:
        DevstackError: something is missing, could not be built, or did not start.
    """
    with screen.step("Build Kubernetes and Freehold's images, once"):
        prerequisites.ensure(Tier.CLUSTER)
        build.ensure()
        built = images.project(REPOSITORY)
    with screen.step("Start Kubernetes"):
        cluster = Cluster(name, detached=keep)
        cluster.start()
        cluster.add_images(built)
    folder = cluster.state.directory / "demo"
    try:
        with screen.step("Open a Snowflake account"):
            stage = Stage(cluster, Account.opened(cluster), folder, screen)
            set_up(stage)
            stage.run("kubectl get nodes")
        yield stage
    finally:
        if keep:
            screen.say("Everything is left running:")
            screen.command(f"cd {folder}; export DEVSTACK_NAME={cluster.name}")
            screen.command(f"{COMMAND} kubectl get freehold --all-namespaces")
            screen.command(f"{COMMAND} kubectl explain warehouse.spec")
            screen.command(f"{COMMAND} kubectl describe warehouse loading --namespace team-a")
            screen.say("The SQL that Snowflake has received:")
            screen.command(RECEIVED)
            screen.say("To change something in Snowflake behind Freehold's back:")
            screen.command(f"{COMMAND} sql 'ALTER WAREHOUSE LOADING SET AUTO_SUSPEND = 86400'")
            screen.say("To end it:")
            screen.command(f"make --directory {REPOSITORY} demo-down")
        else:
            cluster.stop()


def set_up(stage: Stage) -> None:
    """Fill the stage's folder: the chart, the private key, the manifests with what is only known now filled in."""
    stage.folder.mkdir()
    (stage.folder / "charts").symlink_to(REPOSITORY / "charts")
    (stage.folder / "private_key.pem").write_text(stage.account.private_key)
    facts = {"SNOWFLAKE_HOST": stage.account.host, "SNOWFLAKE_CA": json.dumps(stage.account.ca)}
    for manifest in MANIFESTS.iterdir():
        (stage.folder / manifest.name).write_text(Template(manifest.read_text()).substitute(facts))
