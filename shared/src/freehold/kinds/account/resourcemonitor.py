"""Resource monitors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from freehold import sql
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import own_name, prop, ref
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, TO_NULL, set_to
from freehold.kinds.resource import Rule, exclusive, only_when
from freehold.kinds.values import Codec, Number, Word
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

IMMEDIATELY = "IMMEDIATELY"

TriggerAction = Literal["NOTIFY", "SUSPEND", "SUSPEND_IMMEDIATE"]
_COLUMNS: Mapping[TriggerAction, str] = {
    "NOTIFY": "notify_at",
    "SUSPEND": "suspend_at",
    "SUSPEND_IMMEDIATE": "suspend_immediately_at",
}
"""Where SHOW prints the thresholds of an action."""
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"


class Trigger(Model):
    """What is done once a part of the quota is used."""

    threshold: int = Field(ge=1, le=1_000_000)
    """Percent of creditQuota; more than 100 is possible."""
    action: TriggerAction
    """Send a notification; also suspend the warehouses once their statements are done; or at once."""

    def __str__(self) -> str:
        return f"{self.action} at {self.threshold}%"


class _Triggers(Codec):
    """Triggers as a set."""

    def render(self, value: Sequence[Trigger]) -> Sql:
        return sql.join(
            sql.sql(
                "ON {threshold} PERCENT DO {action}",
                threshold=sql.number(each.threshold),
                action=sql.words(each.action),
            )
            for each in value
        )

    def canonical(self, value: Sequence[Trigger]) -> tuple[Trigger, ...]:
        return tuple(sorted(set(value), key=lambda each: (each.threshold, each.action)))

    def read(self, raw: object) -> object:
        return raw


def _triggers(observation: Observation) -> object:
    if not observation.row.keys() >= set(_COLUMNS.values()):
        return UNKNOWN
    return _Triggers().canonical(
        [
            Trigger(threshold=int(each.strip(" %")), action=action)
            for action, column in _COLUMNS.items()
            for each in str(observation.row[column] or "").split(",")
            if each.strip()
        ]
    )


class _Credits(Number):
    """Credits, printed with two decimals, or as NULL where there is no limit."""

    def read(self, raw: object) -> float | None:
        return float(str(raw)) if raw not in (None, "") else None


class _Time(Codec):
    """A minute in UTC, which SHOW prints in the time zone of the session; or that it is to be at once."""

    def render(self, value: Any) -> Sql:
        if value == IMMEDIATELY:
            return sql.words(IMMEDIATELY)
        return sql.literal(f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value))

    def canonical(self, value: str) -> object:
        return value if value == IMMEDIATELY else _minute(value)

    def read(self, raw: object) -> object:
        if raw in (None, ""):
            return None
        try:
            return _minute(re.sub(r" (?=[Z+-])", "", str(raw)))
        except ValueError:
            return UNKNOWN


def _minute(text: str) -> datetime:
    """A date with a time; without a zone it is UTC.

    Raises:
        ValueError: there is no such time.
    """
    found = datetime.fromisoformat(text)
    found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return found.replace(second=0, microsecond=0)


class _Users(Codec):
    """Users by their stored names, as a set, printed with a comma and a blank between them."""

    def render(self, value: Sequence[str]) -> Sql:
        return sql.sql("({all})", all=sql.join(map(sql.identifier, value), ", "))

    def canonical(self, value: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(set(value)))

    def read(self, raw: object) -> tuple[str, ...]:
        return self.canonical(str(raw).split(", ") if raw else ())


def _listable(name: str) -> None:
    if "," in name:
        raise ValueError(f"{name!r} has a comma, by which Snowflake separates the users that it lists: rename the user")


class ResourceMonitorSpec(SnowflakeSpec):
    """A limit of the credits that warehouses or the account use, and what is done when it is reached."""

    name: Name = own_name()
    """The monitor's name as it is stored: case kept, never folded."""
    credit_quota: int | None = prop("CREDIT_QUOTA", show="credit_quota", codec=_Credits(), reset=TO_NULL, ge=1)
    """Credits of an interval. Without it there is no limit."""
    frequency: Literal["MONTHLY", "DAILY", "WEEKLY", "YEARLY", "NEVER"] | None = prop(
        "FREQUENCY", show="frequency", codec=Word(quoted=False), reset=KEEP
    )
    """How often the used credits go back to 0, which is at 00:00 UTC; by itself at the start of each month. Removed,
    the live schedule stays."""
    start_timestamp: str | None = prop(
        "START_TIMESTAMP",
        show="start_time",
        codec=_Time(),
        reset=KEEP,
        on_change=True,
        check=_Time().canonical,
        pattern=rf"^({IMMEDIATELY}|{_TIME})$",
        max_length=16,
    )
    """When the first interval begins: YYYY-MM-DD HH:MI in UTC, a time to come, or IMMEDIATELY. It is sent when it or
    frequency changes, and then the used credits may go back to 0."""
    end_timestamp: str | None = prop(
        "END_TIMESTAMP",
        show="end_time",
        codec=_Time(),
        reset=TO_NULL,
        check=_Time().canonical,
        pattern=f"^{_TIME}$",
        max_length=16,
    )
    """When the warehouses are suspended, whatever they have used: YYYY-MM-DD HH:MI in UTC."""
    notify_users: list[Name] | None = prop(
        "NOTIFY_USERS",
        show="notify_users",
        codec=_Users(),
        reset=set_to(()),
        # One user without a verified address, and the whole statement fails: the limits must go through.
        own_statement=True,
        check=_listable,
        max_length=100,
    )
    """Users that are told by e-mail, at an address that they have verified; at most 5 that are no administrators. For
    warehouses only: a monitor of the account tells administrators alone."""
    notify_user_refs: list[Reference] | None = ref("User", instead_of="notify_users", max_length=100)
    """The Users to tell, in place of their names."""
    triggers: list[Trigger] | None = prop(
        "TRIGGERS",
        joint=" ",
        observe=_triggers,
        codec=_Triggers(),
        # Snowflake lets no monitor lose all of them.
        recreate_when=lambda _old, new: not new,
        min_length=1,
        max_length=7,
    )
    """What is done at which part of creditQuota: at most 5 times NOTIFY, once SUSPEND and once SUSPEND_IMMEDIATE."""


