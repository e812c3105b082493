"""Container images: the project's own Dockerfile built by buildah, exactly as users build it, and what nodes need beside."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack import cache, prerequisites, progress
from freehold_devstack.build import Binaries
from freehold_devstack.errors import BuildError, MissingPrerequisiteError
from freehold_devstack.node import PAUSE_IMAGE
from freehold_devstack.prerequisites import Tier

BASE = "python:3.13-slim"
"""The base image that the Dockerfile names; made here of Debian's packages, so that no image registry is needed."""

BASE_RELEASE = "trixie"
BASE_PACKAGES = ("python3", "python3-venv", "ca-certificates")

TARGETS = ("webhook", "controllers")

INPUTS = ("Dockerfile", ".dockerignore", "pyproject.toml", "requirements.lock", "shared", "webhook", "controllers", "crds")
"""What of the repository goes into the images."""

PASSED_ON = (
    "SSL_CERT_FILE",
    *("PIP_CERT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Settings of the machine's package installers that become build arguments where they are set."""

CERTIFICATES = "/etc/ssl/certs"
"""The machine's certificate authorities, which builds see too: there may be one between here and the package index."""


@dataclass(frozen=True)
class Image:
    """An image in a docker-archive tar.

    Attributes:
        reference: repository and tag.
        archive: the tar.
    """

    reference: str
    archive: Path


def project(repository: Path, targets: Sequence[str] = TARGETS, tag: str = "dev") -> list[Image]:
    """The images `freehold-TARGET:TAG` of the repository's Dockerfile; built unless nothing that goes into them has changed.

    Raises:
        MissingPrerequisiteError: not root, or the machine lacks something.
        BuildError: a build failed.
    """
    prerequisites.ensure(Tier.CLUSTER)
    arguments = [f"{name}={os.environ[name]}" for name in PASSED_ON if name in os.environ]
    inputs = [path for name in INPUTS if (path := repository / name).exists()]
    key = cache.key(BASE, BASE_RELEASE, *BASE_PACKAGES, *arguments, *inputs)
    return [_build(repository, target, f"freehold-{target}:{tag}", key, arguments) for target in targets]


def pause(binaries: Binaries) -> Image:
    """The image that holds a pod's namespaces open.

    Raises:
        BuildError: buildah failed.
    """
    image = Image(PAUSE_IMAGE, _folder() / f"pause-{cache.key(PAUSE_IMAGE, binaries.pause)}.tar")
    if not image.archive.exists():
        container = _buildah("from", "scratch")
        _buildah("copy", container, str(binaries.pause), "/pause")
        _buildah("config", "--entrypoint", '["/pause"]', container)
        _buildah("commit", "--rm", container, PAUSE_IMAGE)
        _export(image)
    return image


def _build(repository: Path, target: str, reference: str, key: str, arguments: Sequence[str]) -> Image:
    image = Image(reference, _folder() / f"{target}-{key}.tar")
    if not image.archive.exists():
        with progress.task(f"image {reference}") as show, cache.locked("images"):
            show(f"base image {BASE}")
            _ensure_base()
            show("buildah bud")
            _buildah(
                *("bud", "--layers", "--pull-never", "--network", "host", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"),
                *(part for argument in arguments for part in ("--build-arg", argument)),
                *("--target", target, "--tag", reference, "--file", str(repository / "Dockerfile"), str(repository)),
            )
            show("writing the archive")
            _export(image)
            _forget_older(image.archive, target)
    return image


def _ensure_base() -> None:
    if _buildah("images", "--quiet", "--filter", f"reference={BASE}"):
        return
    sources = _debian_sources()
    with tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        (Path(scratch) / sources.name).write_text(
            re.sub(rf"\b{_codename()}\b", BASE_RELEASE, sources.read_text())
        )
        root = Path(scratch) / "root.tar"
        _run(
            *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(BASE_PACKAGES)}"),
            # The machine's clock or mirror may be far from the archive's.
            *("--aptopt=Acquire::Check-Valid-Until false", "--aptopt=Acquire::Check-Date false"),
            *(BASE_RELEASE, str(root), str(Path(scratch) / sources.name)),
        )
        container = _buildah("from", "scratch")
        _buildah("add", container, str(root), "/")
        _buildah("config", "--env", "PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin", container)
        _buildah("config", "--cmd", "python3", container)
        _buildah("commit", "--rm", container, BASE)


def _debian_sources() -> Path:
    """Where this machine's apt gets Debian from.

    Raises:
        MissingPrerequisiteError: it is no Debian.
    """
    for path in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        if path.exists() and _codename() in path.read_text():
            return path
    raise MissingPrerequisiteError(
        f"the base image {BASE} is made of Debian packages, and this machine's apt has no Debian sources",
        f"pull it yourself: {' '.join(_storage())} pull {BASE}",
    )


def _codename() -> str:
    match = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    return match[1] if match else "unknown"


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
    return ("buildah", "--root", str(root / "storage"), "--runroot", str(root / "run"), "--storage-driver", "vfs")


def _buildah(*arguments: str) -> str:
    return _run(*_storage(), *arguments).strip()


def _run(*command: str) -> str:
    result = subprocess.run(
        command,
        env=os.environ | {"BUILDAH_ISOLATION": "chroot", "PATH": prerequisites.SYSTEM_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        output = "\n".join((result.stdout + result.stderr).strip().splitlines()[-40:])
        raise BuildError(f"`{' '.join(command)}` failed:\n{output}", "repair what it complains about, then run this again")
    return result.stdout
