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
from freehold.metrics import REGISTRY
from freehold.snowflake.errors import SnowflakeError
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
