"""What outlives the process: a file with one line a statement, its journal entry and the records that it changed.

A line is complete or it does not count, so a statement and its journal entry survive together or not at all. Lines are
handed to the operating system at once: they survive the end of the process, not that of the machine.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Change, Grant
from freehold_devstack.snowflake.journal import Entry, entry_facts, read_entry


@dataclass(frozen=True)
class Line:
    """One line of the file: what a statement has left of the records that it changed."""

    account: str
    entry: Entry | None
    objects: list[CatalogObject] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    revoked: list[Grant] = field(default_factory=list)

    @classmethod
    def of(cls, account: str, entry: Entry | None, changes: Iterable[Change]) -> "Line":
        """The line of a statement's net changes."""
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
        data: dict[str, Any] = _tuples(orjson.loads(text))
        return cls(
            account=data["account"],
            entry=None if data["entry"] is None else read_entry(data["entry"]),
            objects=[CatalogObject(**record) for record in data["objects"]],
            grants=[Grant(**record) for record in data["grants"]],
            revoked=[Grant(**record) for record in data["revoked"]],
        )

    def print(self) -> bytes:
        body = {
            "account": self.account,
            "entry": None if self.entry is None else entry_facts(self.entry),
            "objects": self.objects,
            "grants": self.grants,
            "revoked": self.revoked,
        }
        return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)

    def apply(self, catalog: Catalog) -> None:
        """Do to a catalog what the statement did."""
        for record in self.objects:
            known = catalog.get(record.id)
            if known is None:
                catalog.add(record)
            else:
                catalog.update(known, record)
        for grant in self.revoked:
            catalog.revoke(grant)
        for grant in self.grants:
            catalog.grant(grant)


def _tuples(value: Any) -> Any:
    """What JSON says, with tuples for its lists, as the catalog's records have them."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return value


class StateFile:
    """The file, open for appending."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self._path = path
        self._file = path.open("r+b")

    def replay(self, apply: Callable[[Line], None]) -> None:
        """Give every complete line to a function and forget what a crash left of the last.

        Raises:
            ValueError: There is a complete line that no endpoint has written.
        """
        self._file.seek(0)
        end = 0
        for number, text in enumerate(self._file, 1):
            if not text.endswith(b"\n"):
                break
            try:
                line = Line.parse(text)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{self._path}, line {number}: no endpoint has written this: {error!r}") from error
            apply(line)
            end += len(text)
        self._file.seek(end)
        self._file.truncate()

    def append(self, line: Line) -> None:
        self._file.write(line.print())
        self._file.flush()

    def close(self) -> None:
        self._file.close()
