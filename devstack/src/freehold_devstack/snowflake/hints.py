"""Hints: the sentence about the missing privilege that servers since 2026 append to 002003 and 003001."""

from collections.abc import Mapping
from dataclasses import dataclass

_CALLED: Mapping[str, str] = {
    **dict.fromkeys(("APPLICATION", "APPLICATION PACKAGE"), "DATABASE"),
    **dict.fromkeys(("OBJECT", "VIEW", "DYNAMIC TABLE", "MATERIALIZED VIEW", "EXTERNAL TABLE", "EVENT TABLE"), "TABLE"),
    "ICEBERG TABLE": "TABLE",
    **dict.fromkeys(("IMAGE REPOSITORY", "ARTIFACT REPOSITORY", "GIT REPOSITORY"), "STAGE"),
    "DATABASE ROLE": "ROLE",
    "EXTERNAL VOLUME": "VOLUME",
}
"""What a kind is called where not by its own words; every policy is a POLICY."""

_TO_SEE: Mapping[str, str] = dict.fromkeys(("DATABASE", "SCHEMA"), "USAGE or any other privilege")
"""What it takes to see an object of a kind, by what the kind is called."""

_TO_SEE_BY_ACCOUNT: Mapping[str, str] = {"USER": "USAGE", "NETWORK RULE": "MONITOR"}
"""The kinds for which a privilege on the account is asked."""


def _called(kind: str) -> str:
    return "POLICY" if kind.endswith(" POLICY") else _CALLED.get(kind, kind)


@dataclass(frozen=True)
class Hints:
    """The hints of one session.

    Attributes:
        role: Its primary role; None leaves all hints out, as older servers do.
        locator: The account's.
    """

    role: str | None
    locator: str

    def granted(self, privilege: str, kind: str, name: str) -> str:
        """That the role must have this privilege; the kind in capitals, the name qualified and printed."""
        if self.role is None:
            return ""
        return f" Your primary role {self.role} must have {privilege} granted on {_called(kind)} {name}."

    def seen(self, kind: str, name: str) -> str:
        """What the role must have to see an object, which is the same whether or not there is one."""
        if kind == "COLUMN":
            return ""
        if kind in _TO_SEE_BY_ACCOUNT:
            return self.granted(_TO_SEE_BY_ACCOUNT[kind], "ACCOUNT", self.locator)
        return self.granted(_TO_SEE.get(_called(kind), "at least one privilege"), kind, name)
