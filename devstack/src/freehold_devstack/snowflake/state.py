"""What outlives the process: a file with one line a statement, its journal entry and the records that it changed.

A line is complete or it does not count, so a statement and its journal entry survive together or not at all. Lines are
handed to the operating system at once: they survive the end of the process, not that of the machine.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from freehold_devstack.snowflake.catalog import CatalogObject, Change, Grant
from freehold_devstack.snowflake.journal import Entry


@dataclass(frozen=True)
class Line:
    """One line of the file."""

    account: str
    entry: Entry | None
    objects: list[CatalogObject] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    revoked: list[Grant] = field(default_factory=list)

    @classmethod
    def of(cls, account: str, entry: Entry | None, changes: Iterable[Change]) -> "Line":
        line = cls(account, entry)
        for change in changes:
            match change.before, change.after:
                case _, CatalogObject() as record:
                    line.objects.append(record)
                case _, Grant() as grant:
                    line.grants.append(grant)
                case Grant() as grant, None:
                    line.revoked.append(grant)
        return line

    @classmethod
    def parse(cls, text: bytes) -> "Line":
        data: dict[str, Any] = orjson.loads(text)
        return cls(
            account=data["account"],
            entry=None if data["entry"] is None else Entry(**data["entry"]),
            objects=[CatalogObject(**record) for record in data["objects"]],
            grants=[Grant(**record) for record in data["grants"]],
            revoked=[Grant(**record) for record in data["revoked"]],
        )


class StateFile:
    """The file, open for appending."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self._file = path.open("r+b")

    def replay(self, apply: Callable[[Line], None]) -> None:
        """Give every complete line to a function and forget what a crash left of the last."""
        end = 0
        for text in self._file:
            if not text.endswith(b"\n"):
                break
            apply(Line.parse(text))
            end += len(text)
        self._file.seek(end)
        self._file.truncate()

    def append(self, line: Line) -> None:
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        self._file.flush()

    def close(self) -> None:
        self._file.close()
