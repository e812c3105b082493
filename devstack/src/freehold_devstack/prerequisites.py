"""What each tier needs of the machine: programs, installed by apt where possible, and rights; else the remedy."""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from freehold_devstack import cache, cgroups, progress
from freehold_devstack.errors import MissingPrerequisiteError


class Tier(StrEnum):
    """How much of Kubernetes runs."""

    CONTROL_PLANE = "control-plane"
    CLUSTER = "cluster"


PACKAGES: Mapping[Tier, Mapping[str, str]] = MappingProxyType(
    {
        Tier.CONTROL_PLANE: {"setpriv": "util-linux", "setsid": "util-linux"},
        Tier.CLUSTER: {
            "setpriv": "util-linux",
            "setsid": "util-linux",
            "unshare": "util-linux",
            "nsenter": "util-linux",
            "ip": "iproute2",
            "nft": "nftables",
            "conntrack": "conntrack",
            "containerd": "containerd",
            "runc": "runc",
            "/usr/lib/cni/bridge": "containernetworking-plugins",
            "buildah": "buildah",
            "mmdebstrap": "mmdebstrap",
        },
    }
)
"""Program -> the Debian package that has it."""

SERVICES = frozenset({"containerd"})
"""Packages that would have a service of the same name run on the machine; nodes run their own."""

POLICY = Path("/usr/sbin/policy-rc.d")
"""What packages' scripts ask whether to start a service: 101 is no (invoke-rc.d(8), deb-systemd-invoke(1p))."""

SYSTEM_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"))
"""Where programs are looked for: some shells of root leave out the sbin folders."""

CANDIDATE = r"Candidate: (?:\d+:)?(\d\S*)"

FIRST_TO_FETCH = (1, 21)
"""From this release on, go fetches the release that go.mod asks for, unless GOTOOLCHAIN forbids it."""


def ensure(tier: Tier) -> None:
    """See to it that the tier's programs are there.

    Raises:
        MissingPrerequisiteError: they are not and could not be installed, or the tier needs rights that we don't have.
    """
    if tier is Tier.CLUSTER:
        _ensure_rights()
    missing = {package for program, package in PACKAGES[tier].items() if not _found(program)}
    if missing:
        install(sorted(missing))


def _ensure_rights() -> None:
    elsewhere = (
        "or use a cluster of your own by KUBECONFIG, with Freehold's images pushed to a registry that it can reach, or "
        "loaded into its nodes; the control-plane tier needs no rights"
    )
    if os.geteuid() != 0:
        raise MissingPrerequisiteError(
            "the cluster tier makes network namespaces, mounts and cgroups: it needs root on Linux",
            f"run it with sudo; {elsewhere}",
        )
    if not _found("unshare"):
        install(["util-linux"])
    tried = _mounting("-t", "tmpfs", "tmpfs", "/run")
    if tried.returncode or not os.access(cgroups.HIERARCHIES, os.W_OK):
        raise MissingPrerequisiteError(
            "root may not make network namespaces, mounts and cgroups here, as the cluster tier does: "
            f"{tried.stderr.strip() or f'{cgroups.HIERARCHIES} is read-only'}",
            f"if this is a container, start it with --privileged; {elsewhere}",
        )


@functools.cache
def overlays(folder: Path) -> bool:
    """Whether the file system of that folder can be the upper side of an overlay; another overlay, for one, can't."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".overlay-") as scratch:
        sides = {name: Path(scratch) / name for name in ("lowerdir", "upperdir", "workdir")}
        for side in sides.values():
            side.mkdir()
        options = ",".join(f"{name}={side}" for name, side in sides.items())
        return _mounting("-t", "overlay", "-o", options, "overlay", scratch).returncode == 0


def _mounting(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Try a mount, in namespaces that go with the command."""
    return subprocess.run(
        ("unshare", "--net", "--mount", "--", "mount", "--no-mtab", *arguments),
        env=os.environ | {"PATH": SYSTEM_PATH},
        capture_output=True,
        text=True,
        check=False,
    )


