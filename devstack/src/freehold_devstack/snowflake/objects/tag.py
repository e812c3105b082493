"""TAG: https://docs.snowflake.com/en/sql-reference/sql/create-tag and the pages beside it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from freehold_devstack.snowflake import errors, tag_references
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.functions import register
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Literal, Name, Parser
from freehold_devstack.snowflake.policies import arguments_of
from freehold_devstack.snowflake.results import text
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    stored,
)
from freehold_devstack.snowflake.tags import (
    ALLOWED_VALUES,
    APPLY_MASKING_POLICY,
    TAG_POLICIES,
    allowed_values,
    check_value,
    policies_of_tag,
)
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import InvalidValueError, Text, choice

MAX_ALLOWED_VALUES = 5000

_PROPAGATE, _ON_CONFLICT = "PROPAGATE", "ON_CONFLICT"
_SEQUENCE = "ALLOWED_VALUES_SEQUENCE"
_PROPAGATION = "TAG PROPAGATION"
_MULTIPLE = "MULTI_VALUE"

_NOT_COVERED = ("SET DATA MOVEMENT POLICY", "UNSET DATA MOVEMENT POLICY", f"SET {_MULTIPLE}", "UNSET DCM PROJECT")
"""Forms of ALTER."""

# --- allowed values --------------------------------------------------------------------------------------------------


def _parse_values(parser: Parser) -> tuple[str, ...]:
    """Take `'<value>' [, …]`."""
    values: list[str] = []
    while not values or parser.accept(","):
        value = parser.string()
        if value in values:
            raise errors.unnumbered(f"duplicate allowed value '{value}'")
        values.append(value)
    return tuple(values)


def _parse_signature(parser: Parser) -> Given:
    """Take ALLOWED_VALUES, which comes before all properties."""
    return {ALLOWED_VALUES: _parse_values(parser) if parser.accept(ALLOWED_VALUES) else None}


def _added(old: tuple[str, ...] | None, values: Iterable[str]) -> Value:
    return tuple(dict.fromkeys((*(old or ()), *values)))


def _dropped(old: tuple[str, ...] | None, values: Iterable[str]) -> Value:
    return None if old is None else tuple(value for value in old if value not in values)


def _change_values(change: Callable[[tuple[str, ...] | None, Sequence[str]], Value], parser: Parser) -> Act:
    values = _parse_values(parser)
    return lambda context, tag: _allow(context, tag, change(allowed_values(tag), values))


def _unset_values(_parser: Parser) -> Act:
    return lambda context, tag: _allow(context, tag, None)


def _allow(context: Context, tag: CatalogObject, values: Value) -> None:
    changed = replace(tag, properties={**tag.properties, ALLOWED_VALUES: values})
    context.catalog.update(tag, _settle(context, changed, frozenset({ALLOWED_VALUES})))


# --- propagation -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """ON_CONFLICT: a value in quotes, or the word for the first of the allowed values."""

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Scalar:
        """As `ValueType.read`; the word in quotes is none, so that no value can be taken for it."""
        if literal.kind is TokenKind.WORD and literal.value == "MERGE":
            raise errors.unsupported("ON_CONFLICT = MERGE")
        wanted = TokenKind.WORD if literal.value == _SEQUENCE else TokenKind.STRING
        if literal.kind is not wanted:
            raise InvalidValueError
        return literal.value


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Hold the values to their limits and the rule to the tag; SET PROPAGATE without a rule ends the old one."""
    allowed, propagate = allowed_values(draft), draft.properties[_PROPAGATE]
    if len(allowed or ()) > MAX_ALLOWED_VALUES:
        raise errors.unnumbered(f"A tag can have at most {MAX_ALLOWED_VALUES} allowed values.")
    for value in allowed or ():
        check_value(value, draft.name)
    if _PROPAGATE in given and propagate is not None:
        context.require("APPLY TAG", context.catalog.account)
    if _PROPAGATE in given and _ON_CONFLICT not in given:
        draft = replace(draft, properties={**draft.properties, _ON_CONFLICT: None})
    rule = draft.properties[_ON_CONFLICT]
    if rule is not None:
        _check_rule(rule, allowed, propagates=propagate is not None)
    return draft


def _check_rule(rule: Value, allowed: tuple[str, ...] | None, *, propagates: bool) -> None:
    if not propagates:
        raise errors.conflict_rule("On Conflict can only be set when the PROPAGATE property is set")
    if rule == _SEQUENCE and not allowed:
        raise errors.conflict_rule(
            "On conflict as allowed_values_sequence requires allowed values to be added to the Tag"
        )
    if rule != _SEQUENCE and allowed and rule not in allowed:
        raise errors.conflict_rule("On Conflict value must be part of Allowed Values if set")


# --- masking policies ------------------------------------------------------------------------------------------------


