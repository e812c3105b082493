"""Container images: the project's own Dockerfile, built by buildah as users build it, and what nodes need beside."""

import os
import platform
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack import cache, prerequisites, progress
from freehold_devstack.build import Binaries
from freehold_devstack.errors import BuildError
from freehold_devstack.node import PAUSE_IMAGE
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import WITH_PARENT

BASE_REPOSITORY = "localhost/freehold/base"
BASE_RELEASE = "trixie"
BASE_PACKAGES = ("python3", "python3-venv", "ca-certificates")
"""On Debian, what stands in for the Dockerfile's base image: Debian's Python, so that no image registry is needed."""

TARGETS = ("webhook", "controllers")

INPUTS = ("Dockerfile", ".dockerignore", "requirements.lock", "shared")
"""What of the repository goes into every image, beside the folder that is called like the target."""

CERTIFICATES = "/etc/ssl/certs"
"""The machine's certificate authorities, which builds see too: there may be one between here and the package index."""

APT_SOURCES = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))

IMAGE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PRIVATE = (*WITH_PARENT, "unshare", "--mount", "--")
"""Prefix of commands that mount: neither they nor their mounts outlive us, even if we are killed."""


@dataclass(frozen=True)
class Image:
    """An image in a docker-archive tar.

    Attributes:
        reference: repository and tag.
        archive: the tar.
    """

    reference: str
    archive: Path


def project(repository: Path, targets: Sequence[str] = TARGETS) -> list[Image]:
    """The images `freehold/TARGET:VERSION` of the repository's Dockerfile; built if anything in them has changed.

    Args:
        repository: the checkout.
        targets: stages of the Dockerfile.

    Raises:
        MissingPrerequisiteError: not root, or the machine lacks something.
        BuildError: a build failed.
    """
    prerequisites.ensure(Tier.CLUSTER)
    version = tomllib.loads((repository / "shared/pyproject.toml").read_text())["project"]["version"]
    return [_build(repository, target, f"freehold/{target}:{version}") for target in targets]


def pause(binaries: Binaries, reference: str = PAUSE_IMAGE) -> Image:
    """The image that holds a pod's namespaces open.

    Raises:
        BuildError: buildah failed.
    """
    image = Image(reference, _folder() / f"pause-{cache.key(reference, binaries.pause)}.tar")
    if not image.archive.exists():
        with cache.locked("images"):
            container = _buildah("from", "scratch")
            _buildah("copy", container, str(binaries.pause), "/pause")
            _buildah("config", "--entrypoint", '["/pause"]', container)
            _buildah("commit", "--rm", container, reference)
            _export(image)
    return image


def _build(repository: Path, target: str, reference: str) -> Image:
    dockerfile = (repository / "Dockerfile").read_text()
    # The Dockerfile says which of the machine's settings (package index, certificates) its build understands.
    settings = [f"{name}={os.environ[name]}" for name in _arguments(dockerfile) if name in os.environ]
    inputs = [path for name in (*INPUTS, target) if (path := repository / name).exists()]
    base = _base(dockerfile)
    key = cache.key(reference, base, *settings, *inputs)
    image = Image(reference, _folder() / f"{target}-{key}.tar")
    if not image.archive.exists():
        with progress.task(f"image {reference}") as show, cache.locked("images"):
            show(f"base image {base}")
            _ensure_base(base)
            show("building")
            _buildah(
                *("bud", "--layers", "--pull-never", "--network", "host"),
                *("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"),
                *(part for setting in (f"BASE={base}", *settings) for part in ("--build-arg", setting)),
                *("--target", target, "--tag", reference, "--file", str(repository / "Dockerfile"), str(repository)),
            )
            show("writing the archive")
            _export(image)
            _forget_older(image.archive, target)
    return image


def _arguments(dockerfile: str) -> list[str]:
    return sorted(set(re.findall(r"^ARG (\w+)$", dockerfile, re.MULTILINE)))


def _base(dockerfile: str) -> str:
    """The image that all stages begin with: ours where there is Debian to make it of, else the Dockerfile's own."""
    match = re.search(r"^ARG BASE=(\S+)$", dockerfile, re.MULTILINE)
    if match is None:
        raise BuildError("the Dockerfile has no `ARG BASE=IMAGE`", "name there the image that all stages begin with")
    made = f"{BASE_REPOSITORY}:{cache.key(BASE_RELEASE, *BASE_PACKAGES, IMAGE_PATH)}"
    return match[1] if _debian_sources() is None else made


def _ensure_base(base: str) -> None:
    if _buildah("images", "--quiet", "--filter", f"reference={base}"):
        return
    if sources := _debian_sources():
        _make_base(base, sources)
    else:
        _pull(base)


def _pull(base: str) -> None:
    try:
        _buildah("pull", base)
    except BuildError as error:
        raise BuildError(
            f"{base} could not be pulled, and is made here only on Debian, of the packages that apt knows:\n{error}",
            f"see that its registry can be reached; or save it elsewhere and load it here: {' '.join(_storage())} "
            f"pull docker-archive:FILE",
        ) from error


def _make_base(base: str, sources: Path) -> None:
    with tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        archive, moved = Path(scratch) / "root.tar", Path(scratch) / sources.name
        moved.write_text(re.sub(rf"\b{_codename()}\b", BASE_RELEASE, sources.read_text()))
        _run(
            *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(BASE_PACKAGES)}"),
            # The machine's clock or mirror may be far from the archive's.
            *("--aptopt=Acquire::Check-Valid-Until false", "--aptopt=Acquire::Check-Date false"),
            *(BASE_RELEASE, str(archive), str(moved)),
        )
        container = _buildah("from", "scratch")
        _buildah("add", container, str(archive), "/")
        _buildah("config", "--env", f"PATH={IMAGE_PATH}", "--cmd", "python3", container)
        _buildah("commit", "--rm", container, base)


def _debian_sources() -> Path | None:
    """Where this machine's apt gets Debian from, if it does: what derives from Debian has archives of its own."""
    if platform.freedesktop_os_release()["ID"] == "debian":
        for path in APT_SOURCES:
            if path.exists() and _codename() in path.read_text():
                return path
    return None


def _codename() -> str:
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "unknown")


def _export(image: Image) -> None:
    partial = image.archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    _buildah("push", "--quiet", image.reference, f"docker-archive:{partial}:{image.reference}")
    partial.rename(image.archive)


def _forget_older(archive: Path, target: str) -> None:
    for path in archive.parent.glob(f"{target}-*.tar"):
        if path != archive:
            path.unlink()


def _folder() -> Path:
    folder = cache.folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _storage() -> tuple[str, ...]:
    root = cache.folder() / "containers"
    driver = "overlay" if prerequisites.overlays(_folder()) else "vfs"
    return ("buildah", "--root", str(root / "storage"), "--runroot", str(root / "run"), "--storage-driver", driver)


def _buildah(*arguments: str) -> str:
    return _run(*_storage(), *arguments).strip()


def _run(*command: str) -> str:
    result = subprocess.run(
        (*PRIVATE, *command),
        env=os.environ | {"BUILDAH_ISOLATION": "chroot", "PATH": prerequisites.SYSTEM_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        output = "\n".join((result.stdout + result.stderr).strip().splitlines()[-40:])
        raise BuildError(
            f"`{' '.join(command)}` failed:\n{output}", "repair what it complains about, then run this again"
        )
    return result.stdout
