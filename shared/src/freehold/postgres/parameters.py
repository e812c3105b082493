"""Parameters of PostgreSQL: which ones a cluster may set, and how they get to CloudNativePG, which has defaults of its
own in the same map. Ours are applied by a field manager of their own, so that each key has one writer.

Rules: "PostgreSQL Configuration" in CloudNativePG's documentation; "Server-Side Apply" in Kubernetes'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freehold.kinds.kind import Domain
from freehold.kube.objects import Object

MANAGER = "freehold-postgres-parameters"
"""Field manager of the parameters that a cluster sets."""

_YIELDING = frozenset({f"freehold-{Domain.POSTGRES.value}", "manager"})
"""Field managers whose keys give way to ours: that of our other writes, and CloudNativePG's operator, which writes its
defaults where its webhook is off. What the webhook writes has no manager."""

FIXED = frozenset({
    *("allow_system_table_mods", "archive_cleanup_command", "archive_command", "archive_mode", "bonjour"),
    *("bonjour_name", "cluster_name", "config_file", "data_directory", "data_sync_retry", "event_source"),
    *("external_pid_file", "hba_file", "hot_standby", "ident_file", "jit_provider", "listen_addresses"),
    *("log_destination", "log_directory", "log_file_mode", "log_filename", "log_rotation_age", "log_rotation_size"),
    *("log_truncate_on_rotation", "logging_collector", "pg_failover_slots.primary_dsn"),
    *("pg_failover_slots.standby_slot_names", "port", "primary_conninfo", "primary_slot_name"),
    *("promote_trigger_file", "recovery_end_command", "recovery_min_apply_delay", "recovery_target"),
    *("recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn", "recovery_target_name"),
    *("recovery_target_time", "recovery_target_timeline", "recovery_target_xid", "restart_after_crash"),
    *("restore_command", "shared_preload_libraries", "ssl", "ssl_ca_file", "ssl_cert_file", "ssl_crl_file"),
    *("ssl_dh_params_file", "ssl_key_file", "ssl_passphrase_command", "ssl_passphrase_command_supports_reload"),
    *("ssl_prefer_server_ciphers", "stats_temp_directory", "synchronized_standby_slots", "synchronous_standby_names"),
    *("syslog_facility", "syslog_ident", "syslog_sequence_numbers", "syslog_split_messages", "temp_tablespaces"),
    *("unix_socket_directories", "unix_socket_group", "unix_socket_permissions"),
})  # fmt: skip
"""Parameters that CloudNativePG sets itself, or keeps from being set."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?")
_REMEDIES: Mapping[str, str] = {
    "synchronous_standby_names": "set synchronousReplication",
    "shared_preload_libraries": "set a parameter of the extension, which has CloudNativePG load it",
}


def faults(parameters: Mapping[str, str], place: str) -> tuple[str, ...]:
    """What CloudNativePG would refuse, for people.

    Args:
        parameters: by name.
        place: field that holds them.
    """
    return tuple(_found(parameters, place))


def _found(parameters: Mapping[str, str], place: str) -> Iterator[str]:
    for name in sorted(parameters):
        if not _NAME.fullmatch(name):
            yield f"{place}: {name!r} is no name of a parameter: take it out, or write a name such as work_mem"
        elif name in FIXED:
            remedy = _REMEDIES.get(name, "take it out")
            yield f"{place}: {name} is CloudNativePG's own to set: {remedy}"


@dataclass(frozen=True, slots=True)
class Contested:
    """A parameter that somebody else has set to another value.

    Attributes:
        name: the parameter.
        wanted: its value in the cluster's spec.
        found: its value in the CloudNativePG Cluster.
        manager: field manager of who set it.
    """

    name: str
    wanted: str
    found: str
    manager: str

    def __str__(self) -> str:
        return (
            f"{self.name} was set to {self.found!r} by {self.manager} in the CloudNativePG Cluster, and not to "
            f"{self.wanted!r}: take it out there, or have postgresqlConfig say the same"
        )


@dataclass(frozen=True, slots=True)
class Application:
    """What is to be done about the parameters.

    Attributes:
        apply: those to be applied, all of them at once and by force; None where nothing is to be done.
        contested: those that are left to somebody else.
    """

    apply: Mapping[str, str] | None
    contested: tuple[Contested, ...]


def application(wanted: Mapping[str, str], live: Object) -> Application:
    """How the parameters of a CloudNativePG Cluster become those wanted. What others have set is left to them.

    Args:
        wanted: by name.
        live: the CloudNativePG Cluster.
    """
    found = (live.spec.get("postgresql") or {}).get("parameters") or {}
    others: dict[str, str] = {}
    ours: set[str] = set()
    for manager, applied, names in _managers(live):
        if manager == MANAGER and applied:
            ours = names
        elif manager not in _YIELDING | {MANAGER}:
            others |= dict.fromkeys(names, manager)
    contested = tuple(
        Contested(name, value, found[name], others[name])
        for name, value in sorted(wanted.items())
        if name in others and found.get(name, value) != value
    )
    rest = {name: value for name, value in wanted.items() if name not in {each.name for each in contested}}
    same = ours == rest.keys() and all(found.get(name) == value for name, value in rest.items())
    return Application(None if same else rest, contested)


def body(parameters: Mapping[str, str], live: Object) -> dict[str, Any]:
    """What is applied by `MANAGER`. The resourceVersion has it fail when the Cluster has changed since `live`, whose
    fields of others were looked at.

    Args:
        parameters: those to be applied.
        live: the CloudNativePG Cluster.
    """
    return {
        "apiVersion": live.raw["apiVersion"],
        "kind": live.kind,
        "metadata": {"name": live.name, "namespace": live.namespace, "resourceVersion": live.resource_version},
        "spec": {"postgresql": {"parameters": dict(parameters)}},
    }


def _managers(live: Object) -> Iterator[tuple[str, bool, set[str]]]:
    """(field manager, whether it applies, parameters that it has set)."""
    for entry in live.metadata.get("managedFields") or ():
        fields = entry.get("fieldsV1") or {}
        for step in ("f:spec", "f:postgresql", "f:parameters"):
            fields = fields.get(step) or {}
        names = {name.removeprefix("f:") for name in fields if name.startswith("f:")}
        yield str(entry.get("manager", "")), entry.get("operation") == "Apply", names
