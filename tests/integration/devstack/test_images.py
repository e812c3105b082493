"""The base image is made of Debian's packages where this is Debian, and pulled everywhere else."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from freehold_devstack import images
from freehold_devstack.errors import BuildError

DOCKERFILE = "ARG BASE=registry.invalid/python:3\nFROM ${BASE}\n"


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Debian machine's list of package sources."""
    sources = tmp_path / "sources.list"
    sources.write_text("deb https://mirror.invalid/debian bookworm main\n")
    be(monkeypatch, "debian", "bookworm")
    monkeypatch.setattr(images, "APT_SOURCES", (sources,))
    return sources


def be(monkeypatch: pytest.MonkeyPatch, system: str, codename: str) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": system, "VERSION_CODENAME": codename})


@pytest.mark.usefixtures("debian")
def test_a_change_of_what_goes_into_the_base_image_gives_it_another_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    before = images._base(DOCKERFILE)
    assert before.startswith("localhost/freehold/base:")
    monkeypatch.setattr(images, "BASE_PACKAGES", ("python3",))
    assert images._base(DOCKERFILE) != before


def test_what_derives_from_debian_uses_the_image_that_the_dockerfile_names(
    monkeypatch: pytest.MonkeyPatch, debian: Path
) -> None:
    debian.write_text("deb https://mirror.invalid/ubuntu noble main\n")
    be(monkeypatch, "ubuntu", "noble")
    assert images._base(DOCKERFILE) == "registry.invalid/python:3"


def test_a_base_image_that_cannot_be_pulled_is_an_error_with_the_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be(monkeypatch, "fedora", "")

    def unreachable(*command: str) -> str:
        if "pull" in command:
            raise BuildError("no such host", "")
        return ""

    monkeypatch.setattr(images, "_run", unreachable)
    monkeypatch.setenv("FREEHOLD_CACHE", str(tmp_path))
    with pytest.raises(BuildError, match=r"could not be pulled.*\n.*no such host(?s:.*)registry can be reached"):
        images._ensure_base("registry.invalid/python:3")
