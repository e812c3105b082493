"""Controllers as processes, with the permissions that the chart gives them."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from freehold_devstack.supervisor import free_ports
from tests.harness.chart import NAMESPACE

BIN = Path(sys.executable).parent
START_SECONDS = 30.0


class Controller:
    """One process of a domain."""

    def __init__(self, control_plane: ControlPlane, domain: str, folder: Path, *options: str) -> None:
        """
        Args:
            control_plane: where it works.
            domain: account or schema.
            folder: for its log.
            options: of the command line, beside the ones that every process needs.
        """
        self.log = folder / f"{domain}.log"
        self._control_plane = control_plane
        self._domain = domain
        self._options = options
        self._port = 0
        self._process: subprocess.Popen[bytes]

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        (self._port,) = free_ports(1)
        kubeconfig = self._control_plane.kubeconfig_for(NAMESPACE, f"freehold-{self._domain}")
        self._process = self._control_plane.spawn(
            [
                str(BIN / f"freehold-{self._domain}"),
                f"--namespace={NAMESPACE}",
                f"--health-port={self._port}",
                "--log-format=text",
                *self._options,
            ],
            env={"KUBECONFIG": str(kubeconfig), "SNOWFLAKE_DISABLE_PLATFORM_DETECTION": "true"},
            log=self.log,
        )
        until(self._ready, START_SECONDS, f"the {self._domain} controller to be ready", self.log.read_text)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """End it in good order; answers with its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()

    def _ready(self) -> bool:
        assert self._process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=5):
                return True
        except OSError:
            return False
