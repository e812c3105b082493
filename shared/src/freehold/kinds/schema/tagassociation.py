"""Values of tags on objects and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from freehold import slots, sql
from freehold.identifiers import InvalidName, split, split_in_schema
from freehold.identity import Slot
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, own_name, prop, qualified_name, ref, unsupported
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.grants import named_object
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.property import Change, Property
from freehold.kinds.resource import Rule, exactly_one
from freehold.kinds.values import Codec
from freehold.observation import Row
from freehold.slots import Phrase
from freehold.sql import Sql

ObjectType = Literal[
    "ALERT", "COLUMN", "DATABASE", "DATABASE ROLE", "DYNAMIC TABLE", "EVENT TABLE", "EXTERNAL TABLE", "FUNCTION",
    "ICEBERG TABLE", "INTEGRATION", "MASKING POLICY", "NETWORK POLICY", "PIPE", "PROCEDURE", "ROLE",
    "ROW ACCESS POLICY", "SCHEMA", "STAGE", "STREAM", "TABLE", "TASK", "USER", "VIEW", "WAREHOUSE",
]  # fmt: skip
"""Types of what can have tags."""

_PARTS: Mapping[str, int] = {
    **dict.fromkeys(("DATABASE", "INTEGRATION", "NETWORK POLICY", "ROLE", "USER", "WAREHOUSE"), 1),
    **dict.fromkeys(("DATABASE ROLE", "SCHEMA"), 2),
}
"""How many parts the name of an object has where that isn't three."""

_AS_TABLES = frozenset({"DYNAMIC TABLE", "EVENT TABLE", "EXTERNAL TABLE", "ICEBERG TABLE", "TABLE", "VIEW"})
"""What TAG_REFERENCES takes for tables."""
_ALTERED_AS: Mapping[str, str] = {"EVENT TABLE": "TABLE", "EXTERNAL TABLE": "TABLE"}
"""Types that ALTER ... SET TAG knows by another word."""


class TagAssociationSpec(SnowflakeSpec):
    """The value of a tag on one object or column. To see it, the session needs a warehouse."""

    tag_name: str | None = qualified_name(split_in_schema)
    """The tag by its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME."""
    tag_ref: Reference | None = ref("Tag", instead_of="tag_name", parent=True, qualified=True)
    """The Tag, in place of its name."""
    tag_value: str = prop("TAG", show="tag_value", codec=Codec(), required=True, min_length=1, max_length=256)
    """The value: one of the tag's allowedValues, where it has such."""
    object_type: ObjectType = own_name()
    """What has it. A COLUMN is one of the table or view in objectName. The account itself isn't offered: what all
    objects inherit is for its administrators to set."""
    object_name: str = Field(min_length=1, max_length=4096, json_schema_extra=Property(change=Change.IDENTITY))
    """The object by its full name as SQL reads it: WH, DB.SCHEMA or DB.SCHEMA.TABLE, with argument types for a function
    or procedure: DB.S.F(NUMBER). Names in double quotes keep their case."""
    object_ref: Reference | None = unsupported("a reference tells no type of object: use objectName")
    """The resource whose object has it."""
    column_name: Name | None = immutable()
    """Stored name of the column, with objectType COLUMN."""


def _slot(spec: TagAssociationSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    database, schema, name = yield from named_in(spec, "tag_name", namespace, kinds)
    return (slots.tag_value((database, schema, name), _holder(spec)),)


def _holder(spec: TagAssociationSpec) -> Phrase:
    if spec.object_type == "COLUMN":
        return slots.column(slots.of("TABLE", *split_in_schema(spec.object_name)), spec.column_name or "")
    count = _PARTS.get(spec.object_type, 3)
    if count == 3:
        return named_object(spec.object_type, spec.object_name)
    parts = split(spec.object_name)
    if len(parts) != count:
        form = ("NAME", "DATABASE.NAME")[count - 1]
        raise InvalidName(f"spec.objectName: a {spec.object_type.lower()} is named by {form}: {spec.object_name!r}")
    return slots.of(spec.object_type, *parts)


def _show(slot: Slot) -> Listing:
    place, tag = slots.holder(slot), slots.tag(slot)
    name, domain = str(place.name), "TABLE" if place.type in _AS_TABLES else place.type
    if place.column is not None:
        name, domain = f"{name}.{sql.identifier(place.column)}", "COLUMN"
    query = sql.sql(
        "SELECT * FROM TABLE({database}.INFORMATION_SCHEMA.TAG_REFERENCES({name}, {domain}))",
        database=sql.identifier(tag.parts[0]),
        name=sql.literal(name),
        domain=sql.literal(domain),
    )
    return Listing(query, "tag_name", tag.parts[-1:], complete=False)


def _fills(slot: Slot, row: Row) -> bool:
    """Whether a row is a value that somebody has set here; others are inherited or propagated, and not ours."""
    shown = tuple(row[each] for each in ("tag_database", "tag_schema", "tag_name"))
    return shown == slots.tag(slot).parts and row["apply_method"] == "MANUAL"


def _alter(slot: Slot, clause: Sql) -> Sql:
    place = slots.holder(slot)
    if place.name is None:
        raise TypeError(f"{slot} is of no object")
    column = sql.sql(" MODIFY COLUMN {name}", name=sql.identifier(place.column)) if place.column else sql.words("")
    return sql.sql(
        "ALTER {type} {name}{column} {clause}",
        type=sql.words(_ALTERED_AS.get(place.type, place.type)),
        name=sql.named(place.name),
        column=column,
        clause=clause,
    )


def _set(slot: Slot, spec: Any) -> Sql:
    value = sql.literal(spec.tag_value)
    return _alter(slot, sql.sql("SET TAG {tag} = {value}", tag=sql.named(slots.tag(slot)), value=value))


def _unset(slot: Slot, _force: bool) -> Sql:
    return _alter(slot, sql.sql("UNSET TAG {tag}", tag=sql.named(slots.tag(slot))))


def _faults(spec: TagAssociationSpec) -> Iterator[str]:
    if spec.object_type == "COLUMN" and spec.column_name is None:
        return
    try:
        _holder(spec)
    except InvalidName as error:
        text = str(error)
        yield text if text.startswith("spec.") else f"spec.objectName: {text}"


TAG_ASSOCIATION = Kind(
    spec=TagAssociationSpec,
    domain=Domain.SCHEMA,
    object_type="TAG ASSOCIATION",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("ta",),
    slots=_slot,
    privileges={"APPLY TAG": ""},
    filling=Filling(show=_show, fills=_fills, fill=_set, empty=_unset, value=("tag_value",), refill=_set),
    rules=(
        exactly_one("tagName", "tagRef"),
        Rule(
            "(self.objectType == 'COLUMN') == has(self.columnName)",
            "columnName goes with objectType COLUMN",
            "columnName",
        ),
    ),
    faults=lambda spec: tuple(_faults(spec)),
)
