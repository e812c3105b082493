"""Manifests of our kinds in files, as people keep them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from freehold import validation
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS, refused
from freehold.kinds.resource import Resource


class ManifestError(ValueError):
    """A file that can't be read, or holds something else than manifests."""


class FaultyManifest(ValueError):
    """A manifest that no statement can be made of.

    Attributes:
        faults: what is wrong, one sentence each.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def load(files: Iterable[Path], *further: Resource) -> list[dict[str, Any]]:
    """The manifests of the kinds that have objects in files and folders; `-` is standard input.

    Args:
        files: these.
        further: other resources whose manifests are wanted as well.

    Raises:
        ManifestError: one can't be read.
    """
    wanted = {each.kind: each.path.group for each in (*(kind.resource for kind in KINDS.values()), *further)}
    return [each for file in files for each in _manifests(file, wanted)]


def _manifests(file: Path, wanted: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Those of a file, of kinds that are given with their groups: others have kinds of the same names."""
    if file.is_dir():
        for each in sorted(file.glob("*.y*ml")):
            yield from _manifests(each, wanted)
        return
    for document in _documents(file):
        if document is None:
            continue
        if not isinstance(document, dict):
            raise ManifestError(f"{file}: not a manifest but a {type(document).__name__}")
        for each in document.get("items", [document]):
            group = wanted.get(each.get("kind"))
            if group and str(each.get("apiVersion", f"{group}/")).startswith(f"{group}/"):
                if not isinstance(each.get("metadata"), dict) or "name" not in each["metadata"]:
                    raise ManifestError(f"{file}: a {each['kind']} has no metadata.name")
                yield each


def _documents(file: Path) -> list[Any]:
    try:
        # From a stream, so that YAML's errors name the file.
        with nullcontext(sys.stdin) if str(file) == "-" else file.open() as stream:
            return list(yaml.safe_load_all(stream))
    except OSError as error:
        raise ManifestError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ManifestError(f"{file}: {error}") from error
    except yaml.YAMLError as error:
        raise ManifestError(str(error)) from error


def namespace_of(manifest: Mapping[str, Any]) -> str:
    """Its namespace; `default` where it names none."""
    return str(manifest["metadata"].get("namespace", "default"))


def faults(kind: Kind, spec: SnowflakeSpec) -> tuple[str, ...]:
    """What admission would refuse for the spec's own sake, one sentence each."""
    unsupported = (f"spec.{field} isn't supported: {reason}" for field, reason in refused(spec))
    return (*unsupported, *validation.faults(kind, spec))


def reasons(error: ValueError | LookupError) -> Iterator[str]:
    """What is wrong with a manifest, one line a field."""
    if isinstance(error, FaultyManifest):
        yield from error.faults
        return
    if not isinstance(error, ValidationError):
        yield str(error)
        return
    for each in error.errors(include_url=False):
        unknown = each["type"] == "extra_forbidden"
        yield f"spec.{'.'.join(str(part) for part in each['loc'])}: {'unknown field' if unknown else each['msg']}"
