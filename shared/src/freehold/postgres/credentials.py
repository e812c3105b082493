"""Secrets with the password of a role: those that are generated, and what is asked of those that people bring."""

from __future__ import annotations

import base64
import binascii
import string
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from freehold.kube.objects import SECRETS, Object
from freehold.postgres.cluster import PostgresClusterSpec
from freehold.postgres.names import ClusterNames
from freehold.postgres.objects import RELOAD, Owner, encoded, made

SUPERUSER = "postgres"

LENGTH, DIGITS = 32, 8
"""Characters of a generated password, and how many of them are digits. None has to be escaped in a URI."""


def superuser_secret(spec: PostgresClusterSpec, published: str | None, names: ClusterNames) -> str:
    """Name of the Secret with the superuser's password: the one that the spec brings, or the one that it has had all
    along.

    Args:
        spec: of the PostgresCluster.
        published: the name in its status; None before there is one.
        names: of what is made for it.
    """
    if spec.password_config:
        return spec.password_config.superuser_external_secret_ref.name
    return published or names.superuser_secret


def password(random: Random) -> str:
    """A new password.

    Args:
        random: where chance comes from: `random.SystemRandom`, but in tests.
    """
    letters = [random.choice(string.ascii_lowercase), random.choice(string.ascii_uppercase)]
    letters += random.choices(string.ascii_letters, k=LENGTH - DIGITS - len(letters))
    characters = letters + random.choices(string.digits, k=DIGITS)
    random.shuffle(characters)
    return "".join(characters)


def generated(name: str, role: str, secret: str, owner: Owner) -> dict[str, Any]:
    """The Secret of a role. It is only ever created: its data is never written again.

    Args:
        name: of the Secret.
        role: whose password it is.
        secret: the password.
        owner: what it goes with.
    """
    data = encoded({"username": role, "password": secret})
    return made(SECRETS, name, owner, labels=RELOAD, type="kubernetes.io/basic-auth", data=data)


class Flaw(StrEnum):
    """What a Secret lacks, as a condition's reason."""

    MISSING = "ExternalSecretMissing"
    MISSING_DATA = "ExternalSecretMissingData"
    MISSING_KEYS = "ExternalSecretMissingKeys"
    INVALID_USERNAME = "ExternalSecretInvalidUsername"
    MISSING_RELOAD_LABEL = "ExternalSecretMissingReloadLabel"


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a Secret can't be used. What is in it is told nowhere.

    Attributes:
        flaw: what it lacks.
        name: of the Secret.
        role: whose password it should hold.
    """

    flaw: Flaw
    name: str
    role: str

    def __str__(self) -> str:
        (label, value), *_ = RELOAD.items()
        wrong = {
            Flaw.MISSING: "doesn't exist: create it with the keys username and password",
            Flaw.MISSING_DATA: "is empty: give it the keys username and password",
            Flaw.MISSING_KEYS: "lacks username or password: give it both keys",
            Flaw.INVALID_USERNAME: f"has another username than {self.role}: set its key username to that",
            Flaw.MISSING_RELOAD_LABEL: f"isn't followed by CloudNativePG: give it the label {label}={value}",
        }
        return f"Secret {self.name} {wrong[self.flaw]}"


def flaw(name: str, found: Object | None, role: str) -> Unusable | None:
    """Why a Secret that somebody brings can't be used; None when it can.

    Args:
        name: of the Secret.
        found: the Secret; None where there is none.
        role: whose password it should hold.
    """
    found_flaw = _flaw(found, role)
    return Unusable(found_flaw, name, role) if found_flaw else None


def _flaw(found: Object | None, role: str) -> Flaw | None:
    if found is None:
        return Flaw.MISSING
    data: Mapping[str, str] = found.raw.get("data") or {}
    if not data:
        return Flaw.MISSING_DATA
    if not data.get("username") or not data.get("password"):
        return Flaw.MISSING_KEYS
    if _decoded(data["username"]) != role:
        return Flaw.INVALID_USERNAME
    return None if found.labels.items() >= RELOAD.items() else Flaw.MISSING_RELOAD_LABEL


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