def _advice(spec: ResourceMonitorSpec) -> tuple[str, ...]:
    if spec.triggers or spec.credit_quota is None:
        return ()
    return ("spec.triggers: without them nothing happens when creditQuota is used up",)


RESOURCE_MONITOR = Kind(
    spec=ResourceMonitorSpec,
    domain=Domain.ACCOUNT,
    object_type="RESOURCE MONITOR",
    level=Level.ACCOUNT,
    holds_data=False,
    shown_in_pages=False,
    created_by="ACCOUNTADMIN",
    separator=" ",
    introduction="WITH",
    # Neither of the first two is taken without the other; triggers alone are refused at times.
    companions={
        "frequency": ("startTimestamp",),
        "startTimestamp": ("frequency",),
        "triggers": ("creditQuota",),
    },
    volatile=frozenset({"used_credits", "remaining_credits"}),
    rules=(
        Rule(
            "has(self.frequency) == has(self.startTimestamp)",
            "set frequency and startTimestamp together, or neither",
        ),
        Rule(
            f"!has(self.startTimestamp) || !has(self.endTimestamp) || self.startTimestamp == '{IMMEDIATELY}' || "
            "self.startTimestamp < self.endTimestamp",
            "endTimestamp must be later than startTimestamp",
            "endTimestamp",
        ),
        exclusive("notifyUsers", "notifyUserRefs"),
        only_when(("triggers",), "has(self.creditQuota)", "triggers are percentages of creditQuota: set it, too"),
        *(
            Rule(
                f"!has(self.triggers) || self.triggers.filter(each, each.action == '{action}').size() <= {most}",
                f"triggers holds {action} at most {'once' if most == 1 else f'{most} times'}",
                "triggers",
            )
            for action, most in (("NOTIFY", 5), ("SUSPEND", 1), ("SUSPEND_IMMEDIATE", 1))
        ),
        Rule(
            "!has(self.triggers) || self.triggers.all(each, self.triggers.exists_one(other, other == each))",
            "triggers names one threshold for an action twice",
            "triggers",
        ),
    ),
    advice=_advice,
)
