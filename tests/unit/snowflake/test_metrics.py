"""What is counted of statements and log-ins, and which series there are of what is gone: none."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from freehold.metrics import REGISTRY, LiveGauge
from freehold.snowflake import metrics
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CredentialsRefused, OutcomeUnknown, SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.sql import sql

TAG = QueryTag("Warehouse", "team", "wh", "0b5e")


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.parametrize(
    ("end", "result"),
    [
        (None, "ok"),
        (SnowflakeError("no", number=3001), "permission"),
        (OutcomeUnknown("lost", error_class=ErrorClass.TRANSIENT), "transient"),
        (asyncio.CancelledError(), "cancelled"),
        (TypeError("a fault of ours"), "failed"),
    ],
)
def test_a_statement_is_counted_by_its_end(end: BaseException | None, result: str) -> None:
    labels = {"kind": "Warehouse", "verb": "ALTER", "result": result}
    before = counted("freehold_snowflake_statements_total", **labels)
    took = counted("freehold_snowflake_statement_duration_seconds_count", verb="ALTER")
    with suppress(*[type(end)] if end else []), metrics.sending(sql("ALTER WAREHOUSE W RESUME"), TAG):
        if end:
            raise end
    assert counted("freehold_snowflake_statements_total", **labels) == before + 1
    assert counted("freehold_snowflake_statement_duration_seconds_count", verb="ALTER") == took + 1


def test_a_statement_that_serves_no_resource_has_no_kind() -> None:
    before = counted("freehold_snowflake_statements_total", kind="", verb="SHOW", result="ok")
    with metrics.sending(sql("SHOW TABLES"), None):
        pass
    assert counted("freehold_snowflake_statements_total", kind="", verb="SHOW", result="ok") == before + 1


def test_a_refused_log_in_is_counted_by_the_reason_that_its_condition_gives() -> None:
    before = counted("freehold_snowflake_logins_total", result="CredentialsError")
    with pytest.raises(CredentialsRefused), metrics.logging_in():
        raise CredentialsRefused("no")
    assert counted("freehold_snowflake_logins_total", result="CredentialsError") == before + 1


def test_what_is_gone_leaves_no_series() -> None:
    there = {("team/a", "idle"): 1.0, ("team/b", "used"): 2.0}
    gauge = LiveGauge("freehold_test_sessions", "For this test.", ["provider", "state"])
    try:
        gauge.read_from(there.items)
        assert counted("freehold_test_sessions", provider="team/b", state="used") == 2.0
        del there["team/b", "used"]
        [family] = gauge.collect()
        assert [sample.labels for sample in family.samples] == [{"provider": "team/a", "state": "idle"}]
    finally:
        REGISTRY.unregister(gauge)