def install(packages: list[str]) -> None:
    """Install Debian packages; no service that comes with them is left running.

    Raises:
        MissingPrerequisiteError: not root, no apt, or apt failed.
    """
    command = f"apt-get install --no-install-recommends {' '.join(packages)}"
    if shutil.which("apt-get", path=SYSTEM_PATH) is None or os.geteuid() != 0:
        raise MissingPrerequisiteError(f"missing on this machine: {', '.join(packages)}", f"run: sudo {command}")
    with progress.task(f"apt-get install {' '.join(packages)}"), cache.locked("apt"), _services_kept_down(packages):
        _apt("apt-get", "update")
        result = _apt("apt-get", "install", "--yes", "--no-install-recommends", *packages)
    if result.returncode:
        raise MissingPrerequisiteError(
            f"`{command}` failed:\n{result.stderr.strip()}", "repair apt, then run this again"
        )


@contextmanager
def _services_kept_down(packages: list[str]) -> Iterator[None]:
    """Have packages' scripts start no service, and undo that they enable one."""
    ours = not POLICY.exists()  # else the machine has a policy, as most containers do
    try:
        if ours:
            # Should we be killed, it forbids nothing.
            POLICY.write_text(f"#!/bin/sh\n[ ! -d /proc/{os.getpid()} ] || exit 101\n")
            POLICY.chmod(0o755)
        yield
    finally:
        if ours:
            POLICY.unlink()
        for service in SERVICES.intersection(packages):
            if systemctl := shutil.which("systemctl", path=SYSTEM_PATH):
                subprocess.run((systemctl, "disable", "--now", service), capture_output=True, check=False)


def _apt(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (program, "-q", "-o", "DPkg::Lock::Timeout=300", *arguments),
        capture_output=True,
        text=True,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PATH": SYSTEM_PATH},
        check=False,
    )


def go(needed: str) -> str:
    """The path of a go command that can build Kubernetes; installed from apt where its release is new enough.

    Args:
        needed: the release that go.mod asks for.

    Raises:
        MissingPrerequisiteError: none, or one that is too old and fetches no newer one.
    """
    remedy = (
        f"install Go {needed} or newer and put it on PATH; or one from 1.21 on, and set GOTOOLCHAIN=auto, by which it "
        f"fetches Go {needed} from the proxy that `go env GOPROXY` names"
    )
    path = shutil.which("go", path=SYSTEM_PATH)
    if path is None and os.geteuid() == 0:
        if _suffices(_apt_candidate("golang-go"), needed, os.environ.get("GOTOOLCHAIN", "local")):
            install(["golang-go"])
        path = shutil.which("go", path=SYSTEM_PATH)
    if path is None:
        raise MissingPrerequisiteError(f"Go is missing; Go {needed} builds Kubernetes, once", remedy)
    version, toolchain = _settings(path, "GOVERSION", "GOTOOLCHAIN")
    if not _suffices(version, needed, toolchain):
        forbidden = f", and GOTOOLCHAIN={toolchain} has it fetch no other" if toolchain else ""
        raise MissingPrerequisiteError(f"Go {needed} builds Kubernetes; {path} is {version}{forbidden}", remedy)
    return path


def _found(program: str) -> bool:
    return Path(program).exists() if program.startswith("/") else shutil.which(program, path=SYSTEM_PATH) is not None


def _settings(go: str, *names: str) -> list[str]:
    """What `go env` says outside of all modules, which may ask for another release."""
    command = (go, "env", *names)
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=True).stdout.split("\n")[: len(names)]


def _suffices(version: str, needed: str, toolchain: str) -> bool:
    """Whether a Go of that version is the needed release, or fetches it (go.dev/doc/toolchain)."""
    fetches = toolchain.endswith("auto") and _release(version) >= FIRST_TO_FETCH
    return fetches or _release(version) >= _release(needed)


def _apt_candidate(package: str) -> str:
    """The version that apt would install, by lists that are fetched if there are none; empty where it has none."""
    if not _found("apt-cache"):
        return ""
    asked = ("apt-cache", "policy", package)
    if not (match := re.search(CANDIDATE, _apt(*asked).stdout)):
        _apt("apt-get", "update")
        match = re.search(CANDIDATE, _apt(*asked).stdout)
    return match[1] if match else ""


def _release(version: str) -> tuple[int, ...]:
    """Major, minor and patch number in a version: of "go1.26.8", 1, 26 and 8."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(number or 0) for number in match.groups()) if match else ()