def _parse_policies(parser: Parser) -> list[Name]:
    """Take `<name> [, MASKING POLICY <name> …]`."""
    names = [parser.name(parts=3)]
    while parser.accept(","):
        parser.expect("MASKING", "POLICY")
        names.append(parser.name(parts=3))
    return names


def _set_policies(parser: Parser) -> Act:
    names, force = _parse_policies(parser), parser.accept("FORCE")

    def act(context: Context, tag: CatalogObject) -> None:
        held = {_masked_type(context, policy): policy for policy in policies_of_tag(tag)}
        given = [policy.id for policy in _policies(context, names)]
        new = {_masked_type(context, policy): policy for policy in given}
        if len(new) < len(given) or (new.keys() & held and not force):
            raise errors.unnumbered(f"Tag '{tag.name}' can have only one masking policy per data type.")
        _hold(context, tag, {**held, **new}.values())

    return act


def _unset_policies(parser: Parser) -> Act:
    names = _parse_policies(parser)

    def act(context: Context, tag: CatalogObject) -> None:
        gone = [policy.id for policy in _policies(context, names)]
        held = policies_of_tag(tag)
        if len({*gone}) < len(gone) or not {*gone} <= {*held}:
            raise errors.unnumbered(f"Masking policy is not set on tag '{tag.name}'.")
        _hold(context, tag, [policy for policy in held if policy not in gone])

    return act


def _policies(context: Context, names: Iterable[Name]) -> list[CatalogObject]:
    context.require(APPLY_MASKING_POLICY, context.catalog.account)
    return [context.resolve_reference("MASKING POLICY", name, "ALTER") for name in names]


def _masked_type(context: Context, policy: int) -> str:
    masked = arguments_of(context.catalog[policy])[0].type
    return "" if masked is None else masked.base


def _hold(context: Context, tag: CatalogObject, policies: Iterable[int]) -> None:
    context.catalog.update(tag, replace(tag, properties={**tag.properties, TAG_POLICIES: tuple(policies)}))


def _dropping(_context: Context, tag: CatalogObject) -> None:
    if policies_of_tag(tag):
        raise errors.unnumbered(f"Tag '{tag.name}' cannot be dropped/replaced as a masking policy is set on it.")


# --- the type --------------------------------------------------------------------------------------------------------


def _shown(context: Context, tag: CatalogObject) -> bool:
    """Whoever may use a schema is shown its tags."""
    schema = context.catalog[tag.parent or 0]
    return context.authority.touches(schema) or context.authority.resolves(tag, TYPE.rights.visible_with)


def _allowed(_context: Context, tag: CatalogObject) -> Scalar:
    values = allowed_values(tag)
    return None if values is None else json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _propagate(context: Context, tag: CatalogObject) -> Scalar:
    return str(tag.properties[_PROPAGATE] or "NONE") if context.enabled(_PROPAGATION) else None


_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    OWNER,
    COMMENT,
    ShowColumn(text("allowed_values"), _allowed),
    OWNER_ROLE_TYPE,
    ShowColumn(text("propagate"), _propagate),
    ShowColumn(text("on_conflict"), stored(_ON_CONFLICT)),
)

register(*tag_references.FUNCTIONS)

TYPE = ObjectType(
    kind="TAG",
    plural="TAGS",
    container="SCHEMA",
    signature=_parse_signature,
    clauses=(Part(_MULTIPLE, uncovered(_MULTIPLE)),),
    properties=(
        Property(
            _PROPAGATE,
            choice("ON_DEPENDENCY_AND_DATA_MOVEMENT", "ON_DEPENDENCY", "ON_DATA_MOVEMENT"),
            feature=_PROPAGATION,
        ),
        Property(_ON_CONFLICT, _Rule(), feature=_PROPAGATION),
        Property("COMMENT", Text(), default="", unset=""),
    ),
    or_alter=True,
    retained=True,
    kept_days=1,
    taggable=False,
    rights=Rights(
        grantable=frozenset({"APPLY", "APPLYBUDGET", "MODIFY", "MONITOR", "READ"}),
        visible_with=("APPLY TAG",),
        shown_when=_shown,
    ),
    actions=(
        Action("ADD ALLOWED_VALUES", partial(_change_values, _added)),
        Action("DROP ALLOWED_VALUES", partial(_change_values, _dropped)),
        Action("SET ALLOWED_VALUES", partial(_change_values, lambda _, values: tuple(values))),
        Action("UNSET ALLOWED_VALUES", _unset_values),
        *(Action(words, uncovered(words)) for words in _NOT_COVERED),
        Action("SET MASKING POLICY", _set_policies, None),
        Action("UNSET MASKING POLICY", _unset_policies, None),
    ),
    show=Show(_COLUMNS, named=True),
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=_dropping,
    ),
)
