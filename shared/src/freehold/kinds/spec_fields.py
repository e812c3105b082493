"""The declared fields of a spec model, with their facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from freehold.kinds.property import Property
from freehold.kinds.values import Boolean, Codec, Number, Word

INFERRED = Codec()
"""Stands for the codec that a field's annotation calls for."""
_BY_TYPE: Mapping[type, Codec] = {bool: Boolean(), int: Number(), str: Codec()}


def _infer(info: FieldInfo) -> Codec:
    """The codec that a field's annotation calls for."""
    annotation = info.annotation
    for option_ in get_args(annotation) or (annotation,):
        if option_ is type(None):
            continue
        if get_origin(option_) is Literal:
            return Word()
        return _BY_TYPE.get(option_, Codec())
    return Codec()


@dataclass(frozen=True)
class SpecField:
    """A field of a spec with its facts.

    Attributes:
        attribute: name in Python.
        name: name in the manifest.
        facts: what the declaration says.
    """

    attribute: str
    name: str
    facts: Property

    def value(self, spec: BaseModel) -> Any:
        """Its value in a spec, be it written or taken from other fields; None while it is unmanaged."""
        return self.facts.derived(spec) if self.facts.derived else getattr(spec, self.attribute)


@cache
def properties(model: type[BaseModel]) -> tuple[SpecField, ...]:
    """The declared fields of a spec model, in their order; fields without facts (policies, provider) are left out."""
    found: list[SpecField] = []
    for attribute, info in model.model_fields.items():
        facts = info.json_schema_extra
        if isinstance(facts, Property):
            if facts.codec is INFERRED:
                facts = replace(facts, codec=_infer(info))
            found.append(SpecField(attribute, info.alias or attribute, facts))
    return tuple(found)


def sent_values(field: SpecField, value: Any) -> Iterator[tuple[str, Any]]:
    """What is remembered of a value that was sent: (name, value) of the field, its parts, and items with attributes.

    Args:
        field: the field.
        value: of the field in a spec.
    """
    if field.facts.members:
        yield from ((item_name(field.name, key), part) for key, part in value.items())
        return
    yield field.name, value
    if field.facts.shared:
        yield value_name(field.name, field.facts, field.facts.codec.canonical(value)), value
    for name, part in field.facts.codec.parts(value):
        yield f"{field.name}.{name}", part
    if isinstance(value, BaseModel):
        for each in properties(type(value)):
            if each.facts.item and (part := getattr(value, each.attribute)) is not None:
                yield f"{field.name}.{each.name}", part
    for item in value if field.facts.items else ():
        name = item if isinstance(item, str) else item.name
        yield item_name(field.name, name), item
        for each in attributes_of(field):
            if not each.facts.reset.keep and (part := getattr(item, each.attribute)) is not None:
                yield from sent_values(replace(each, name=item_name(field.name, name, each.name)), part)


def compared(field: SpecField, spec: BaseModel, tracked: Collection[str]) -> Iterator[tuple[SpecField, Any]]:
    """A field with its value in a spec; of a map each value by itself, with those that left the spec as None.

    Args:
        field: the field.
        spec: the spec.
        tracked: names of the fields that were ever sent.
    """
    value = field.value(spec)
    if not field.facts.members:
        yield field, value
    for key, facts in field.facts.members.items():
        name = item_name(field.name, key)
        if (part := (value or {}).get(key)) is not None or name in tracked:
            yield SpecField(field.attribute, name, facts), part


def attributes_of(field: SpecField) -> tuple[SpecField, ...]:
    """The attributes of a field's items."""
    model = field.facts.items
    if model is None or not issubclass(model, BaseModel):
        return ()
    return tuple(each for each in properties(model) if each.facts.item)


def value_name(name: str, facts: Property, canonical: Any) -> str:
    """`columns[AGE].maskingPolicy["DB"."S"."P"]`: by which it is remembered that a value was sent.

    Args:
        name: of the field or attribute.
        facts: what is declared of it.
        canonical: the value.
    """
    return item_name(name, facts.codec.label(canonical))


def item_name(field: str, item: str, attribute: str = "") -> str:
    """`columns[AGE]`, or an attribute in it: `columns[AGE].comment`."""
    return f"{field}[{item}]" + (f".{attribute}" if attribute else "")
