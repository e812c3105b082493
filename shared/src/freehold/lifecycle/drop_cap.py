"""How many objects that hold data may be dropped in an hour through a ProviderConfig. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from freehold import confirmation
from freehold.kinds.account.providerconfig import CONFIRMED_UNTIL, Deletion
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason

_HOUR = timedelta(hours=1)


def cap_of(config: Object) -> int | None:
    """Most DROPs an hour; None for any number."""
    return Deletion.model_validate(config.spec.get("deletion") or {}).max_per_hour


def refusal(config: Object, now: datetime, *, before: int = 0) -> Stop | None:
    """Why nothing may be dropped now, and what to do about it; None when there is room.

    Args:
        config: the ProviderConfig.
        now: API server's time.
        before: DROPs to come that go first.
    """
    cap, until = cap_of(config), confirmation.until(config.annotations)
    if cap is None or len(recent(config, now)) + before < cap or (until is not None and now < until):
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


def recent(config: Object, now: datetime) -> list[datetime]:
    """The DROPs of the past hour, earliest first."""
    told = map(datetime.fromisoformat, config.status.get("recentDrops") or ())
    return [each for each in told if now - each < _HOUR]
