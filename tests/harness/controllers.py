"""Controllers as processes, with the permissions that the chart gives them."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from freehold_devstack.supervisor import free_ports
from tests.harness.chart import NAMESPACE

BIN = Path(sys.executable).parent
START_SECONDS = 30.0


class Controller:
    """One process of a domain."""

    def __init__(
        self,
        control_plane: ControlPlane,
        domain: str,
        folder: Path,
        *options: str,
        namespace: str = NAMESPACE,
        fullname: str = "freehold",
    ) -> None:
        """
        Args:
            control_plane: where it works.
            domain: account or schema.
            folder: for its log.
            options: of the command line, beside the ones that every process needs.
            namespace: of its release.
            fullname: what the names of its release's objects begin with.
        """
        self.log = folder / f"{namespace}-{domain}.log"
        self._control_plane = control_plane
        self._domain = domain
        self._namespace = namespace
        self._fullname = fullname
        self._options = options
        self._port = 0
        self._process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.begin()
        self.ready()

    def ready(self) -> None:
        """Wait until it is ready."""
        until(lambda: self.why_not() is None, START_SECONDS, f"the {self._domain} controller to be ready", self._logged)

    def begin(self) -> None:
        """Start it, without waiting."""
        (self._port,) = free_ports(1)
        kubeconfig = self._control_plane.kubeconfig_for(self._namespace, f"{self._fullname}-{self._domain}")
        self._process = self._control_plane.spawn(
            [
                str(BIN / f"freehold-{self._domain}"),
                f"--namespace={self._namespace}",
                f"--health-port={self._port}",
                "--log-format=text",
                *self._options,
            ],
            env={"KUBECONFIG": str(kubeconfig), "SNOWFLAKE_DISABLE_PLATFORM_DETECTION": "true"},
            log=self.log,
        )

    def again(self, *options: str) -> Controller:
        """Another process of it, with further options."""
        more = (*self._options, *options)
        return Controller(
            self._control_plane,
            self._domain,
            self.log.parent,
            *more,
            namespace=self._namespace,
            fullname=self._fullname,
        )

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """End it in good order; answers with its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()

    def why_not(self) -> str | None:
        """Why it isn't ready; None when it is."""
        assert self._process.poll() is None, self._logged()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=5):
                return None
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()
        except OSError as error:
            return str(error)

    def metrics(self) -> str:
        """What it counts, in the text form of Prometheus."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=5) as response:
            return str(response.read().decode())

    def reconciles(self, kind: str) -> float:
        """How many reconciles of resources of a kind have ended."""
        families = text_string_to_metric_families(self.metrics())
        (found,) = (family for family in families if family.name == "freehold_reconciles")
        ended = (each for each in found.samples if each.name.endswith("_total"))
        return sum(each.value for each in ended if each.labels["kind"] == kind)

    def _logged(self) -> str:
        return self.log.read_text()
