"""A PostgreSQL server of a test run's own: in a folder that goes with it, reached by a socket there alone."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freehold.sql import Sql
from freehold_devstack import prerequisites

SHORT = Path("/") / "tmp"
"""Where the server's folder is: the path of a socket is short."""
DEBIAN = Path("/usr/lib/postgresql")
_AS_JSON = "SELECT coalesce(json_agg(row_to_json(found)), '[]') FROM ({query}) AS found"
ACCOUNT = "nobody"
"""Who runs it where we are root, as whom PostgreSQL refuses to run."""


DONE, NO_SESSION = "00000", "no session"


class Refused(Exception):
    """The server refused a statement.

    Attributes:
        sqlstate: why; `NO_SESSION` where it let nobody in.
    """

    def __init__(self, sqlstate: str) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    programs: Path
    folder: Path

    def run(self, *statements: Sql | str, database: str = "postgres", role: str = "postgres") -> None:
        """Run statements in one transaction.

        Raises:
            Refused: the server refused one.
        """
        self._psql("BEGIN;" + "".join(f"{_text(each)};\n" for each in statements) + "COMMIT;", database, role)

    def rows(self, query: Sql | str, database: str = "postgres", role: str = "postgres") -> list[list[Any]]:
        """What a query answers with.

        Raises:
            Refused: the server refused it.
        """
        text = _AS_JSON.format(query=_text(query))
        return [list(each.values()) for each in json.loads(self._psql(text, database, role))]

    def attempt(self, *statements: str, database: str, role: str) -> dict[str, str]:
        """Run statements, each by itself.

        Returns:
            the SQLSTATE of each: `DONE`, or why it was refused.
        """
        script = "\\o /dev/null\n" + "".join(f"{each};\n\\echo :SQLSTATE\n" for each in statements)
        try:
            states = self._psql(script, database, role, stop=False).split()
        except Refused as refused:
            states = [refused.sqlstate] * len(statements)
        return dict(zip(statements, states, strict=True))

    def _psql(self, text: str, database: str, role: str, *, stop: bool = True) -> str:
        settings = ("-XqAt", "-v", f"ON_ERROR_STOP={int(stop)}", "-v", "VERBOSITY=sqlstate")
        found = subprocess.run(
            (self.programs / "psql", *settings, "-f", "-"),
            env={"PGHOST": str(self.folder), "PGDATABASE": database, "PGUSER": role, "PGCLIENTENCODING": "UTF8"},
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode == 0:
            return found.stdout
        refused = found.stderr.strip()
        raise Refused(NO_SESSION if refused.startswith("psql: error: connection") else refused.rsplit(" ", 1)[-1])


@contextmanager
def server() -> Iterator[Server]:
    """A server that runs while the context lasts."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="postgres-", dir=SHORT) as name:
        folder, user = Path(name), _account()
        if user is not None:
            os.chown(folder, user, -1)
        data = folder / "data"
        _as(user, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-N")
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB"
        _as(user, programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "-s", "start")
        try:
            yield Server(programs, folder)
        finally:
            _as(user, programs / "pg_ctl", "-D", data, "-m", "immediate", "-s", "stop")


def _programs() -> Path:
    """Where PostgreSQL is; it is installed where it isn't."""
    if (found := _installed()) is None:
        prerequisites.install(["postgresql"])
        found = _installed()
    assert found, "PostgreSQL was installed, and isn't there"
    return found


def _installed() -> Path | None:
    versions = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda each: int(each.parts[-3]))
    path = shutil.which("initdb")
    found = versions[-1] if versions else path and Path(path).resolve()
    return found.parent if found else None


def _account() -> int | None:
    return pwd.getpwnam(ACCOUNT).pw_uid if os.geteuid() == 0 else None


def _as(user: int | None, *command: str | Path) -> None:
    subprocess.run(command, user=user, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def _text(statement: Sql | str) -> str:
    return statement.text if isinstance(statement, Sql) else statement


def quoted(names: Iterable[str]) -> Sequence[str]:
    """Names as they are written in statements."""
    return [f'"{each.replace(chr(34), chr(34) * 2)}"' for each in names]
