"""The Snowflake account of the demo: an endpoint in the cluster's network, who is in it, and what it was asked."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Self

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from freehold_devstack.cluster import Cluster
from freehold_devstack.errors import tail
from freehold_devstack.processes import until
from freehold_devstack.snowflake.control_client import ControlClient
from freehold_devstack.state import Component

NAME = "snowflake"
"""The endpoint among the cluster's processes, and its log."""

PORT = 443
"""Free: the cluster's network is its own."""

SEED = Path(__file__).parent / "account.yaml"

USER = "FREEHOLD"

CHANGES = frozenset({"CREATE", "ALTER", "DROP", "UNDROP", "GRANT", "REVOKE"})
"""First words of statements that change something."""

START_SECONDS = 20.0


def ready_file(instance: Path) -> Path:
    """Where the endpoint writes how it is reached, in the folder of its instance."""
    return instance / NAME / "ready.json"


@dataclass(frozen=True)
class Statement:
    """One statement as the account received it.

    Attributes:
        user: who sent it; none, where it was somebody that the endpoint was told to play.
        outcome: "ok", or the number of Snowflake's refusal.
    """

    user: str | None
    text: str
    outcome: str

    @property
    def changes(self) -> bool:
        """Whether it is of a kind that changes the account, rather than the session or nothing."""
        words = self.text.upper().split()
        return words[0] in CHANGES and words[:2] != ["ALTER", "SESSION"]


@dataclass(frozen=True)
class Account:
    """A Snowflake account that lives as long as the cluster.

    Attributes:
        private_key: PEM; what the user FREEHOLD logs in with.
    """

    cluster: Cluster
    private_key: str
    _control: ControlClient

    @property
    def host(self) -> str:
        """Where pods reach it."""
        return self._control.host

    @property
    def ca(self) -> str:
        """PEM of the authority that its certificate is checked against."""
        return self._control.ca

    @classmethod
    def opened(cls, cluster: Cluster) -> Self:
        """Start an endpoint in a cluster.

        Raises:
            StartError: it did not become ready.
        """
        folder = cluster.state.directory / NAME
        folder.mkdir(mode=0o700)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public_key = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        seed = folder / "account.yaml"
        seed.write_text(Template(SEED.read_text()).substitute(PUBLIC_KEY=json.dumps(public_key)))
        ready = ready_file(cluster.state.directory)
        command = (
            *(
                str(Path(sys.executable).with_name("devstack")),
                "snowflake",
                f"--seed={seed}",
                f"--state={folder}/state",
            ),
            *(f"--host={cluster.host_address}", f"--port={PORT}", f"--tls-dir={folder}/tls"),
            f"--ready-file={ready}",
        )
        cluster.supervise(Component(NAME, command))
        log = cluster.state.log(NAME)
        until(ready.exists, START_SECONDS, "the Snowflake endpoint to be ready", lambda: tail(log))
        private_key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return cls(cluster, private_key, ControlClient.read(ready))

    def statements(self, since: int = 0) -> list[Statement]:
        """What it was asked to do so far, without the first so many."""
        with self.cluster.joined():
            entries = self._control.statements()
        return [Statement(entry.user, entry.text, str(entry.outcome)) for entry in entries[since:]]

    def execute(self, role: str, sql: str) -> list[Mapping[str, str]]:
        """Do something as somebody else; its rows by column names."""
        with self.cluster.joined():
            return list(self._control.sql(sql, role=role))
