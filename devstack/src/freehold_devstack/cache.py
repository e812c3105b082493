"""The user's cache folder: what was built once, and the state of running instances; with locks and keys for both."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def folder() -> Path:
    """`$FREEHOLD_CACHE`, or `freehold` in the user's cache folder by the XDG base directory specification."""
    if own := os.environ.get("FREEHOLD_CACHE"):
        return Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "freehold"


def of_go() -> dict[str, str]:
    """Variables that have Go keep its caches here where there is no home folder, their usual place, to write to."""
    if os.access(os.environ.get("HOME", ""), os.W_OK):
        return {}
    return {name: str(folder() / name.lower()) for name in ("GOCACHE", "GOMODCACHE")}


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of that name; one process of this user at a time, released by the kernel when it dies."""
    path = folder() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def key(*inputs: str | Path) -> str:
    """A short hash of texts and of files' contents (of a folder: all in it), for naming what is made of them."""
    digest = hashlib.sha256()
    for part in _parts(inputs):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def _parts(inputs: tuple[str | Path, ...]) -> Iterator[bytes]:
    for item in inputs:
        if isinstance(item, str):
            yield item.encode()
        elif item.is_dir():
            for path in sorted(item.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield str(path.relative_to(item)).encode()
                    yield path.read_bytes()
        else:
            yield item.read_bytes()
