"""RESOURCE MONITOR: https://docs.snowflake.com/en/sql-reference/sql/create-resource-monitor and the pages beside it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, listed, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import REFUSED, Given, Part, Property
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Literal, Parser
from freehold_devstack.snowflake.results import text
from freehold_devstack.snowflake.show_columns import CREATED_ON, NAME, OWNER, printed_time, stored
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import Integer, ListOf, Reference, choice

_MAX_TRIGGERS: Mapping[str, int] = {"SUSPEND": 1, "SUSPEND_IMMEDIATE": 1, "NOTIFY": 5}
_MAX_NOTIFIED = 5
"""Users that are no administrators."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_AND_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?( ?(Z|[+-]\d{2}:?\d{2}))?")


# --- timestamps ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Timestamp:
    """A date as a string, with a time and a zone or without, or a word that stands for one."""

    word: str
    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind in {TokenKind.WORD, TokenKind.STRING} and literal.value.upper() == self.word:
            return self.word
        if literal.kind is TokenKind.STRING and (_DATE.fullmatch(literal.value) or _parsed(literal.value) is not None):
            return literal.value
        raise errors.unnumbered("Invalid date/time format string")


def _parsed(value: str) -> datetime | None:
    """A date with a time; without a zone it is UTC."""
    if not _DATE_AND_TIME.fullmatch(value):
        return None
    try:
        parsed = datetime.fromisoformat(re.sub(r" (?=[Z+-])", "", value))
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _milliseconds(value: str, now: int) -> int:
    """Since 1970; a date without a time means this time of that day."""
    if _DATE.fullmatch(value):
        value = f"{value} {datetime.fromtimestamp(now / 1000, UTC):%H:%M:%S}"
    parsed = _parsed(value)
    if parsed is None:
        raise errors.unnumbered("Invalid date/time format string")
    return int(parsed.timestamp() * 1000)


# --- rules -----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    created = context.catalog.get(draft.id) is None
    if created and given == {"TRIGGERS"}:
        raise errors.unnumbered("A resource monitor can't be created with triggers alone.")
    properties = {**draft.properties, **_schedule(context, draft.properties, given, created=created)}
    if "NOTIFY_USERS" in given:
        properties["NOTIFY_USERS"] = _notified(context, texts(draft.properties["NOTIFY_USERS"]))
    if properties["NOTIFY_USERS"] and draft.name == context.catalog.account.properties.get("RESOURCE_MONITOR"):
        raise errors.account_monitor_notifies(draft.name)
    _check_triggers(properties["TRIGGERS"])
    return replace(draft, properties=properties)


def _schedule(
    context: Context, properties: Mapping[str, Value], given: frozenset[str], *, created: bool
) -> Mapping[str, Value]:
    """When it starts and ends, in milliseconds since 1970."""
    if len(given & {"FREQUENCY", "START_TIMESTAMP"}) == 1:
        raise errors.unnumbered("FREQUENCY and START_TIMESTAMP have to be set together.")
    start, end = properties["START_TIMESTAMP"], properties["END_TIMESTAMP"]
    if "START_TIMESTAMP" in given or created:
        start = context.now if start in {None, "IMMEDIATELY"} else _milliseconds(str(start), context.now)
        if start < context.now:
            raise errors.start_has_passed()
    if "END_TIMESTAMP" in given:
        end = None if end == "NULL" else _milliseconds(str(end), context.now)
    if isinstance(start, int) and isinstance(end, int) and end <= start:
        raise errors.unnumbered("END_TIMESTAMP has to be later than START_TIMESTAMP.")
    return {"START_TIMESTAMP": start, "END_TIMESTAMP": end}


def _notified(context: Context, names: Sequence[str]) -> tuple[int, ...]:
    """The ids of users that can be told by mail."""
    users = []
    for name in names:
        user = context.catalog.find("USER", name)
        if user is None:
            raise errors.notified_user_missing(name)
        if not user.properties.get("EMAIL"):
            raise errors.unnumbered(f"The e-mail address of user {name} is not verified.")
        if user.id in users:
            raise errors.unnumbered(f"User {name} is listed twice in NOTIFY_USERS.")
        users.append(user.id)
    administrators = context.catalog.find("ROLE", "ACCOUNTADMIN")
    plain = [
        user
        for user in users
        if administrators is None or administrators.id not in context.catalog.inherited_roles(user)
    ]
    if len(plain) > _MAX_NOTIFIED:
        raise errors.unnumbered(f"At most {_MAX_NOTIFIED} users that are no administrators can be notified.")
    return tuple(users)


def _check_triggers(value: Value) -> None:
    triggers = _triggers(value)
    for (threshold, action), count in Counter(triggers).items():
        if threshold < 1 or count > 1:
            raise errors.unnumbered(f"Invalid trigger: ON {threshold} PERCENT DO {action}.")
    for action, count in Counter(action for _, action in triggers).items():
        if count > _MAX_TRIGGERS[action]:
            most = "one" if _MAX_TRIGGERS[action] == 1 else str(_MAX_TRIGGERS[action])
            plural = "" if most == "one" else "s"
            raise errors.unnumbered(f"A resource monitor can have at most {most} {action.lower()} trigger{plural}.")


def _triggers(value: Value) -> list[tuple[int, str]]:
    """Thresholds in percent, with what is done then."""
    return [(int(threshold), action) for threshold, action in map(texts, listed(value))]


