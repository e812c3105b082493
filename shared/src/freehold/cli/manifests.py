"""Manifests of our kinds in files, as people keep them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from freehold.kinds.registry import KINDS


class ManifestError(ValueError):
    """A file that can't be read, or holds something else than manifests."""


def load(files: Iterable[Path]) -> list[dict[str, Any]]:
    """The manifests of our kinds in files and folders; `-` is standard input.

    Raises:
        ManifestError: one can't be read.
    """
    try:
        return [each for file in files for each in _manifests(file)]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ManifestError(str(error)) from error


def _manifests(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_dir():
        for each in sorted(file.glob("*.y*ml")):
            yield from _manifests(each)
        return
    for document in yaml.safe_load_all(sys.stdin.read() if str(file) == "-" else file.read_text()):
        if document is None:
            continue
        if not isinstance(document, dict):
            raise ManifestError(f"{file}: not a manifest but a {type(document).__name__}")
        for each in document.get("items", [document]):
            if each.get("kind") in KINDS:
                if not isinstance(each.get("metadata"), dict) or "name" not in each["metadata"]:
                    raise ManifestError(f"{file}: a {each['kind']} has no metadata.name")
                yield each


def namespace_of(manifest: Mapping[str, Any]) -> str:
    """Its namespace; `default` where it names none."""
    return str(manifest["metadata"].get("namespace", "default"))


def reasons(error: ValueError | LookupError) -> Iterator[str]:
    """What is wrong with a manifest, one line a field."""
    if not isinstance(error, ValidationError):
        yield str(error)
        return
    for each in error.errors(include_url=False):
        unknown = each["type"] == "extra_forbidden"
        yield f"spec.{'.'.join(str(part) for part in each['loc'])}: {'unknown field' if unknown else each['msg']}"
