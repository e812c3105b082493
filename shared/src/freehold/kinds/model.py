"""The base of every model that a manifest is read into."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Immutable, strict about unknown fields, camel case on the wire; attribute docstrings are field descriptions."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # it may be secret
    )


def model_in(annotation: Any) -> type[Model] | None:
    """The model whose values a field holds, alone, in a list or not at all; None where it holds none."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((found for each in get_args(annotation) if (found := model_in(each))), None)
