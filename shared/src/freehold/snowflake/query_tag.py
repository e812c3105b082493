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

    def text(self, installation: str, added: str = "") -> str:
        """The tag as sent, within the 2000 characters that QUERY_TAG takes.

        Args:
            installation: id of this installation.
            added: what the ProviderConfig adds, in at most 1000 characters of which JSON escapes none.
        """
        return _json({"freehold": installation, **asdict(self)}, added)


def session_tag(installation: str, added: str = "") -> str:
    """The tag of statements that serve the session itself; the arguments are those of `QueryTag.text`."""
    return _json({"freehold": installation}, added)


def _json(fields: dict[str, str], added: str) -> str:
    if added:
        fields = {**fields, "text": added}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
