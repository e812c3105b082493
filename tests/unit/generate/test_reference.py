"""The field reference."""

from __future__ import annotations

from freehold.generate.reference import page
from freehold.kinds.resources import RESOURCES


def test_what_is_inside_a_field_that_is_refused_is_left_out() -> None:
    text = page(next(each for each in RESOURCES if each.kind == "GrantPrivilegesToAccountRole"), None)
    assert "| `onSchemaObject.future.inSchema` |" in text
    assert "| `onSchemaObject.inherited` | object | Not supported: " in text
    assert "`onSchemaObject.inherited." not in text
