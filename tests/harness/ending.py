"""The end of a long run that is told to end: by SIGTERM as by Ctrl-C, so that all that it has begun ends with it."""

from __future__ import annotations

import signal


def end_on_sigterm() -> None:
    """From now on, take SIGTERM for SIGINT, and SIGINT for what it is, also where whoever started us had it ignored, as
    a shell does with what runs in its background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
