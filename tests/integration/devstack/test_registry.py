"""The image registry serves docker-archive tars as the distribution protocol wants it."""

from __future__ import annotations

import io
import json
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from freehold_devstack.registry import MANIFEST, digest_of, server

LAYER = b"content of a layer" * 1000


def write_archive(path: Path, reference: str, layer: bytes = LAYER) -> None:
    """A docker-archive as buildah writes it."""
    configuration = json.dumps({"rootfs": {"type": "layers", "diff_ids": [digest_of(layer)]}}).encode()
    manifest = json.dumps([{"Config": "c.json", "RepoTags": [reference], "Layers": ["l.tar"]}]).encode()
    with tarfile.open(path, "w") as tar:
        for name, data in (("l.tar", layer), ("c.json", configuration), ("manifest.json", manifest)):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    with server(tmp_path, "127.0.0.1", 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/v2"
        running.shutdown()


def get(url: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method)) as response:  # noqa: S310
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def manifest(registry: str, name: str) -> Any:
    status, headers, body = get(f"{registry}/{name}")
    assert status == 200
    assert headers["Content-Type"] == MANIFEST
    assert headers["Docker-Content-Digest"] == digest_of(body)
    return json.loads(body)


@pytest.mark.parametrize(
    ("reference", "asked"),
    [
        ("registry.example/team/app:1", "team/app/manifests/1"),
        ("registry.example:5000/team/app:1", "team/app/manifests/1"),
        ("localhost/app:1", "app/manifests/1"),
        ("team/app:1", "team/app/manifests/1"),
        ("app:1", "library/app/manifests/1"),
        ("registry.example/library/app:1", "library/app/manifests/1"),
    ],
)
def test_an_image_is_found_whatever_registry_its_name_begins_with(
    registry: str, tmp_path: Path, reference: str, asked: str
) -> None:
    write_archive(tmp_path / "image.tar", reference)
    assert manifest(registry, asked)["layers"][0]["digest"] == digest_of(LAYER)


def test_layers_and_configuration_are_sent_as_they_are(registry: str, tmp_path: Path) -> None:
    write_archive(tmp_path / "image.tar", "team/app:1")
    described = manifest(registry, "team/app/manifests/1")
    for part in (described["config"], *described["layers"]):
        status, _, body = get(f"{registry}/team/app/blobs/{part['digest']}")
        assert (status, digest_of(body), len(body)) == (200, part["digest"], part["size"])


def test_a_manifest_is_also_found_by_its_digest(registry: str, tmp_path: Path) -> None:
    write_archive(tmp_path / "image.tar", "team/app:1")
    digest = get(f"{registry}/team/app/manifests/1", "HEAD")[1]["Docker-Content-Digest"]
    assert manifest(registry, f"team/app/manifests/{digest}")


@pytest.mark.parametrize("path", ["team/app/manifests/2", "team/other/manifests/1", "team/app/blobs/sha256:0", "x"])
def test_what_is_not_there_is_refused(registry: str, tmp_path: Path, path: str) -> None:
    write_archive(tmp_path / "image.tar", "team/app:1")
    assert get(f"{registry}/{path}")[0] == 404


def test_an_image_added_or_replaced_later_is_seen(registry: str, tmp_path: Path) -> None:
    assert get(f"{registry}/team/app/manifests/1")[0] == 404
    write_archive(tmp_path / "first.tar", "team/app:1")
    assert manifest(registry, "team/app/manifests/1")["layers"][0]["digest"] == digest_of(LAYER)
    write_archive(tmp_path / "second.tar", "team/app:1", b"another layer")
    assert manifest(registry, "team/app/manifests/1")["layers"][0]["digest"] == digest_of(b"another layer")
