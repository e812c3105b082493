"""Controllers that start fast: each is forked from a server that has imported what they need, and done nothing else.

The connector can't be used in a fork of a process that has imported it, so that each one imports that by itself.
"""

from __future__ import annotations

import ctypes
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "cryptography.hazmat.primitives.serialization",
        "freehold.claim_store",
        "freehold.kinds.registry",
        "freehold.kube.client",
        "freehold_controllers.runtime.process",
        "google.protobuf.message",
        "tomlkit",
        "typer",
    ]
)


class Process:
    """A process of a domain, as its command would run it."""

    def __init__(self, domain: str, options: Sequence[str], kubeconfig: Path, log: Path) -> None:
        """
        Args:
            domain: account or schema.
            options: of the command line.
            kubeconfig: whose cluster it works in.
            log: where its output goes.
        """
        self._process = _FORKS.Process(target=_run, args=(domain, options, str(kubeconfig), str(log)), daemon=True)
        self._process.start()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """End it as a power cut would, and return when it is dead."""
        self._process.kill()
        self._process.join()


def _run(domain: str, options: Sequence[str], kubeconfig: str, log: str) -> None:
    # The server ends with whoever started it, and its forks with the server.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
    os.environ.update(KUBECONFIG=kubeconfig, SNOWFLAKE_DISABLE_PLATFORM_DETECTION="true")
    sys.argv = [f"freehold-{domain}", *options]
    importlib.import_module(f"freehold_controllers.{domain}.main").main()
