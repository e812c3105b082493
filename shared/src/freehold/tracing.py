"""Spans of OpenTelemetry, where its environment variables name a collector; elsewhere nothing, not even an import.

No span holds a message, SQL text or a value: who may read traces need not be who may read resources.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

_GOODBYE = 3.0
"""Seconds that the last spans may take at the end of a process."""

_log = logging.getLogger(__name__)
_tracer: Tracer | None = None


class Span(Protocol):
    """A piece of work."""

    def set_attribute(self, key: str, value: str) -> None:
        """Tell something that wasn't known at its beginning."""


class _Untraced:
    def set_attribute(self, key: str, value: str) -> None:
        """Tell nobody."""


_UNTRACED = nullcontext(_Untraced())


def wanted(environment: Mapping[str, str]) -> bool:
    """Whether a collector is named and nothing says that no traces are wanted.

    Source: OpenTelemetry specification, "Environment Variable Specification".
    """
    off = (
        environment.get("OTEL_SDK_DISABLED", "").lower() == "true" or environment.get("OTEL_TRACES_EXPORTER") == "none"
    )
    return not off and any(environment.get(each) for each in _ENDPOINTS)


@contextmanager
def exported(service: str) -> Iterator[None]:
    """Send spans to the collector that the environment names, if any, while the context is open.

    Args:
        service: name of the process, unless OTEL_SERVICE_NAME says another.
    """
    global _tracer  # noqa: PLW0603  # one for the process, as the environment is
    if not wanted(os.environ):
        yield
        return
    try:
        # Here, since who wants no traces doesn't pay for the imports, in time or memory.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        _log.warning("no traces are sent to what the environment names: install the extra freehold[tracing]")
        yield
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", service)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _tracer = provider.get_tracer("freehold")
    try:
        yield
    finally:
        _tracer = None
        # It would wait for half a minute for a collector that is gone.
        end = threading.Thread(target=provider.shutdown, daemon=True)
        end.start()
        end.join(_GOODBYE)


def span(name: str, attributes: Mapping[str, str]) -> AbstractContextManager[Span]:
    """A span for as long as the context is open, below the one that is open in this task.

    Args:
        name: what is done, of few different values.
        attributes: of what, by the names of OpenTelemetry's semantic conventions where it has some.
    """
    if _tracer is None:
        return _UNTRACED
    # The text of an exception may tell what is none of the reader's business.
    return _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
