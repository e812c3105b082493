"""The query tag names installation and resource, and fits."""

from __future__ import annotations

import json

from freehold.snowflake.query_tag import QueryTag


def test_the_tag_names_installation_and_resource() -> None:
    tag = QueryTag("Database", "team", "sales", "0b5e").text("prod")

    assert json.loads(tag) == {
        "freehold": "prod", "kind": "Database", "namespace": "team", "name": "sales", "uid": "0b5e",
    }  # fmt: skip


def test_the_longest_names_of_kubernetes_fit() -> None:
    assert len(QueryTag("K" * 63, "n" * 63, "x" * 253, "u" * 36).text("i" * 253)) <= 2000
