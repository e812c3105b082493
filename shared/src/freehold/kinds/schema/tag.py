"""Tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import StringConstraints

from freehold import sql
from freehold.identifiers import split, split_in_schema
from freehold.kinds import policies
from freehold.kinds.common import Reference
from freehold.kinds.compared import compared
from freehold.kinds.fields import comment, ref
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.policies import Policy
from freehold.kinds.property import NOT_OURS, Action, Change, Deviation, Place, Target
from freehold.kinds.resource import Rule, exclusive
from freehold.kinds.steps import Clearance, Step
from freehold.kinds.values import Codec, Word
from freehold.observation import UNKNOWN, Observation, Row
from freehold.sql import Sql

TagValue = Annotated[str, StringConstraints(min_length=1, max_length=256)]
"""A value of a tag."""

Propagate = Literal["NONE", "ON_DEPENDENCY", "ON_DATA_MOVEMENT", "ON_DEPENDENCY_AND_DATA_MOVEMENT"]

_SEQUENCE = "ALLOWED_VALUES_SEQUENCE"
_NOTHING = "NONE"
_POLICIES = "maskingPolicies"

_PLACEHOLDER = "freehold:none"
"""Allowed for a moment where no value is to be: a list becomes empty only by losing its last value."""


class _Values(Codec):
    """The allowed values in their order, printed as JSON; None where any value is allowed."""

    def canonical(self, value: Sequence[str]) -> tuple[str, ...]:
        return tuple(value)

    def read(self, raw: object) -> tuple[str, ...] | None:
        return None if raw in (None, "") else tuple(map(str, orjson.loads(str(raw))))


class _None(_Values):
    """The same, for the field that says whether there are none."""

    def canonical(self, value: Any) -> Any:
        return value if isinstance(value, bool) else super().canonical(value)


def _listed(values: Sequence[str]) -> Sql:
    return sql.join(map(sql.literal, values), ", ")


def _allowing(values: Sequence[str]) -> Sql | None:
    return sql.sql("ALLOWED_VALUES {values}", values=_listed(values)) if values else None


def _change(verb: str, values: Sequence[str]) -> Action:
    return Action(f"{verb} ALLOWED_VALUES", _listed(values))


_ANY = Action("UNSET", sql.words("ALLOWED_VALUES"))


def _values_differ(spec: Any, have: tuple[str, ...] | None, _tracked: Collection[str]) -> Iterator[Deviation]:
    wanted = spec.allowed_values
    if wanted is None:
        if have is not None and not spec.no_allowed_values:
            yield Deviation("", None, have, actions=(_ANY,))
        return
    if have is not None and (sorted(wanted) == sorted(have) if spec.on_conflict != _SEQUENCE else wanted == list(have)):
        return
    kept = [each for each in have or () if each in wanted]
    added = [each for each in wanted if each not in kept]
    gone = [each for each in have or () if each not in wanted]
    if spec.on_conflict == _SEQUENCE and [*kept, *added] != wanted:
        actions = [_change("SET", wanted)]
    else:
        # Added first: a tag never has no value left in between.
        actions = [_change(verb, those) for verb, those in (("ADD", added), ("DROP", gone)) if those]
    yield Deviation("", tuple(wanted), have, actions=tuple(actions))


def _no_values_differ(spec: Any, have: tuple[str, ...] | None, _tracked: Collection[str]) -> Iterator[Deviation]:
    wanted = spec.no_allowed_values
    if not wanted:
        if have == () and spec.allowed_values is None:
            yield Deviation("", wanted, True, actions=(_ANY,))
    elif have is None:
        there_and_back = (_change("ADD", [_PLACEHOLDER]), _change("DROP", [_PLACEHOLDER]))
        yield Deviation("", wanted, False, actions=there_and_back)
    elif have:
        yield Deviation("", wanted, False, actions=(_change("DROP", have),))


class _Propagation(Word):
    def read(self, raw: object) -> Any:
        return _NOTHING if raw in (None, "") else self.canonical(str(raw))


def _propagating(spec: Any) -> Sql | None:
    """Propagation with its rule: SET without the rule would end that."""
    if spec.propagate in (None, _NOTHING):
        return None
    parts = [_propagate_clause(spec.propagate), spec.on_conflict and _rule_clause(spec.on_conflict)]
    return sql.join([each for each in parts if each])


def _propagate_clause(value: str) -> Sql | None:
    return None if value == _NOTHING else sql.sql("PROPAGATE = {value}", value=sql.words(value))


def _rule_clause(value: str) -> Sql:
    rule = sql.words(value) if value == _SEQUENCE else sql.literal(value)
    return sql.sql("ON_CONFLICT = {rule}", rule=rule)


def _spread(spec: Any) -> Action:
    propagating = _propagating(spec)
    return Action("SET", propagating) if propagating else Action("UNSET", sql.words("PROPAGATE"))


def _propagate_differs(spec: Any, have: str, _tracked: Collection[str]) -> Iterator[Deviation]:
    if (spec.propagate or _NOTHING) != have:
        yield Deviation("", spec.propagate, have, actions=(_spread(spec),))


def _rule_differs(spec: Any, have: str | None, _tracked: Collection[str]) -> Iterator[Deviation]:
    if spec.on_conflict != have:
        yield Deviation("", spec.on_conflict, have, actions=(_spread(spec),))


class _Policies(Codec):
    """Masking policies as a set."""

    def canonical(self, value: Sequence[str]) -> frozenset[Policy]:
        return frozenset(Policy(split(each)) for each in value)

    def read(self, raw: object) -> object:
        return raw

    def parts(self, value: Sequence[str], /) -> Iterator[tuple[str, str]]:
        # Each by its name, so that those of others can be told apart.
        return ((str(Policy(split(each))), each) for each in value)


def _policies_on(observation: Observation) -> object:
    rows = (observation.details or {}).get(policies.DETAIL)
    return (
        UNKNOWN if rows is None else frozenset(Policy(each.parts) for each in policies.of_type(rows, "MASKING POLICY"))
    )


def _is_ours(policy: Policy, sent: Collection[str]) -> bool:
    """Whether it was we who set a policy."""
    return f"{_POLICIES}.{policy}" in sent


def _policies_differ(spec: Any, have: frozenset[Policy], tracked: Collection[str]) -> Iterator[Deviation]:
    wanted = _Policies().canonical(spec.masking_policies or ())
    added, left = wanted - have, have - wanted
    gone = frozenset(each for each in left if _is_ours(each, tracked))
    if foreign := sorted(map(str, left - gone)) if wanted else ():
        said = f"holds {', '.join(foreign)} as well"
        yield Deviation("", wanted, have, change=Change.TOLD, said=said, remedy=NOT_OURS)
    # A tag has one policy a data type. The new one takes the place of the old one in one statement, so that no column
    # is bare in between; what it leaves is taken off once that has been seen. It never takes the place of another's.
    if added:
        ending = " FORCE" if gone and not foreign else ""
        yield Deviation("", wanted, have, actions=(Action("SET", _named(added, ending), alone=True),))
    elif gone:
        yield Deviation("", wanted or None, have, actions=(Action("UNSET", _named(gone), alone=True),))


def _clear(target: Target, rows: tuple[Row, ...], sent: Collection[str]) -> Clearance:
    """Masking policies keep a tag from being dropped ("Usage notes" of DROP TAG in Snowflake's documentation)."""
    there = [Policy(each.parts) for each in policies.of_type(rows, "MASKING POLICY")]
    if foreign := sorted(str(each) for each in there if not _is_ours(each, sent)):
        return Clearance(foreign=tuple(f"masking policy {each}" for each in foreign))
    return Clearance((Step(target.alter(sql.sql("UNSET {those}", those=_named(there)))),) if there else ())


def _named(those: Collection[Policy], ending: str = "") -> Sql:
    names = sorted(those, key=lambda each: each.parts)
    listed = sql.join([policies.clause("MASKING POLICY", each) for each in names], ", ")
    return sql.sql("{listed}{ending}", listed=listed, ending=sql.words(ending))


class TagSpec(InSchemaSpec):
    """A word with values that objects and columns can have, for people and for policies."""

    allowed_values: list[TagValue] | None = compared(
        _values_differ,
        codec=_Values(),
        observe=column("allowed_values"),
        source="show.allowed_values",
        clause=_allowing,
        place=Place.AFTER_NAME,
        min_length=1,
        max_length=5000,
    )
    """The values that it can have; any, when this is left out. What has a value that leaves the list keeps it."""
    no_allowed_values: bool | None = compared(
        _no_values_differ,
        codec=_None(),
        observe=column("allowed_values"),
        source="show.allowed_values",
        clause=lambda value: _allowing([_PLACEHOLDER]) if value else None,
        place=Place.AFTER_NAME,
    )
    """Whether it can have no value at all, so that nobody can set it."""
    propagate: Literal["NONE", "ON_DEPENDENCY", "ON_DATA_MOVEMENT", "ON_DEPENDENCY_AND_DATA_MOVEMENT"] | None = (
        compared(
            _propagate_differs,
            codec=_Propagation(quoted=False),
            observe=column("propagate"),
            source="show.propagate",
            clause=_propagate_clause,
        )
    )
    """Whether it goes along to what is made from what it is set on. Needs Enterprise Edition. What it has reached keeps
    it when this changes."""
    on_conflict: str | None = compared(
        _rule_differs,
        codec=Codec(),
        observe=column("on_conflict"),
        source="show.on_conflict",
        clause=_rule_clause,
        min_length=1,
        max_length=256,
    )
    """The value where several meet: a text, or ALLOWED_VALUES_SEQUENCE for the one that allowedValues lists first."""
    masking_policies: list[Annotated[str, StringConstraints(min_length=1, max_length=1024)]] | None = compared(
        _policies_differ,
        codec=_Policies(),
        observe=_policies_on,
        source="policies.MASKING POLICY",
        details=(policies.DETAIL,),
        check=split_in_schema,
        max_length=50,
    )
    """Masking policies of the columns that have the tag, at most one a data type, each by its fully-qualified name.
    Those that others have set are told and left alone; while there are any, the tag can't be dropped."""
    masking_policy_refs: list[Reference] | None = ref(
        "MaskingPolicy", instead_of="masking_policies", qualified=True, max_length=50
    )
    """The MaskingPolicies, in place of their names."""
    comment: str | None = comment(own_statement=True)
    """A note for people."""


def _faults(spec: TagSpec) -> Iterator[str]:
    rule, values = spec.on_conflict, spec.allowed_values
    if twice := [each for each, count in Counter(values or ()).items() if count > 1]:
        yield f"spec.allowedValues: {twice[0]!r} is listed twice: take one out"
    if rule == _SEQUENCE:
        if not values:
            yield f"spec.onConflict: {_SEQUENCE} needs values in allowedValues"
    elif rule is not None and values and rule not in values:
        yield f"spec.onConflict: {rule!r} isn't among allowedValues: add it there, or use one of them"


TAG = Kind(
    spec=TagSpec,
    domain=Domain.SCHEMA,
    object_type="TAG",
    level=Level.SCHEMA,
    # The values on objects, which its DROP takes along.
    holds_data=True,
    shown_in_pages=False,
    rules=(
        *IN_SCHEMA_RULES,
        exclusive("maskingPolicies", "maskingPolicyRefs"),
        Rule(
            "!has(self.allowedValues) || !has(self.noAllowedValues) || !self.noAllowedValues",
            "a tag that can have no value has no allowedValues: remove one of the two",
            "noAllowedValues",
        ),
        Rule(
            f"!has(self.onConflict) || (has(self.propagate) && self.propagate != '{_NOTHING}')",
            "onConflict says what to do where propagated values meet: set propagate",
            "onConflict",
        ),
    ),
    details={policies.DETAIL: policies.references},
    cleared=_POLICIES,
    clear=_clear,
    privileges={"APPLY TAG": "propagate", "APPLY MASKING POLICY": "maskingPolicies"},
    faults=lambda spec: tuple(_faults(spec)),
)
