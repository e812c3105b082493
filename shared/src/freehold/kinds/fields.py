"""What a declaration says of a field: its SQL keyword, where it is observed, how it is reset, what a change means.

A spec model is an ordinary pydantic model; a field's default is one of the functions below:

    auto_suspend: int | None = prop("AUTO_SUSPEND", show="auto_suspend", reset=set_to(600), ge=0)
    \"\"\"Idle seconds before the warehouse stops. 0 means never.\"\"\"

The facts end up in a `Property`, found by `spec_fields.properties`; CRD, documentation, SQL and drift derive from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field

from freehold import sql
from freehold.identifiers import split_in_database
from freehold.kinds.observers import column, option, parameter_value
from freehold.kinds.property import (
    KEEP,
    UNSET,
    Change,
    Differ,
    DoneOn,
    Observe,
    OwnStatements,
    Place,
    Property,
    Reset,
)
from freehold.kinds.spec_fields import INFERRED
from freehold.kinds.values import Boolean, Codec, Comment
from freehold.observation import UNKNOWN
from freehold.sql import Sql


def _field(facts: Property, *, alias: str | None = None, required: bool = False, **constraints: Any) -> Any:
    default = ... if required else constraints.pop("default", None)
    return Field(default=default, alias=alias, json_schema_extra=facts, repr=not facts.secret, **constraints)


def prop(
    keyword: str,
    *,
    joint: str = " = ",
    show: str | None = None,
    missing: object = UNKNOWN,
    observe: Observe | None = None,
    codec: Codec | None = None,
    reset: Reset = UNSET,
    create: bool = True,
    create_only: bool = False,
    own_statement: bool = False,
    clause: Callable[[Any], Sql | None] | None = None,
    recreate_when: Callable[[Any, Any], bool] | None = None,
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    secret: bool = False,
    on_change: bool = False,
    done_on: DoneOn | None = None,
    shared: bool = False,
    alias: str | None = None,
    required: bool = False,
    **constraints: Any,
) -> Any:
    """A property written as `KEYWORD = value` and read from a column of SHOW.

    Args:
        keyword: Snowflake's name of the property.
        joint: as `Property` has it.
        show: the column of SHOW that holds it; None for what is sent on a change only.
        missing: its value where the account has no such column.
        observe: reads the column where more than its name matters.
        codec: how values are written, read and compared; None to take it from the annotation.
        reset: how it goes back when removed.
        create: may stand in CREATE.
        create_only: acts at creation and is ignored afterwards.
        own_statement: is altered by a statement of its own.
        clause: its clause in CREATE where that isn't `KEYWORD = value`.
        recreate_when: (old, new) values between which no ALTER leads.
        place: where its clause stands in CREATE.
        details: names of the kind's further queries that it is observed by.
        check: as `Property` has it.
        secret: whether its values are shown to nobody.
        on_change, done_on, shared: as `Property` has them.
        alias: name in the manifest where it isn't the camel-case form of the attribute.
        required: whether every manifest has it.
        constraints: pydantic's `ge`, `le`, `max_length` ...
    """
    facts = Property(
        sql=keyword,
        joint=joint,
        codec=codec if codec is not None else INFERRED,
        observe=observe if observe or not show else column(show, missing=missing),
        source=f"show.{show}" if show else "",
        reset=reset,
        create=create,
        create_only=create_only,
        own_statement=own_statement,
        clause=clause,
        recreate_when=recreate_when,
        place=place,
        details=details,
        check=check,
        secret=secret,
        on_change=on_change,
        done_on=done_on,
        shared=shared,
    )
    return _field(facts, alias=alias, required=required, **constraints)


def parameter(
    key: str,
    *,
    codec: Codec | None = None,
    create: bool = True,
    or_alter: bool | None = None,
    place: Place = Place.PROPERTIES,
    alias: str | None = None,
    **constraints: Any,
) -> Any:
    """An object parameter: inherited unless set on the object, read by SHOW PARAMETERS, reset by UNSET.

    Args:
        key: Snowflake's name of the parameter.
        codec: how values are written, read and compared; None to take it from the annotation.
        create: may stand in CREATE.
        or_alter: may stand in CREATE OR ALTER; None where that is as in CREATE.
        place: where it stands there.
        alias: name in the manifest where it isn't the camel-case form of the attribute.
        constraints: pydantic's `ge`, `le` ...
    """
    facts = Property(
        sql=key,
        codec=codec if codec is not None else INFERRED,
        observe=parameter_value(key),
        source=f"parameters.{key}",
        create=create,
        or_alter=or_alter,
        place=place,
    )
    return _field(facts, alias=alias, **constraints)


def keyword(word: str, *, place: Place, observe: Observe | None = None, source: str = "show.options") -> Any:
    """A word that CREATE has or hasn't and that no ALTER can change.

    Args:
        word: the word.
        place: where it stands.
        observe: reads whether it was given; by default from the `options` column.
        source: the same for people.
    """
    facts = Property(
        sql=word,
        codec=Boolean(),
        observe=observe or option(word),
        source=source,
        change=Change.RECREATE,
        unset=False,
        reset=KEEP,
        place=place,
        clause=lambda value: sql.words(word) if value else None,
    )
    return _field(facts)


def custom(
    *,
    alter: OwnStatements,
    observe: Observe | None = None,
    source: str = "",
    clause: Callable[[Any], Sql | None] | None = None,
    codec: Codec | None = None,
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    reset: Reset = UNSET,
    recreate_when: Callable[[Any, Any], bool] | None = None,
    check: Callable[[Any], object] | None = None,
    or_alter: bool | None = None,
    shared: bool = False,
    alias: str | None = None,
    required: bool = False,
    **constraints: Any,
) -> Any:
    """A field with statements of its own. Without `clause` it isn't part of CREATE and is altered right after."""
    facts = Property(
        codec=codec or Codec(),
        observe=observe,
        source=source,
        create=clause is not None,
        clause=clause,
        alter=alter,
        own_statement=True,
        place=place,
        details=details,
        reset=reset,
        recreate_when=recreate_when,
        check=check,
        or_alter=or_alter,
        shared=shared,
    )
    return _field(facts, alias=alias, required=required, **constraints)


