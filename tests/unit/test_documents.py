"""What people read leads somewhere, names every kind, and shows manifests that would be taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold.cli.manifests import faults
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import RESOURCES

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "devstack/*.md", "charts/**/*.md", "certs/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)
WRITTEN_BY_FREEHOLD = {"Claim"}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Language and text of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)  # type: ignore[return-value]


def _anchors(page: Path) -> set[str]:
    """What GitHub makes of its headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pages
def test_every_manifest_that_is_shown_whole_would_be_taken(page: Path) -> None:
    for language, text in _blocks(page):
        if language == "yaml":
            assert not {each["metadata"]["name"]: wrong for each in _manifests(text) if (wrong := _wrong(each))}


def _manifests(text: str) -> Iterator[dict[str, Any]]:
    for each in yaml.safe_load_all(text):
        if isinstance(each, dict) and each.get("kind") in KINDS:
            yield each


def _wrong(manifest: dict[str, Any]) -> tuple[str, ...]:
    kind = KINDS[manifest["kind"]]
    return faults(kind, kind.spec.model_validate(manifest["spec"]))


def test_the_readme_names_every_kind() -> None:
    named = set(re.findall(r"\[(\w+)\]\(docs/reference/\w+\.md\)", (ROOT / "README.md").read_text()))
    assert named == {each.kind for each in RESOURCES} - WRITTEN_BY_FREEHOLD
