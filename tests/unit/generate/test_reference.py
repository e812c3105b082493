"""The field reference."""

from __future__ import annotations

import pytest

from freehold.generate.reference import page
from freehold.kinds.resources import RESOURCES


def test_what_is_inside_a_field_that_is_refused_is_left_out() -> None:
    text = page(next(each for each in RESOURCES if each.kind == "GrantPrivilegesToAccountRole"), None)
    assert "| `onSchemaObject.future.inSchema` |" in text
    assert "| `onSchemaObject.inherited` | object | Not supported: " in text
    assert "`onSchemaObject.inherited." not in text


@pytest.mark.parametrize(
    ("kind", "field", "told"),
    [
        ("Warehouse", "comment", "UNSET"),
        ("Warehouse", "autoSuspend", "SET to 600"),
        ("Warehouse", "warehouseSize", "stays as it is"),
        ("MaskingPolicy", "body", "stays as it is"),
        ("Table", "constraints", "needs `freehold.dev/force-new`"),
        ("Share", "accounts", "own statement"),
        ("FunctionSQL", "body", "CREATE OR ALTER"),
    ],
)
def test_what_becomes_of_a_field_that_is_removed_is_told(kind: str, field: str, told: str) -> None:
    rows = page(next(each for each in RESOURCES if each.kind == kind), None).splitlines()
    (row,) = (each for each in rows if each.startswith(f"| `{field}`"))
    assert row.split(" | ")[-1] == f"{told} |"