def items(
    model: type[BaseModel | str],
    *,
    differ: Differ,
    codec: Codec,
    observe: Observe,
    source: str,
    details: tuple[str, ...],
    clause: Callable[[Any], Sql | None] | None = None,
    redefinition: Callable[[Any], Sql | None] | None = None,
    change: Change = Change.ALTER,
    unset: Any = None,
    **constraints: Any,
) -> Any:
    """A list that is compared item by item; with a clause, its items stand in the parentheses of CREATE.

    Args:
        model: of the items, which have a `name`; or str where they are names.
        differ: compares the list.
        codec: makes the canonical values of both sides.
        observe: reads the live value.
        source: the same for people.
        details: queries that it is read from.
        clause: its part of CREATE.
        redefinition: its part of CREATE OR ALTER where that says less.
        change: what a change of any item means at least.
        unset: as `Property` has it.
        constraints: pydantic's.
    """
    facts = Property(
        codec=codec,
        observe=observe,
        source=source,
        create=clause is not None,
        clause=clause,
        redefinition=redefinition,
        place=Place.ELEMENTS,
        items=model,
        differ=differ,
        details=details,
        change=change,
        unset=unset,
    )
    return Field(json_schema_extra=facts, **constraints)


def attribute(
    *,
    reset: Reset = UNSET,
    change: Change = Change.ALTER,
    codec: Codec | None = None,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    shared: bool = False,
    **constraints: Any,
) -> Any:
    """An attribute of an item. One that can be reset is remembered, item by item, once it was sent.

    Args:
        reset: whether it goes back when removed; how is the `differ` of the list's to say.
        change: what another value means.
        codec: how its values are compared.
        details: further queries that are needed while an item sets it.
        check, shared: as `Property` has them.
        constraints: pydantic's.
    """
    facts = Property(
        reset=reset,
        change=change,
        codec=codec or Codec(),
        details=details,
        check=check,
        shared=shared,
        item=True,
    )
    return _field(facts, **constraints)


def own_name() -> Any:
    """The object's stored name, which every object has: another value is another object."""
    return Field(json_schema_extra=Property(change=Change.IDENTITY))


def immutable(*, required: bool = False, **constraints: Any) -> Any:
    """A field that belongs to what the object is, such as the name of its database: another value, another object.

    Args:
        required: whether every manifest has it.
        constraints: pydantic's.
    """
    return _field(Property(change=Change.IDENTITY), required=required, **constraints)


def qualified_name(split: Callable[[str], tuple[str, ...]] = split_in_database) -> Any:
    """The dotted name of what belongs to what the object is and lies elsewhere, as people write it: `DB.ROLE`,
    `"my db".ROLE`.

    Args:
        split: reads it: `split_in_database`, or `split_in_schema` for what lies in a schema.
    """
    return _field(Property(change=Change.IDENTITY, check=split), min_length=1, max_length=1024)


def checked(check: Callable[[Any], object], **constraints: Any) -> Any:
    """A text with a grammar, told by `check`, that is no property of its own, such as the data type of an argument."""
    return Field(json_schema_extra=Property(check=check), **constraints)


def ref(
    kind: str,
    *,
    instead_of: str,
    parent: bool = False,
    qualified: bool = False,
    within: tuple[str, ...] = (),
    by_name: bool = False,
    beside: bool = False,
    **constraints: Any,
) -> Any:
    """A reference to another resource, or a list of them, in place of what the field `instead_of` names.

    Args:
        kind: the kind that it points at.
        instead_of: attribute of the raw name.
        parent: whether it names the container of the object, and so is part of the object's identity.
        qualified: whether the raw field takes the fully-qualified name, for an object that lies elsewhere.
        within: attributes that take the names of what contains it instead, outermost first.
        by_name, beside: as `Property` has them.
        constraints: pydantic's.
    """
    change = Change.IDENTITY if parent else Change.ALTER
    facts = Property(
        reference=kind,
        instead_of=instead_of,
        change=change,
        qualified=qualified,
        within=within,
        by_name=by_name,
        beside=beside,
    )
    return _field(facts, **constraints)


def action(*, alias: str | None = None) -> Any:
    """A switch that acts once, at creation, by a statement that the kind declares beside it."""
    return _field(Property(create_only=True, create=False), alias=alias)


def unsupported(why: str, **constraints: Any) -> Any:
    """A field that is declared so that manifests can be moved, and refused with a reason in this release."""
    return _field(Property(unsupported=why), **constraints)


def comment(*, reset: Reset = UNSET, own_statement: bool = False) -> Any:
    """The COMMENT that nearly every object has."""
    return prop(
        "COMMENT", show="comment", codec=Comment(), reset=reset, own_statement=own_statement, max_length=1_000_000
    )


def tags() -> Any:
    """Tag values, which a kind of their own sets."""
    return unsupported("declare a TagAssociation for each tag value, so that each has one owner")
