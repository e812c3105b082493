"""The query tag, which tells in Snowflake's query history which resource of which installation a statement served."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class QueryTag:
    """The resource that a statement serves.

    Attributes:
        kind: its kind.
        namespace: its namespace.
        name: its name.
        uid: its uid.
    """

    kind: str
    namespace: str
    name: str
    uid: str

    def text(self, installation: str) -> str:
        """The tag as sent, within the 2000 characters that QUERY_TAG takes."""
        return _json({"freehold": installation, **asdict(self)})


def session_tag(installation: str) -> str:
    """The tag of statements that serve the session itself."""
    return _json({"freehold": installation})


def _json(fields: dict[str, str]) -> str:
    return json.dumps(fields, separators=(",", ":"))
