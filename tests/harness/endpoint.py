"""The Snowflake endpoint as a process of its own, and its control side: journal, faults, statements of strangers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.processes import WITH_PARENT, until
from freehold_devstack.snowflake.control_client import ControlClient
from freehold_devstack.snowflake.journal import Entry, Records

START_SECONDS = 60.0


class Endpoint(Records):
    """A running endpoint."""

    def __init__(self, folder: Path, seed: Mapping[str, Any]) -> None:
        """
        Args:
            folder: for its files.
            seed: accounts, users, roles and grants to begin with.
        """
        (folder / "seed.yaml").write_text(yaml.safe_dump(dict(seed)))
        ready = folder / "ready.json"
        with (folder / "endpoint.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *WITH_PARENT,
                    *(sys.executable, "-m", "freehold_devstack.snowflake"),
                    f"--seed={folder / 'seed.yaml'}",
                    f"--tls-dir={folder / 'tls'}",
                    f"--ready-file={ready}",
                ],
                stdout=log,
                stderr=log,
            )
        until(ready.exists, START_SECONDS, "the endpoint to be ready", (folder / "endpoint.log").read_text)
        self.control = ControlClient.read(ready)
        self.host = self.control.host
        self.port = self.control.port
        self.ca = self.control.ca
        self.pid = self._process.pid

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def sequence(self) -> int:
        """Number of the latest entry of the journal: what comes after it is news."""
        return self.control.latest

    def since(self, sequence: int = 0) -> list[Entry]:
        return self.control.since(sequence)

    def logins(self, user: str) -> list[str | None]:
        """The outcomes of a user's log-ins."""
        return [entry.outcome for entry in self.since() if entry.kind == "login" and entry.text.endswith(user)]

    def fault(self, match: str, action: str, **facts: Any) -> None:
        """Have the next matching statements go wrong; see `freehold_devstack.snowflake.faults.Fault`."""
        self.control.fault(match, action, **facts)

    def clear_faults(self) -> None:
        self.control.clear_faults()

    def sql(self, statement: str, role: str = "ACCOUNTADMIN") -> list[dict[str, Any]]:
        """Run a statement as a stranger.

        Returns:
            Its rows, by lower-case column.
        """
        return [{name.lower(): cell for name, cell in row.items()} for row in self.control.sql(statement, role=role)]

    def exists(self, object_type: str, name: str) -> bool:
        """Whether an object of the account's top level exists."""
        return any(row["name"] == name for row in self.sql(f"SHOW {object_type}S"))
