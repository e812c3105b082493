"""What is counted, timed and traced of the talk with Snowflake.

Only gauges are told apart by provider, `<namespace>/<name>`: they are asked for at each scrape, so that a
ProviderConfig that is gone leaves nothing behind. No series tells of a resource's name, of SQL or of a message.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Histogram

from freehold import tracing
from freehold.metrics import REGISTRY, LiveGauge
from freehold.snowflake.errors import LoginFailed, SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.sql import Sql

_STATEMENTS = Counter(
    "freehold_snowflake_statements",
    "Statements by kind of the resource that they serve (empty: none), their first word, and result (ok, cancelled, "
    "failed, or the class of the server's error). What sets up a session belongs to its log-in.",
    ["kind", "verb", "result"],
    registry=REGISTRY,
)
_DURATION = Histogram(
    "freehold_snowflake_statement_duration_seconds",
    "Time from sending a statement to its last row, by its first word.",
    ["verb"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=REGISTRY,
)
_LOGINS = Counter(
    "freehold_snowflake_logins",
    "Log-ins by result (ok, cancelled, failed, or the reason that the ProviderConfig's condition gives).",
    ["result"],
    registry=REGISTRY,
)
_LOGIN_DURATION = Histogram(
    "freehold_snowflake_login_duration_seconds",
    "Duration of a log-in with all that sets its session up.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=REGISTRY,
)
WITHHELD_LOGINS = Counter(
    "freehold_snowflake_logins_withheld",
    "Log-ins that weren't tried since the same was refused before.",
    registry=REGISTRY,
)
SESSIONS = LiveGauge(
    "freehold_snowflake_sessions", "Sessions by provider and state (opening, used, idle).", ["provider", "state"]
)
BREAKER_STATE = LiveGauge(
    "freehold_snowflake_breaker_state",
    "Circuit breaker of a provider: 0 closed, 1 open (nothing is sent), 2 half-open (one statement is).",
    ["provider"],
)
BUDGET_DEMAND = LiveGauge(
    "freehold_snowflake_budget_demand", "Part of an account's budget that this process has wanted lately.", ["account"]
)
BUDGET_SHARE = LiveGauge(
    "freehold_snowflake_budget_share", "Part of an account's budget that this process may use.", ["account"]
)
BUDGET_WAIT = Histogram(
    "freehold_snowflake_budget_wait_seconds",
    "Time that a statement has waited for its turn in the budget of its account.",
    buckets=(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)
SNAPSHOT_REQUESTS = Counter(
    "freehold_snowflake_snapshot_requests",
    "Looks at objects that a snapshot would do for: hit (there was one), joined (it was being read), read (it was read "
    "for this one) or single (the object was asked for alone, since few had asked for its scope, or Snowflake can't "
    "tell that as a whole).",
    ["result"],
    registry=REGISTRY,
)
SNAPSHOT_AGE = Histogram(
    "freehold_snowflake_snapshot_age_seconds",
    "Age of a snapshot that was there when it was asked for.",
    buckets=(1, 5, 15, 30, 60, 150, 300, 600, 900),
    registry=REGISTRY,
)
SNAPSHOT_ROWS = LiveGauge("freehold_snowflake_snapshot_rows", "Rows that snapshots keep in memory.", [])


@contextmanager
def sending(statement: Sql, tag: QueryTag | None) -> Iterator[None]:
    """Count, time and trace a statement while it is under way.

    Args:
        statement: what is sent.
        tag: the resource that it serves; None for none.
    """
    verb, kind = statement.shown.split(maxsplit=1)[0], tag.kind if tag else ""
    attributes = {"db.system.name": "snowflake", "db.operation.name": verb, "freehold.kind": kind}
    result, begun = "failed", time.monotonic()
    with tracing.span(verb, attributes) as span:
        try:
            yield
            result = "ok"
        except SnowflakeError as error:
            result = error.error_class.value
            if error.number is not None:
                span.set_attribute("db.response.status_code", f"{error.number:06d}")
            raise
        except asyncio.CancelledError:
            result = "cancelled"
            raise
        finally:
            span.set_attribute("freehold.result", result)
            _STATEMENTS.labels(kind, verb, result).inc()
            _DURATION.labels(verb).observe(time.monotonic() - begun)


@contextmanager
def logging_in() -> Iterator[None]:
    """Count, time and trace a log-in while it is under way."""
    result = "failed"
    with tracing.span("log-in", {"db.system.name": "snowflake"}) as span, _LOGIN_DURATION.time():
        try:
            yield
            result = "ok"
        except LoginFailed as error:
            result = error.reason
            raise
        except asyncio.CancelledError:
            result = "cancelled"
            raise
        finally:
            span.set_attribute("freehold.result", result)
            _LOGINS.labels(result).inc()
