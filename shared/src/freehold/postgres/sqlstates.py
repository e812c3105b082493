"""What PostgreSQL's errors ask of us, by their SQLSTATE ("PostgreSQL Error Codes"): try again, or wait for people.

A server's own words go nowhere: they quote names and values. People read ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Remedy(Enum):
    """What helps."""

    RETRY = "trying again, with back-off"
    CREDENTIALS = "waiting until CloudNativePG has applied the password; trying again"
    PEOPLE = "a change by people; trying again at the next check"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, and what helps.

    Attributes:
        remedy: what helps.
        message: for people, without a word of the server's.
    """

    remedy: Remedy
    message: str


_STATES: Mapping[str, tuple[Remedy, str]] = {
    "2BP01": (Remedy.PEOPLE, "other objects depend on it: take them away, or set deletionPolicy to Retain"),
    "3D000": (Remedy.RETRY, "the database isn't there yet"),
    "3F000": (Remedy.RETRY, "a schema isn't there yet"),
    "42501": (Remedy.PEOPLE, "the superuser's rights don't suffice: give postgres back its own"),
    "42704": (Remedy.RETRY, "a role isn't there yet"),
    "55000": (Remedy.PEOPLE, "the database takes no connections: set allowConnections to true"),
    "55006": (Remedy.RETRY, "the database is still in use"),
    "57P03": (Remedy.RETRY, "the server is starting up or shutting down"),
    "25006": (Remedy.RETRY, "the server is a standby: the primary is changing"),
}
_CLASSES: Mapping[str, tuple[Remedy, str]] = {
    "08": (Remedy.RETRY, "the connection failed"),
    "28": (Remedy.PEOPLE, "the superuser can't log in: see to the password in its Secret, and to pgHBA"),
    "40": (Remedy.RETRY, "another transaction was in the way"),
    "42": (Remedy.PEOPLE, "the server doesn't take the statement: it may be of a version that isn't supported"),
    "53": (Remedy.RETRY, "the server is out of connections, memory or disk"),
    "55": (Remedy.RETRY, "what is to be changed is in use"),
    "57": (Remedy.RETRY, "the server was told to stop"),
    "58": (Remedy.RETRY, "the server's system failed"),
    "XX": (Remedy.PEOPLE, "the server is damaged: see its log"),
}
"""By the first two characters, where the code itself isn't listed."""

_OTHER = (Remedy.RETRY, "the server refused")
_APPLYING = "the superuser's password is being applied"
_NO_ANSWER = "no server answered"


def failure(sqlstate: str | None, *, applying: bool) -> Failure:
    """What an error of PostgreSQL's asks of us.

    Args:
        sqlstate: its code; None where there was no answer, as after a time-out.
        applying: whether a password that was made or changed may not have reached the server yet, or the cluster isn't
            settled: a log-in that is refused then says nothing.
    """
    if not sqlstate:
        return Failure(Remedy.RETRY, _NO_ANSWER)
    if applying and sqlstate.startswith("28"):
        return Failure(Remedy.CREDENTIALS, f"{_APPLYING} (SQLSTATE {sqlstate})")
    remedy, message = _STATES.get(sqlstate) or _CLASSES.get(sqlstate[:2]) or _OTHER
    return Failure(remedy, f"{message} (SQLSTATE {sqlstate})")
