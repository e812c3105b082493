"""The Snowflake endpoint as a process of its own, and its control side: journal, faults, statements of strangers."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from freehold_devstack.processes import WITH_PARENT, until

PROGRAM = Path(sys.executable).parent / "snowflake-endpoint"
START_SECONDS = 20.0


@dataclass(frozen=True)
class Statement:
    """A statement that the endpoint received.

    Attributes:
        sequence: from 1.
        text: as sent.
        outcome: `ok`, six digits, or None while it runs.
        role: role of the session.
        query_tag: as sent.
    """

    sequence: int
    text: str
    outcome: str | None
    role: str | None
    query_tag: str


class Endpoint:
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
                    str(PROGRAM),
                    f"--seed={folder / 'seed.yaml'}",
                    f"--tls-dir={folder / 'tls'}",
                    f"--ready-file={ready}",
                ],
                stdout=log,
                stderr=log,
            )
        until(ready.exists, START_SECONDS, "the endpoint to be ready", (folder / "endpoint.log").read_text)
        facts = json.loads(ready.read_text())
        self.host: str = facts["host"]
        self.port: int = facts["port"]
        self.pid: int = facts["pid"]
        self.ca: str = Path(facts["ca"]).read_text()
        self._token: str = facts["control_token"]
        self._tls = ssl.create_default_context(cadata=self.ca)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def sequence(self) -> int:
        """Number of the latest entry of the journal: what comes after it is news."""
        return max((entry["sequence"] for entry in self._call("GET", "journal")), default=0)

    def statements(self, pattern: str, *, since: int = 0, outcome: str | None = None) -> list[Statement]:
        """The statements that a regular expression finds, whatever their case.

        Args:
            pattern: looked for in the text.
            since: only those after this number.
            outcome: only those that ended so.
        """
        found = [
            Statement(*(entry[name] for name in ("sequence", "text", "outcome", "role", "query_tag")))
            for entry in self._call("GET", f"journal?since={since}")
            if entry["kind"] == "statement"
        ]
        return [
            each for each in found if re.search(pattern, each.text, re.IGNORECASE) and outcome in (None, each.outcome)
        ]

    def logins(self, user: str) -> list[str | None]:
        """The outcomes of a user's log-ins."""
        entries = self._call("GET", "journal")
        return [entry["outcome"] for entry in entries if entry["kind"] == "login" and entry["text"].endswith(user)]

    def fault(self, match: str, action: str, **facts: Any) -> None:
        """Have the next matching statements go wrong; see `freehold_devstack.snowflake.faults.Fault`."""
        self._call("POST", "faults", {"match": match, "action": action, **facts})

    def clear_faults(self) -> None:
        self._call("DELETE", "faults")

    def sql(self, statement: str, role: str = "ACCOUNTADMIN") -> list[dict[str, Any]]:
        """Run a statement as a stranger.

        Returns:
            Its rows, by lower-case column.
        """
        answer = self._call("POST", "sql", {"sql": statement, "role": role})
        return [dict(zip((each.lower() for each in answer["columns"]), row, strict=True)) for row in answer["rows"]]

    def exists(self, object_type: str, name: str) -> bool:
        """Whether an object of the account's top level exists."""
        return any(row["name"] == name for row in self.sql(f"SHOW {object_type}S"))

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"https://{self.host}:{self.port}/devstack/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}"},
        )
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=20) as answer:  # noqa: S310  # https, above
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from error
