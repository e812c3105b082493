"""The one Kubernetes binary: built once from Go modules into the user's cache, under a key of all that goes into it."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack import cache, prerequisites, progress
from freehold_devstack.errors import BuildError
from freehold_devstack.processes import WITH_PARENT

MODULE = Path(__file__).parents[2] / "kubernetes"
"""The Go module; beside src/, since the devstack is only ever used from a checkout."""

COMPONENTS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
    "helm",
    "cert-manager",
)
"""The names that the binary answers to (main.go)."""

CERT_MANAGER = "github.com/cert-manager/cert-manager"

COMPILER = {"GOGC": "400", "GOMEMLIMIT": "2GiB"}
"""Have the compiler collect garbage less often, until it gets large: a quarter less processor time for this build."""


@dataclass(frozen=True)
class Binaries:
    """What a build left behind: the binary, a link to it per component, the pause program, cert-manager's CRDs."""

    folder: Path

    @property
    def bin(self) -> Path:
        """The folder of the links, fit for PATH."""
        return self.folder / "bin"

    @property
    def pause(self) -> Path:
        """The program that holds a pod's namespaces open."""
        return self.folder / "pause"

    @property
    def cert_manager_crds(self) -> Path:
        """The folder of cert-manager's CustomResourceDefinitions."""
        return self.folder / "cert-manager-crds"

    def path(self, component: str) -> str:
        """The command of one component."""
        return str(self.bin / component)


def ensure() -> Binaries:
    """The binaries for the sources as they are now, built if they are not in the cache; minutes the first time.

    Raises:
        MissingPrerequisiteError: there is no Go, or it is too old and may not fetch another.
        BuildError: the build failed.
    """
    go = prerequisites.go(_required("go"))
    flags = ("-trimpath", f"-ldflags={_ldflags()}")
    environment = COMPILER | cache.of_go() | os.environ | {"CGO_ENABLED": "0"}
    toolchain = _run((go, "env", "GOVERSION", "GOOS", "GOARCH"), environment)
    built = Binaries(cache.folder() / "kubernetes" / cache.key(toolchain, *flags, MODULE))
    if not built.folder.exists():
        with progress.task(f"Kubernetes {_version()}, built once from source") as show:
            show("waiting for another build")
            with cache.locked("build"):
                if not built.folder.exists():
                    _build(go, flags, environment, built.folder, show)
    return built


def _build(
    go: str, flags: tuple[str, ...], environment: dict[str, str], folder: Path, show: Callable[[str], None]
) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in folder.parent.glob(".build-*"):  # by a build that was killed
        shutil.rmtree(abandoned)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".build-") as scratch:
        made = Path(scratch) / folder.name
        (made / "bin").mkdir(parents=True)
        packages = _stream((go, "list", "-deps", "."), environment, lambda _, line: show(line))
        _stream(
            (go, "build", "-v", *flags, "-o", f"{made}/", ".", "./pause"),
            environment,
            lambda count, line: show(f"{count} of {len(packages)} packages: {line}"),
        )
        for component in COMPONENTS:
            (made / "bin" / component).symlink_to("../kubernetes")
        module = _run((go, "list", "-m", "-f", "{{.Dir}}", CERT_MANAGER), environment).strip()
        crds = shutil.ignore_patterns("README.md")
        shutil.copytree(
            Path(module) / "deploy/crds", made / "cert-manager-crds", ignore=crds, copy_function=shutil.copyfile
        )
        (made / "cert-manager-crds").chmod(0o755)  # the module cache is read-only
        made.rename(folder)


def _version() -> str:
    return _required("k8s.io/kubernetes")


def _required(module: str) -> str:
    """The version of a module, or of `go` itself, that go.mod asks for."""
    match = re.search(rf"^\s*{re.escape(module)} v?(\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{MODULE / 'go.mod'} does not require {module}", "restore it from version control")
    return match[1]


def _ldflags() -> str:
    # Without its version set, every node would call itself v0.0.0-master.
    major, minor, _ = _version().split(".")
    version = {"gitVersion": f"v{_version()}", "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in version.items())


def _run(command: tuple[str, ...], environment: dict[str, str]) -> str:
    result = subprocess.run(command, cwd=MODULE, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise _failure(command, result.stderr)
    return result.stdout


def _stream(command: tuple[str, ...], environment: dict[str, str], show: Callable[[int, str], None]) -> list[str]:
    """Run a go command and show its lines as they come; returns those that are not about downloads."""
    lines: list[str] = []
    with subprocess.Popen(
        (*WITH_PARENT, *command),
        cwd=MODULE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            if not line.startswith("go: "):
                lines.append(line.rstrip())
            show(len(lines), line.rstrip())
    if process.returncode:
        raise _failure(command, "\n".join(lines[-30:]))
    return lines


def _failure(command: tuple[str, ...], output: str) -> BuildError:
    return BuildError(
        f"`{' '.join(command)}` failed:\n{output.strip()}",
        "modules come from the proxy that `go env GOPROXY` names: see that it can be reached, then run this again",
    )
