"""The endpoint's certificate: a test authority and a leaf below it, kept in a folder."""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack.pki import Authority, Pair


@dataclass(frozen=True)
class Certificate:
    """PEM files: the authority that clients trust, the leaf, and its key."""

    ca: Path
    cert: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.cert, self.key)
        return context


def issue(folder: Path, names: Iterable[str]) -> Certificate:
    """Issue a leaf for these host names and addresses, by the folder's authority, which is made if it isn't there."""
    folder.mkdir(parents=True, exist_ok=True)
    known = Pair.read(folder, "ca") if (folder / "ca.key").exists() else None
    authority = Authority(known)
    authority.pair.write(folder, "ca")
    authority.issue("snowflake", names=tuple(names)).write(folder, "server")
    return Certificate(folder / "ca.crt", folder / "server.crt", folder / "server.key")
