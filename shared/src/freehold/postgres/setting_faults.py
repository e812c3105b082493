"""What is wrong with settings beyond what their schema tells, whoever makes them: a class or a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from freehold import schedules
from freehold.postgres import hba, images, parameters, quantities, versions
from freehold.postgres.settings import ResourceRequirements, Settings

_PAIRED = ("cpu", "memory", "ephemeral-storage")
"""Resources whose request can't exceed their limit."""

_MIN_WAL_SIZE, _MAX_WAL_SIZE = 80 * 1024**2, 1024**3
"""PostgreSQL's defaults, in bytes."""

_TRUE = frozenset({"on", "true", "yes", "1", "t", "tr", "tru", "y", "ye"})


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


def joint_faults(settings: Settings, image: str, version: str) -> tuple[str, ...]:
    """What is wrong with the settings of a cluster as they come together, for people.

    Args:
        settings: all of them.
        image: of the servers.
        version: of PostgreSQL.
    """
    return (*_of_image(image, version), *_of_sizes(settings), *_of_log(settings), *_of_standbys(settings))


def _of_image(image: str, version: str) -> Iterator[str]:
    if images.major(image) != versions.major(version):
        yield (
            f"spec.postgresImage: the tag of {image} doesn't begin with major version {versions.major(version)} of "
            "postgresVersion: set both to the same one"
        )


def _of_sizes(settings: Settings) -> Iterator[str]:
    """Sizes of memory and of the write-ahead log, each within what holds it."""
    given, place = settings.postgresql_config or {}, "spec.postgresqlConfig"
    sizes: dict[str, int] = {}
    for name in ("shared_buffers", "min_wal_size", "max_wal_size"):
        try:
            if name in given:
                sizes[name] = quantities.size(given[name])
        except ValueError as error:
            yield f"{place}.{name}: {error}"
    requests = (settings.resources.requests if settings.resources else None) or {}
    memory = quantities.parse(requests["memory"]) if "memory" in requests else None
    if (
        memory
        and sizes.get("shared_buffers", 0) > memory
        and not any(each.startswith("hugepages-") for each in requests)
    ):
        yield (
            f"{place}.shared_buffers: {given['shared_buffers']} is more than the memory that is asked for, "
            f"{requests['memory']}: lower it, or raise spec.resources.requests.memory"
        )
    least, most = sizes.get("min_wal_size", _MIN_WAL_SIZE), sizes.get("max_wal_size", _MAX_WAL_SIZE)
    if least >= most:
        yield f"{place}: min_wal_size (80MB by default) must be less than max_wal_size (1GB by default)"
    volume = quantities.parse(settings.wal_storage) if settings.wal_storage else None
    for name in ("min_wal_size", "max_wal_size"):
        if volume and sizes.get(name, 0) >= volume:
            yield f"{place}.{name}: {given[name]} doesn't fit on the volume of spec.walStorage: lower it"


def _of_log(settings: Settings) -> Iterator[str]:
    given, place = settings.postgresql_config or {}, "spec.postgresqlConfig"
    if given.get("wal_level", "logical") not in ("logical", "replica"):
        yield f"{place}.wal_level: {given['wal_level']} isn't enough for archiving and standbys: use replica or logical"
    hints = given.get("wal_log_hints", "on")
    if hints.lower() not in _TRUE and (settings.instances or 1) > 1:
        yield f"{place}.wal_log_hints: {hints} keeps standbys from following a new primary: set it to on"


def _of_standbys(settings: Settings) -> Iterator[str]:
    synchronous, instances = settings.synchronous_replication, settings.instances or 1
    if synchronous and synchronous.number >= instances:
        yield (
            f"spec.synchronousReplication.number: {synchronous.number} is as many as there are instances "
            f"({instances}) or more, and one of them is the primary: lower it, or raise spec.instances"
        )
