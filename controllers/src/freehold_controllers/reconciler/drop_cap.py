"""How many objects that hold data may be dropped in an hour through a ProviderConfig, whoever drops them.

The times of the latest DROPs stand in its status, written by compare-and-set before each, so that controllers and
restarts all count together. Without a cap nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from freehold import confirmation
from freehold.kinds.account.providerconfig import CONFIRMED_UNTIL, PROVIDER_CONFIG, Deletion
from freehold.kube.errors import Conflict, NotFound
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.services import Services

_HOUR = timedelta(hours=1)

_ATTEMPTS = 10
"""Tries to write the status of a ProviderConfig that others write, too."""


def cap_of(config: Object) -> int | None:
    """Most DROPs an hour; None for any number."""
    return Deletion.model_validate(config.spec.get("deletion") or {}).max_per_hour


def refusal(config: Object, now: datetime) -> Stop | None:
    """Why nothing may be dropped now, and what to do about it; None when there is room.

    Args:
        config: the ProviderConfig.
        now: API server's time.
    """
    cap, until = cap_of(config), confirmation.until(config.annotations)
    if cap is None or len(_recent(config, now)) < cap or (until is not None and now < until):
        return None
    wrong = f" (it is {text!r} now)" if (text := confirmation.unreadable(config.annotations)) else ""
    rule = (
        f"no more than {cap} of the objects that hold data be dropped in an hour, and that many were. It goes on by "
        "itself when the hour has room again; to go on at once"
        if cap
        else "no object that holds data be dropped without a confirmation. To go on"
    )
    return Stop(
        Reason.DELETE_BLOCKED,
        f"ProviderConfig {config.namespace}/{config.name} lets {rule}, set the annotation {CONFIRMED_UNTIL} of the "
        f"ProviderConfig to a time to come, as {confirmation.FORM}{wrong}",
        soon=True,
    )


def hindrance(services: Services, managed: Managed) -> Stop | None:
    """The same for the object of a resource, as far as the live copy tells; nothing for what isn't capped."""
    config = services.reflectors[PROVIDER_CONFIG.kind].store.get(managed.provider)
    return refusal(config, services.now) if managed.kind.holds_data and config else None


async def spend(services: Services, managed: Managed) -> datetime | None:
    """Count a DROP that is about to be sent, on a live read: the cap may have been set a moment ago.

    Returns:
        When it was counted; None where nothing is.

    Raises:
        Stopped: there is no room.
        ApiError: the API server doesn't let us.
    """
    namespace, name = managed.provider
    if not managed.kind.holds_data:
        return None
    now = services.now
    for _ in range(_ATTEMPTS):
        try:
            config = await services.kube.get(PROVIDER_CONFIG.path, name, namespace)
        except NotFound:
            return None
        if cap_of(config) is None:
            return None
        if stop := refusal(config, now):
            raise Stopped(stop)
        try:
            await _write(services, config, [*_recent(config, now), now])
        except Conflict:
            continue
        return now
    raise Stopped(Stop(Reason.DELETING, f"ProviderConfig {namespace}/{name} keeps changing", soon=True))


async def give_back(services: Services, managed: Managed, counted: datetime | None) -> None:
    """Take a DROP back that was counted and has certainly dropped nothing.

    Args:
        services: the outside world.
        managed: the resource.
        counted: what `spend` has answered.
    """
    if counted is None:
        return
    namespace, name = managed.provider
    for _ in range(_ATTEMPTS):
        config = await services.kube.get(PROVIDER_CONFIG.path, name, namespace)
        try:
            await _write(services, config, [each for each in _recent(config, services.now) if each != counted])
        except Conflict:
            continue
        return


async def _write(services: Services, config: Object, drops: Sequence[datetime]) -> None:
    # No more than the cap compares with: a confirmation may let any number through.
    kept = drops[len(drops) - min(len(drops), cap_of(config) or 0) :]
    body = {
        "metadata": {"resourceVersion": config.resource_version},
        "status": {"recentDrops": [each.isoformat().replace("+00:00", "Z") for each in kept] or None},
    }
    path, manager = PROVIDER_CONFIG.path, services.manager
    await services.kube.patch(path, config.name, config.namespace, body, subresource="status", field_manager=manager)


def _recent(config: Object, now: datetime) -> list[datetime]:
    """The DROPs of the past hour, earliest first."""
    told = map(datetime.fromisoformat, config.status.get("recentDrops") or ())
    return [each for each in told if now - each < _HOUR]
