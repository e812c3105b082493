"""Traces cost nothing where nobody wants them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from freehold import tracing

COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        (COLLECTOR, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({**COLLECTOR, "OTEL_SDK_DISABLED": "True"}, False),
        ({**COLLECTOR, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**COLLECTOR, "OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_SERVICE_NAME": "freehold"}, False),
    ],
)
def test_traces_are_wanted_where_a_collector_is_named(environment: Mapping[str, str], wanted: bool) -> None:
    assert tracing.wanted(environment) is wanted


def test_nothing_is_loaded_for_traces_that_nobody_wants() -> None:
    program = (
        "import sys\n"
        "from freehold import tracing\n"
        "with tracing.exported('freehold-test'), tracing.span('work', {'freehold.kind': 'Warehouse'}) as span:\n"
        "    span.set_attribute('freehold.result', 'ok')\n"
        "print(*(name for name in sys.modules if name.startswith('opentelemetry')))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}, stdout=subprocess.PIPE
    )
    assert told.stdout.strip() == b""
