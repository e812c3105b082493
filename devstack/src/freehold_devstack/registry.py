"""A read-only image registry (OCI distribution specification) over a folder of docker-archive tars.

Images are found by repository and tag alone, whatever registry their name begins with: so unmodified image names and
`imagePullPolicy: Always` work on the nodes, and a wrong tag is refused as by any registry. The folder is looked at anew
with each question for a manifest; where two tars have the same reference, the younger one counts.
"""

import hashlib
import json
import re
import sys
import tarfile
import threading
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
BLOB = "application/octet-stream"


@dataclass(frozen=True)
class Blob:
    """A part of a tar.

    Attributes:
        offset: where it begins, in bytes.
        size: how long it is, in bytes.
    """

    archive: Path
    offset: int
    size: int


class Images:
    """The images in a folder of docker-archive tars."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._scanned: dict[Path, int] = {}
        self._manifests: dict[str, bytes] = {}
        self._blobs: dict[str, Blob] = {}

    def manifest(self, repository: str, reference: str) -> bytes | None:
        """The manifest of an image, by tag or digest."""
        self._scan()
        return self._manifests.get(reference if reference.startswith("sha256:") else f"{_path(repository)}:{reference}")

    def blob(self, digest: str) -> Blob | None:
        """A layer or an image's configuration, of a manifest that was asked for."""
        return self._blobs.get(digest)

    def _scan(self) -> None:
        with self._lock:
            found = {archive: archive.stat().st_mtime_ns for archive in self._folder.glob("*.tar")}
            for archive in sorted(found, key=lambda archive: found[archive]):
                if self._scanned.get(archive) != found[archive]:
                    self._read(archive)
                    self._scanned[archive] = found[archive]

    def _read(self, archive: Path) -> None:
        with tarfile.open(archive) as tar:
            for image in json.loads(_content(tar, "manifest.json")):
                configuration = _content(tar, image["Config"])
                layers = [
                    self._add(archive, tar.getmember(name), digest, LAYER)
                    for name, digest in zip(
                        image["Layers"], json.loads(configuration)["rootfs"]["diff_ids"], strict=True
                    )
                ]
                config = self._add(archive, tar.getmember(image["Config"]), digest_of(configuration), CONFIG)
                description = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers}
                manifest = json.dumps(description).encode()
                self._manifests[digest_of(manifest)] = manifest
                for reference in image["RepoTags"]:
                    self._manifests[_path(reference)] = manifest

    def _add(self, archive: Path, member: tarfile.TarInfo, digest: str, kind: str) -> dict[str, object]:
        self._blobs[digest] = Blob(archive, member.offset_data, member.size)
        return {"mediaType": kind, "digest": digest, "size": member.size}


def digest_of(data: bytes) -> str:
    """The digest by which registries name content."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _path(reference: str) -> str:
    """A reference without its registry, and without the `library/` that clients add to names of one part."""
    first, separator, rest = reference.partition("/")
    is_registry = bool(separator) and (first == "localhost" or bool(re.search(r"[.:]", first)))
    return (rest if is_registry else reference).removeprefix("library/")


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    if file is None:
        raise tarfile.ReadError(f"{name} is no file")
    return file.read()


class Handler(BaseHTTPRequestHandler):
    """Answers the pulling half of the distribution protocol."""

    protocol_version = "HTTP/1.1"
    images: Images

    def do_GET(self) -> None:
        """Send a manifest, a blob, or 404."""
        path = self.path.partition("?")[0]
        if path == "/v2/":
            self._send(b"{}", "application/json")
        elif match := re.fullmatch(r"/v2/(.+)/manifests/([^/]+)", path):
            self._send(self.images.manifest(match[1], match[2]), MANIFEST)
        elif match := re.fullmatch(r"/v2/.+/blobs/([^/]+)", path):
            self._send_blob(self.images.blob(match[1]))
        else:
            self._send(None, "")

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - http.server's own signature
        """One line per request."""
        sys.stdout.write(f"{format % arguments}\n")
        sys.stdout.flush()

    def _send(self, body: bytes | None, kind: str) -> None:
        if body is None:
            body, kind, status = b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}', "application/json", HTTPStatus.NOT_FOUND
        else:
            status = HTTPStatus.OK
        self._head(status, kind, len(body), digest_of(body))
        if self.command == "GET":
            self.wfile.write(body)

    def _send_blob(self, blob: Blob | None) -> None:
        if blob is None:
            self._send(None, "")
            return
        self._head(HTTPStatus.OK, BLOB, blob.size)
        if self.command == "GET":
            with blob.archive.open("rb") as file:
                self.connection.sendfile(file, blob.offset, blob.size)

    def _head(self, status: HTTPStatus, kind: str, size: int, digest: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        if digest:
            self.send_header("Docker-Content-Digest", digest)
        self.end_headers()


def server(folder: Path, address: str, port: int) -> ThreadingHTTPServer:
    """A registry over the tars in that folder; it serves once `serve_forever` is called."""
    handler = type("FolderHandler", (Handler,), {"images": Images(folder)})
    return ThreadingHTTPServer((address, port), handler)


if __name__ == "__main__":
    server(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])).serve_forever()
