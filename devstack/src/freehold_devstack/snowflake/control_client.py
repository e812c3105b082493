"""The admin side of an endpoint in another process, as a client sees it."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from freehold_devstack.snowflake.journal import Entry, Records, read_entry

REQUEST_SECONDS = 20.0


class RefusedError(Exception):
    """What the admin side has refused, and why."""


@dataclass(frozen=True)
class ControlClient(Records):
    """Journal, faults, clock and statements of strangers.

    Attributes:
        host, port: Where the endpoint listens.
        ca: PEM of the authority that its certificate is checked against.
        token: What guards its admin side.
    """

    host: str
    port: int
    ca: str
    token: str

    @classmethod
    def read(cls, ready_file: Path) -> Self:
        """The client of the endpoint that has written this file."""
        facts = json.loads(ready_file.read_text())
        return cls(facts["host"], facts["port"], Path(facts["ca"]).read_text(), facts["control_token"])

    def since(self, sequence: int = 0) -> list[Entry]:
        return [read_entry(facts) for facts in self._call("GET", f"journal?since={sequence}")]

    @property
    def latest(self) -> int:
        """Number of the journal's latest entry, 0 while it is empty: what comes after it is news."""
        number: int = self._call("GET", "journal/latest")
        return number

    def effects(self, entry: Entry) -> list[str]:
        """What a statement has changed; see `freehold_devstack.snowflake.effects`."""
        effects: list[str] = self._call("GET", f"journal/{entry.sequence}/effects")
        return effects

    def fault(self, match: str, action: str, **facts: Any) -> None:
        """Have the next matching statements go wrong; see `freehold_devstack.snowflake.faults.Fault`."""
        self._call("POST", "faults", {"match": match, "action": action, **facts})

    def clear_faults(self) -> None:
        """Forget all faults, and thaw all accounts."""
        self._call("DELETE", "faults")

    def freeze(self, account: str) -> None:
        """Let nothing of an account be answered until it is thawed."""
        self._call("PUT", f"frozen/{account}")

    def thaw(self, account: str) -> None:
        """Answer what has been waiting, and what comes."""
        self._call("DELETE", f"frozen/{account}")

    def skew(self, seconds: float) -> None:
        """Put the endpoint's clock wrong."""
        self._call("PUT", "clock", {"skew": seconds})

    def sql(
        self, statement: str, *, role: str, user: str | None = None, account: str | None = None
    ) -> list[dict[str, Any]]:
        """Run a statement as a stranger.

        Returns:
            Its rows, by column.

        Raises:
            RefusedError: The statement is refused.
        """
        answer = self._call("POST", "sql", {"sql": statement, "role": role, "user": user, "account": account})
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"https://{self.host}:{self.port}/devstack/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        trust = ssl.create_default_context(cadata=self.ca)
        try:
            with urllib.request.urlopen(request, context=trust, timeout=REQUEST_SECONDS) as answer:  # noqa: S310 - https
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RefusedError(f"{method} {path}: {error.read().decode()}") from error
