"""The Secrets and the ConfigMap of a database: made once, made anew when lost, with a new password on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freehold.kube.objects import CONFIG_MAPS, SECRETS, Object
from freehold.postgres.database import DatabaseDefinition
from freehold.postgres.names import DatabaseNames, Part
from freehold.postgres.normal_form import METADATA, Map, Struct
from freehold.postgres.objects import RELOAD, Owner, encoded, made, present
from freehold.postgres.placing import placed

ROTATE = "freehold.dev/rotate-passwords"
"""Annotation of a PostgresDatabase: whenever its value changes, generated passwords are made anew."""
ROTATED = "freehold.dev/rotated"
"""Annotation of a Secret: the value that its password was made for."""

_TYPE = "kubernetes.io/basic-auth"

COPY_FIELDS = Struct({"metadata": METADATA, "data": Map()})
"""What is compared, and may be written, of a copy and of a ConfigMap."""


def parts(entry: DatabaseDefinition) -> dict[Part, str]:
    """The roles of a database."""
    roles: dict[Part, str | None] = {"admin": entry.admin_role, "rw": entry.rw_role, "ro": entry.ro_role}
    return {part: role for part, role in roles.items() if role}


def external(entry: DatabaseDefinition, part: Part) -> str | None:
    """Name of the Secret that people bring for a role; None where its password is generated."""
    config = entry.password_config
    if config is None:
        return None
    references = {
        "admin": config.external_admin_secret_ref,
        "rw": config.external_rw_secret_ref,
        "ro": config.external_ro_secret_ref,
    }
    reference = references[part]
    return reference.name if reference else None


def read_by_server(entry: DatabaseDefinition, names: DatabaseNames, part: Part) -> str:
    """Name of the Secret that CloudNativePG reads, which is beside the cluster: one that people bring in another
    namespace is copied there."""
    brought = external(entry, part)
    return names.role_secret(part) if brought is None or names.foreign else brought


def role_secret(
    names: DatabaseNames, part: Part, role: str, password: str, owner: Owner, *, asked: str | None = None
) -> dict[str, Any]:
    """The Secret of a role that CloudNativePG reads. It is only ever created, when it is lost, too: CloudNativePG gives
    the role the new password.

    Args:
        names: of what is made for the database.
        part: which of its roles.
        role: its name.
        password: a new one.
        owner: the PostgresDatabase.
        asked: the value of its annotation `ROTATE`.
    """
    return placed(
        SECRETS,
        names.cluster_namespace,
        names.role_secret(part),
        owner,
        labels=RELOAD,
        annotations=present(**{ROTATED: asked}),
        type=_TYPE,
        data=encoded({"username": role, "password": password}),
    )


def due(live: Object, asked: str | None) -> bool:
    """Whether a Secret is to have a new password.

    Args:
        live: the Secret.
        asked: the value of the annotation `ROTATE` of its PostgresDatabase; None where it has none.
    """
    return asked is not None and live.annotations.get(ROTATED) != asked


def rotation(live: Object, password: str, asked: str) -> dict[str, Any]:
    """The merge patch that gives a Secret another password. It says what it was made for in the same write, so that
    none is made twice.

    Args:
        live: the Secret.
        password: the new one.
        asked: what it is made for.
    """
    return {
        "metadata": {"resourceVersion": live.resource_version, "annotations": {ROTATED: asked}},
        "data": encoded({"password": password}),
    }


def for_applications(source: Object, names: DatabaseNames, part: Part, owner: Owner) -> dict[str, Any]:
    """The copy of a Secret beside the cluster that applications in the namespace of the PostgresDatabase read.

    Args:
        source: the Secret that CloudNativePG reads.
        names: of what is made for the database.
        part: which of its roles.
        owner: the PostgresDatabase.
    """
    return made(SECRETS, names.application_secret(part), owner, type=_TYPE, data=_data(source))


def for_server(source: Object, names: DatabaseNames, part: Part, owner: Owner) -> dict[str, Any]:
    """The copy beside the cluster, for CloudNativePG, of a Secret that people bring in another namespace.

    Args:
        source: the Secret that people bring.
        names: of what is made for the database.
        part: which of its roles.
        owner: the PostgresDatabase.
    """
    name = names.role_secret(part)
    return placed(SECRETS, names.cluster_namespace, name, owner, labels=RELOAD, type=_TYPE, data=_data(source))


def config_map(
    entry: DatabaseDefinition, names: DatabaseNames, endpoints: Mapping[str, str], owner: Owner
) -> dict[str, Any]:
    """What applications need beside the password.

    Args:
        entry: the database.
        names: of what is made for it.
        endpoints: of its cluster.
        owner: the PostgresDatabase.
    """
    users = {f"{part.upper()}_USER_NAME": role for part, role in parts(entry).items()}
    return made(CONFIG_MAPS, names.config_map, owner, data={**endpoints, "DATABASE_NAME": entry.name, **users})


def _data(source: Object) -> dict[str, str]:
    data: Mapping[str, str] = source.raw.get("data") or {}
    return {key: data[key] for key in ("username", "password") if key in data}
