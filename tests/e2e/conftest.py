"""The cluster tier, for root alone: skipped loudly without, failed where that must not happen (CI)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from freehold_devstack import prerequisites
from freehold_devstack.cluster import Cluster
from freehold_devstack.demo.screen import Screen
from freehold_devstack.demo.stage import Stage, opened
from freehold_devstack.errors import MissingPrerequisiteError
from freehold_devstack.prerequisites import Tier

MISSING = pytest.StashKey[str]()


@pytest.fixture(scope="session", autouse=True)
def cluster_tier(pytestconfig: pytest.Config) -> None:
    """The rights and programs that every test here needs."""
    try:
        prerequisites.ensure(Tier.CLUSTER)
    except MissingPrerequisiteError as error:
        if os.environ.get("CI", "false") not in ("", "0", "false"):
            raise
        pytestconfig.stash[MISSING] = str(error)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster of one node, for all tests of the run that don't change it."""
    with Cluster() as shared:
        yield shared


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Another cluster with the project's images, and an account; each test leaves it without Freehold."""
    with opened(Screen()) as stage:
        yield stage


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in red what was not tested."""
    if reason := config.stash.get(MISSING, ""):
        terminalreporter.section("END-TO-END TESTS WERE SKIPPED", red=True, bold=True)
        terminalreporter.write_line(reason, red=True)
