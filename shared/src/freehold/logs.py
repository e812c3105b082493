"""Logs of all processes: one JSON object or one line of text a record, with what the record is about as fields."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TextIO

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.orjson import OrjsonFormatter


class Format(StrEnum):
    """Of the records."""

    JSON = "json"
    TEXT = "text"


_about: ContextVar[Mapping[str, str]] = ContextVar("freehold_log_fields", default=MappingProxyType({}))


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Add fields to every record of the present task while the context is open.

    Args:
        fields: not of the names that a LogRecord has itself, such as `name`.
    """
    token = _about.set({**_about.get(), **fields})
    try:
        yield
    finally:
        _about.reset(token)


def configure(level: str = "info", form: Format = Format.JSON, stream: TextIO = sys.stderr) -> None:
    """Send the records of all loggers to a stream.

    Args:
        level: least severe level that is kept: debug, info, warning or error.
        form: of the records.
        stream: where to.
    """
    handler = logging.StreamHandler(stream)
    handler.addFilter(_add_fields)
    handler.setFormatter(_Json("{message}", style="{") if form is Format.JSON else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def _add_fields(record: logging.LogRecord) -> bool:
    vars(record).update(_about.get())
    return True


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Json(OrjsonFormatter):
    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        log_data |= {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        super().add_fields(log_data, record, message_dict)


class _Text(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # overrides
        fields = "".join(f" {name}={value}" for name, value in vars(record).items() if name not in RESERVED_ATTRS)
        return f"{_time(record)} {record.levelname:<7} {record.name}: {record.message}{fields}"
