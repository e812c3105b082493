"""Keeping to the cap of a ProviderConfig (`freehold.lifecycle.drop_cap`), whoever drops.

The times of the latest DROPs stand in its status, written by compare-and-set before each, so that controllers and
restarts all count together. Without a cap nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.errors import Conflict, NotFound
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.drop_cap import cap_of, recent, refusal
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.services import Services

_ATTEMPTS = 10
"""Tries to write the status of a ProviderConfig that others write, too."""


def hindrance(services: Services, managed: Managed) -> Stop | None:
    """As `refusal`, for the object of a resource, as far as the live copy tells; nothing for what isn't capped."""
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
            await _write(services, config, [*recent(config, now), now])
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
            await _write(services, config, [each for each in recent(config, services.now) if each != counted])
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
