"""The page about errors: all of the table, readable."""

from __future__ import annotations

import re

from freehold.generate.errors import page
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.table import TABLE


def test_every_answer_is_on_the_page_under_what_freehold_does() -> None:
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page(), re.DOTALL | re.MULTILINE))

    assert list(sections) == [kind.value.capitalize() for kind in ErrorClass]
    for kind in ErrorClass:
        told = sections[kind.value.capitalize()]
        assert kind.action in told
        for row in TABLE.get(kind, ()):
            assert all(f"{number:06d}" in told for number in row.numbers)
            assert f"| {row.about} | {row.advice} |" in told


def test_no_text_breaks_the_tables() -> None:
    lines = [line for line in page().splitlines() if line.startswith("|")]

    assert {line.count("|") for line in lines} == {4}
    assert not any(sign in line for line in lines for sign in ("\\", ".*"))
