"""The query tag names installation and resource, and fits."""

from __future__ import annotations

import json

from freehold.snowflake.query_tag import QueryTag, session_tag


def test_the_tag_names_installation_and_resource() -> None:
    tag = QueryTag("Database", "team", "sales", "0b5e").text("prod")

    assert json.loads(tag) == {
        "freehold": "prod", "kind": "Database", "namespace": "team", "name": "sales", "uid": "0b5e",
    }  # fmt: skip


def test_what_a_provider_adds_is_in_every_tag() -> None:
    tags = QueryTag("Database", "team", "sales", "0b5e").text("prod", "Köln"), session_tag("prod", "Köln")

    assert [json.loads(each)["text"] for each in tags] == ["Köln"] * 2


def test_the_longest_names_of_kubernetes_fit_and_the_longest_text_beside_them() -> None:
    tag = QueryTag("K" * 63, "n" * 63, "x" * 253, "u" * 36).text("i" * 253, "é" * 1000)
    assert len(tag) <= 2000
