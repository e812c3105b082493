"""Options of file formats: their spellings, and what they can't be."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.file_formats import characters
from freehold.kinds.schema.fileformat import FILE_FORMAT
from freehold.validation import faults


def found(**options: Any) -> tuple[str, ...]:
    spec = {"databaseName": "D", "schemaName": "S", "name": "F", "type": "CSV", **options}
    return faults(FILE_FORMAT, FILE_FORMAT.spec.model_validate(spec))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        (r"\n", "\n"),
        (r"\r\n", "\r\n"),
        ("\t", "\t"),
        (r"\\", "\\"),
        ("\\", "\\"),
        (r"\x41\x42", "AB"),
        ("0xC2A2", "¢"),
        (r"\101", "A"),
        (r"\N", r"\N"),
        ("|", "|"),
    ],
)
def test_a_text_spells_characters_as_they_are_or_by_their_values(text: str, spelled: str) -> None:
    assert characters(text) == spelled


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"escape": "ab"}, "spec.escape: one character is needed"),
        ({"fieldOptionallyEnclosedBy": "|"}, "spec.fieldOptionallyEnclosedBy: a single or a double quote"),
        ({"fieldDelimiter": "x" * 21}, "spec.fieldDelimiter: a delimiter has at most 20 characters"),
        ({"fieldDelimiter": r"\n"}, "fieldDelimiter '\\n' and recordDelimiter '\\n'"),
        ({"fieldDelimiter": "||", "recordDelimiter": "|"}, "fieldDelimiter '||' and recordDelimiter '|'"),
    ],
)
def test_what_no_statement_can_hold_is_told(options: dict[str, str], fault: str) -> None:
    (told,) = found(**options)
    assert told.startswith(fault)


@pytest.mark.parametrize("options", [{"fieldDelimiter": "none"}, {"escape": r"\134"}, {"fieldDelimiter": "ab"}])
def test_words_values_and_several_characters_are_sound(options: dict[str, str]) -> None:
    assert found(**options) == ()
