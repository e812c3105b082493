"""Lines of pg_hba.conf.

Rules: "The pg_hba.conf File" in PostgreSQL's documentation.
"""

from __future__ import annotations

import ipaddress
import re

CONNECTIONS = ("local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc")
METHODS = (
    *("trust", "reject", "scram-sha-256", "md5", "password", "gss", "sspi", "ident", "peer", "pam", "ldap", "radius"),
    "cert",
)

_FIELD = re.compile(r'(?:"[^"]*"|[^\s"#,]|,\s*)+')
_HOST_NAME = re.compile(r"\.?[A-Za-z0-9_]([A-Za-z0-9_-]*)(\.[A-Za-z0-9_-]+)*\.?")
_PODS = re.compile(r"\$\{podselector:[a-z0-9]([-a-z0-9]*[a-z0-9])?\}")
"""Stands for the addresses of pods, by CloudNativePG."""
_OPTION = re.compile(r"[A-Za-z_]+=.*")


def fault(line: str) -> str | None:
    """What is wrong with a line and what to do, for people; None when PostgreSQL can read it."""
    if "\n" in line or "\r" in line:
        return "a rule is one line: write one item for each"
    fields = _FIELD.findall(line.split("#", maxsplit=1)[0] if '"' not in line else line)
    if not fields:
        return "it holds no rule: take it out"
    if fields[0] not in CONNECTIONS:
        return f"it begins with {fields[0]!r}: begin it with one of {', '.join(CONNECTIONS)}"
    address = 0 if fields[0] == "local" else _width(fields[3:])
    if address is None:
        return f"{fields[3]!r} is no address: write a network such as 10.0.0.0/8, a host name, all, samehost or samenet"
    rest = fields[3 + address :]
    if len(fields) < 3 or not rest:
        return "it is too short: write <connection> <database> <user> [<address>] <method>, without address for local"
    if rest[0] not in METHODS:
        return f"{rest[0]!r} is no authentication method: use one of {', '.join(METHODS)}"
    wrong = next((each for each in rest[1:] if not _OPTION.fullmatch(each)), None)
    return f"{wrong!r} is no option: options are written name=value" if wrong else None


def _width(fields: list[str]) -> int | None:
    """How many fields the address takes; None where there is none."""
    if not fields:
        return 1
    address = fields[0].strip('"')
    if address in ("all", "samehost", "samenet") or _PODS.fullmatch(address):
        return 1
    if "/" in address:
        return 1 if _is_network(address) else None
    if _is_address(address):
        return 2 if len(fields) > 1 and _is_address(fields[1]) else None
    return 1 if _HOST_NAME.fullmatch(address) and not re.fullmatch(r"[0-9.]+", address) else None


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