# --- assignment ------------------------------------------------------------------------------------------------------


def _assigned(context: Context, monitor: CatalogObject) -> list[CatalogObject]:
    """The account and the warehouses that the monitor watches."""
    holders = [context.catalog.account, *context.catalog.members("WAREHOUSE")]
    return [holder for holder in holders if holder.properties.get("RESOURCE_MONITOR") == monitor.name]


def _dropping(context: Context, monitor: CatalogObject) -> None:
    """What it watched goes on without it."""
    for holder in _assigned(context, monitor):
        context.catalog.update(holder, replace(holder, properties={**holder.properties, "RESOURCE_MONITOR": None}))


# --- parsing ---------------------------------------------------------------------------------------------------------


def _parse_with(parser: Parser) -> Given:
    if parser.accept("WITH") and parser.at_end():
        raise parser.unexpected()
    return {}


def _parse_triggers(parser: Parser) -> Given:
    triggers: list[tuple[int, str]] = []
    while not triggers or not parser.at_end():
        parser.expect("ON")
        threshold = parser.integer()
        parser.expect("PERCENT", "DO")
        triggers.append((threshold, parser.choose(*_MAX_TRIGGERS)))
    return {"TRIGGERS": tuple(triggers)}


# --- the declaration -------------------------------------------------------------------------------------------------


def _quota(monitor: CatalogObject) -> int | None:
    quota = monitor.properties["CREDIT_QUOTA"]
    return quota if isinstance(quota, int) else None


def _used(context: Context, monitor: CatalogObject) -> float:
    """Credits; they grow and shrink by themselves while there is something to watch."""
    watches = _assigned(context, monitor)
    return context.fluctuation(monitor, "credits", (_quota(monitor) or 100) * 100) / 100 if watches else 0


def _credit_quota(_context: Context, monitor: CatalogObject) -> Scalar:
    quota = _quota(monitor)
    return None if quota is None else f"{quota:.2f}"


def _remaining(context: Context, monitor: CatalogObject) -> Scalar:
    quota = _quota(monitor)
    return None if quota is None else f"{quota - _used(context, monitor):.2f}"


def _level(context: Context, monitor: CatalogObject) -> Scalar:
    return next((holder.kind for holder in _assigned(context, monitor)), None)


def _time(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    def value(context: Context, monitor: CatalogObject) -> Scalar:
        milliseconds = monitor.properties[name]
        if not isinstance(milliseconds, int):
            return None
        zone = ZoneInfo(str(context.session_parameter("TIMEZONE").value))
        return printed_time(milliseconds, zone)

    return value


def _thresholds(action: str) -> Callable[[Context, CatalogObject], Scalar]:
    def value(_context: Context, monitor: CatalogObject) -> Scalar:
        triggers = _triggers(monitor.properties["TRIGGERS"])
        return ",".join(f"{threshold}%" for threshold, done in triggers if done == action) or None

    return value


def _notified_names(context: Context, monitor: CatalogObject) -> Scalar:
    found = [context.catalog[int(user)] for user in texts(monitor.properties["NOTIFY_USERS"])]
    return ", ".join(user.name for user in found if user.dropped_on is None) or None


TYPE = ObjectType(
    kind="RESOURCE MONITOR",
    plural="RESOURCE MONITORS",
    signature=_parse_with,
    clauses=(Part("TRIGGERS", _parse_triggers, unsaid={"TRIGGERS": ()}),),
    alter_parts=(Part("TRIGGERS", _parse_triggers),),
    properties=(
        Property("CREDIT_QUOTA", Integer(1, null=True), unset=REFUSED),
        Property("FREQUENCY", choice("MONTHLY", "DAILY", "WEEKLY", "YEARLY", "NEVER"), "MONTHLY", unset=REFUSED),
        Property("START_TIMESTAMP", _Timestamp("IMMEDIATELY"), unset=REFUSED),
        Property("END_TIMESTAMP", _Timestamp("NULL"), unset=REFUSED),
        Property("NOTIFY_USERS", ListOf(Reference("")), (), unset=REFUSED),
    ),
    show=Show(
        (
            NAME,
            ShowColumn(text("credit_quota"), _credit_quota),
            ShowColumn(text("used_credits"), lambda context, obj: f"{_used(context, obj):.2f}"),
            ShowColumn(text("remaining_credits"), _remaining),
            ShowColumn(text("level"), _level),
            ShowColumn(text("frequency"), stored("FREQUENCY")),
            ShowColumn(text("start_time"), _time("START_TIMESTAMP")),
            ShowColumn(text("end_time"), _time("END_TIMESTAMP")),
            ShowColumn(text("notify_at"), _thresholds("NOTIFY")),
            ShowColumn(text("suspend_at"), _thresholds("SUSPEND")),
            ShowColumn(text("suspend_immediately_at"), _thresholds("SUSPEND_IMMEDIATE")),
            CREATED_ON,
            OWNER,
            ShowColumn(text("comment"), lambda *_: ""),
            ShowColumn(text("notify_users"), _notified_names),
        ),
        cut=True,
    ),
    renames=False,
    taggable=False,
    rights=Rights(
        create_role="ACCOUNTADMIN",
        grantable=frozenset({"MODIFY", "MONITOR"}),
        alter="MODIFY",
        shown_to=frozenset({"MODIFY", "MONITOR"}),
    ),
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=_dropping,
    ),
)
