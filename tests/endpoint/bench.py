"""The cases of `cases/*.yaml`: statements with what has to come of them, in a session of an account made for each case.

A case is a list of steps in one session. A step that is a text must succeed; one that is a mapping has the statement
in `sql` and what it must answer: `rows` (each a part of the row, in order), `status`, `columns`, `effect` (the lines of
the journal about what it changed) or `error` (the number) with `sqlstate` and `text` (a part of the message) or
`message` (all of it). `as` opens a new session with another primary role, and with `user` as that user's, with
`account` in another account; `later` lets seconds pass. A first step without `sql` sets the account's `edition`,
`hints` or `bundles`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.seed import Seed, SeedAccount, SeedRole, SeedUser
from freehold_devstack.snowflake.sessions import Session

FOLDER = Path(__file__).parent / "cases"
EXPECTATIONS = frozenset({"rows", "status", "columns", "effect", "error"})
KEYS = EXPECTATIONS | {"sql", "as", "user", "account", "later", "text", "message", "sqlstate"}
START_MILLISECONDS = 1_800_000_000_000
PASSWORD = "correct horse"

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        file: Name of its file, without the suffix.
        account: What the account is made with.
    """

    file: str
    name: str
    account: Mapping[str, Any]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    @property
    def seed(self) -> Seed:
        """The account of the case, where the role R may make databases and warehouses, and another beside it."""
        main = SeedAccount(
            users={"U": SeedUser(password=PASSWORD, default_role="R", roles=["R", "R2"])},
            roles={"R": SeedRole(granted_to=["SYSADMIN"]), "R2": SeedRole(), "STRANGER": SeedRole()},
            statements=["GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE R"],
            peers=["FREEHOLD.DR"],
            **self.account,
        )
        return Seed(accounts=[main, SeedAccount(name="DR", locator="FH00002", peers=["FREEHOLD.DEVSTACK"])])


@cache
def load() -> tuple[Case, ...]:
    """All cases."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for name, steps in yaml.load(file.read_text(), yaml.CSafeLoader).items():
            settings = steps[0] if isinstance(steps[0], dict) and "sql" not in steps[0] else {}
            kept = [{"sql": step} if isinstance(step, str) else step for step in steps[bool(settings) :]]
            for step in kept:
                if unknown := step.keys() - KEYS:
                    raise ValueError(f"{file.name}, {name}: {sorted(unknown)}")
            yield Case(file.stem, name, settings, tuple(kept))


class Clock:
    """Moves a second with every statement."""

    def __init__(self) -> None:
        self.now = START_MILLISECONDS / 1000

    def __call__(self) -> float:
        return self.now

    def move(self, step: Step) -> None:
        self.now += step.get("later", 1)


def session_of(engine: Engine, step: Step) -> Session:
    """The session that a step with `as` opens."""
    return engine.session_as(role=step["as"], user=step.get("user"), account=step.get("account"))


class Bench:
    """Runs a case without a client."""

    def __init__(self, case: Case) -> None:
        self._clock = Clock()
        self.engine = Engine(clock=self._clock)
        self.engine.add_accounts(*case.seed.accounts)
        self.session = self.engine.session_as(role="R")

    def prepare(self, step: Step) -> None:
        """Let time pass and open the session that the step wants."""
        self._clock.move(step)
        if "as" in step:
            self.session = session_of(self.engine, step)

    def run(self, step: Step) -> Result:
        """Run the statement.

        Raises:
            SqlError: The refusal.
        """
        return self.engine.run(self.session, step["sql"])
