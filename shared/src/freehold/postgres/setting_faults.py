"""What is wrong with settings beyond what their schema tells, whoever makes them: a class or a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from freehold import schedules
from freehold.postgres import hba, parameters, quantities, versions
from freehold.postgres.settings import ResourceRequirements, Settings

_PAIRED = ("cpu", "memory", "ephemeral-storage")
"""Resources whose request can't exceed their limit."""


def faults(settings: Settings, place: str) -> tuple[str, ...]:
    """What is wrong, one sentence each, for people.

    Args:
        settings: those that are set.
        place: field that holds them, such as `spec.config`.
    """
    return tuple(_found(settings, place))


def _found(settings: Settings, place: str) -> Iterator[str]:
    yield from parameters.faults(settings.postgresql_config or {}, f"{place}.postgresqlConfig")
    for index, line in enumerate(settings.pg_hba or ()):
        if fault := hba.fault(line):
            yield f"{place}.pgHBA[{index}]: {fault}"
    if settings.postgres_version and (fault := versions.fault(settings.postgres_version)):
        yield f"{place}.postgresVersion: {fault}"
    if settings.resources:
        yield from _overdrawn(settings.resources, f"{place}.resources")
    if settings.backup and settings.backup.schedule:
        try:
            schedules.check_fields(settings.backup.schedule)
        except schedules.InvalidSchedule as error:
            yield f"{place}.backup.schedule: {error}: write minute, hour, day of month, month and day of week"


def _overdrawn(resources: ResourceRequirements, place: str) -> Iterator[str]:
    requests, limits = resources.requests or {}, resources.limits or {}
    for name in _PAIRED:
        if name in requests and name in limits and quantities.parse(requests[name]) > quantities.parse(limits[name]):
            yield f"{place}: {name} asks for {requests[name]}, but is limited to {limits[name]}: raise the limit"
