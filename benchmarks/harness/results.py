"""Results that are kept: when, where and how they were measured, and the figures."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import orjson

FOLDER = Path(__file__).parents[1] / "results"


def record(benchmark: str, figures: Mapping[str, object]) -> Path:
    """Write what a benchmark found, in place of what it found before.

    Args:
        benchmark: name of its module.
        figures: by name.

    Returns:
        The file.
    """
    result = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": _machine(),
        "command": " ".join(("python -m", f"benchmarks.{benchmark}", *sys.argv[1:])),
        "figures": figures,
    }
    path = FOLDER / f"{benchmark}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def _machine() -> str:
    """Processors, memory, kernel and Python."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processors = f"{os.cpu_count()} x {model[1] if model else platform.machine()}"
    return f"{processors}, {memory:.0f} GiB, Linux {platform.release()}, Python {platform.python_version()}"
