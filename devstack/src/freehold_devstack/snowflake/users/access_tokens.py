"""Programmatic access tokens: the forms of ALTER USER that make and change them, and their SHOW.

https://docs.snowflake.com/en/sql-reference/sql/alter-user-add-programmatic-access-token and the pages beside it
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.auth.access_token import TOKENS, hash_secret
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, mapped
from freehold_devstack.snowflake.context import MILLISECONDS_PER_DAY, MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.ddl import parse_assignments, parse_unset, read_literals
from freehold_devstack.snowflake.grammar import Act, Action, Property
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Literal, Name, Parser
from freehold_devstack.snowflake.results import Result, number, text, timestamp
from freehold_devstack.snowflake.values import Boolean, Integer, Reference, Text

PRIVILEGE = "MODIFY PROGRAMMATIC AUTHENTICATION METHODS"
"""What it takes on a user that isn't one's own."""

_MAX_TOKENS = 15
_KEPT_DAYS = 7
"""Days after which an expired token is gone."""
_ROTATED_HOURS = 24
_HOUR = 60 * MILLISECONDS_PER_MINUTE

_BYPASS = "MINS_TO_BYPASS_NETWORK_POLICY_REQUIREMENT"
_SETTINGS = (
    Property("ROLE_RESTRICTION", Reference("")),
    Property("DAYS_TO_EXPIRY", Integer(1, 365), 15),
    Property("DISABLED", Boolean(), False),
    Property(_BYPASS, Integer(1, 1440)),
    Property("COMMENT", Text()),
    Property("EXPIRE_ROTATED_TOKEN_AFTER_HOURS", Integer(0), _ROTATED_HOURS),
)
_BY_NAME: Mapping[str, Property] = {setting.name: setting for setting in _SETTINGS}
_ADDED = ("ROLE_RESTRICTION", "DAYS_TO_EXPIRY", _BYPASS, "COMMENT")
_MODIFIED = ("DISABLED", _BYPASS, "COMMENT")
_ROTATED = ("EXPIRE_ROTATED_TOKEN_AFTER_HOURS",)

Token = Mapping[str, Value]


def _tokens(context: Context, user: CatalogObject) -> dict[str, Token]:
    """A user's tokens by name, without those that expired long ago."""
    long_ago = context.now - _KEPT_DAYS * MILLISECONDS_PER_DAY
    return {
        name: mapped(token)
        for name, token in mapped(user.properties.get(TOKENS)).items()
        if _expiry(mapped(token)) > long_ago
    }


def _expiry(token: Token) -> float:
    end = token.get("EXPIRES_AT")
    return end if isinstance(end, int) else float("inf")


def _store(context: Context, user: CatalogObject, tokens: Mapping[str, Token]) -> None:
    context.catalog.update(user, replace(user, properties={**user.properties, TOKENS: dict(tokens)}))


def _require(context: Context, user: CatalogObject) -> None:
    if not context.is_self(user):
        context.require(PRIVILEGE, user)


def _new_secret() -> str:
    return str(uuid.uuid4())


def _author(context: Context) -> str | None:
    return None if context.session.user is None else context.catalog[context.session.user].name


def _parse_settings(parser: Parser, allowed: tuple[str, ...]) -> dict[str, Literal]:
    literals = parse_assignments(parser, commas=True)
    _check_names(literals, allowed)
    return literals


def _check_names(names: Mapping[str, object], allowed: tuple[str, ...]) -> None:
    for name in names:
        if name not in allowed:
            raise errors.invalid_property(name, "PROGRAMMATIC_ACCESS_TOKEN")


# --- making ----------------------------------------------------------------------------------------------------------


def _parse_add(parser: Parser) -> Act:
    if_not_exists = parser.accept("IF", "NOT", "EXISTS")
    name = parser.identifier()
    literals = _parse_settings(parser, _ADDED)

    def act(context: Context, user: CatalogObject) -> Result | None:
        _require(context, user)
        given = {setting: _BY_NAME[setting].default for setting in _ADDED}
        given |= read_literals(context, _BY_NAME, literals)
        tokens = _tokens(context, user)
        if name in tokens:
            if if_not_exists:
                return None
            raise errors.already_exists(name)
        _check_new(context, user, tokens, given)
        secret = _new_secret()
        expires = context.now + int(str(given["DAYS_TO_EXPIRY"])) * MILLISECONDS_PER_DAY
        facts = {"CREATED_ON": context.now, "CREATED_BY": _author(context), "EXPIRES_AT": expires, "DISABLED": False}
        _store(
            context,
            user,
            {**tokens, name: {"SECRET": hash_secret(secret), **given, **facts, **_bypass(context, given)}},
        )
        return Result((text("token_name"), text("token_secret")), [(name, secret)])

    return act


def _check_new(context: Context, user: CatalogObject, tokens: Mapping[str, Token], given: Mapping[str, Value]) -> None:
    if sum(_expiry(token) > context.now for token in tokens.values()) >= _MAX_TOKENS:
        raise errors.unnumbered(f"A user can have at most {_MAX_TOKENS} programmatic access tokens.")
    role = given["ROLE_RESTRICTION"]
    if role is None:
        if user.properties["TYPE"] != "PERSON":
            raise errors.unnumbered("ROLE_RESTRICTION is required for programmatic access tokens of service users.")
        return
    restricted = context.resolve(context.types["ROLE"], (str(role),), "ALTER")
    if restricted.id not in context.catalog.inherited_roles(user.id):
        raise errors.unnumbered(f"Role '{role}' is not granted to user '{user.name}'.")
    if given[_BYPASS] is not None and user.properties["TYPE"] != "PERSON":
        raise errors.unnumbered(f"{_BYPASS} can be set on tokens of persons only.")


def _bypass(context: Context, given: Mapping[str, Value]) -> dict[str, Value]:
    """Until when a token needs no network policy; what it was set to is not kept."""
    minutes = given.get(_BYPASS)
    until = context.now + minutes * MILLISECONDS_PER_MINUTE if isinstance(minutes, int) else None
    return {_BYPASS: until} if _BYPASS in given else {}


# --- changing --------------------------------------------------------------------------------------------------------

_Change = Callable[[Context, CatalogObject, dict[str, Token], str], Result | None]
"""Does something with one of a user's tokens, which are given by name."""


def _on_token(parse: Callable[[Parser], _Change], parser: Parser) -> Act:
    """What follows the words of an action on a token that is there."""
    if_exists = parser.accept("IF", "EXISTS")
    name = parser.identifier()
    change = parse(parser)

    def act(context: Context, user: CatalogObject) -> Result | None:
        _require(context, user)
        tokens = _tokens(context, user)
        if name in tokens:
            return change(context, user, tokens, name)
        if if_exists:
            return None
        raise errors.unnumbered(f"Programmatic access token {name} not found.")

    return act


def _parse_modify(parser: Parser) -> _Change:
    if parser.accept("RENAME", "TO"):
        new_name = parser.identifier()
        return lambda context, user, tokens, name: _rename(context, user, tokens, name, new_name)
    literals: Mapping[str, Literal | None]
    if parser.choose("SET", "UNSET") == "SET":
        literals = _parse_settings(parser, _MODIFIED)
        if not literals:
            raise parser.unexpected()
    else:
        literals = parse_unset(parser)
        _check_names(literals, _MODIFIED)

    def change(context: Context, user: CatalogObject, tokens: dict[str, Token], name: str) -> None:
        given = {setting: _BY_NAME[setting].default for setting in literals}
        set_now = {setting: literal for setting, literal in literals.items() if literal is not None}
        given |= read_literals(context, _BY_NAME, set_now)
        _store(context, user, {**tokens, name: {**tokens[name], **given, **_bypass(context, given)}})

    return change


def _rename(context: Context, user: CatalogObject, tokens: dict[str, Token], name: str, new_name: str) -> None:
    if new_name in tokens:
        raise errors.already_exists(new_name)
    _store(context, user, {new_name if each == name else each: token for each, token in tokens.items()})


def _parse_rotate(parser: Parser) -> _Change:
    literals = _parse_settings(parser, _ROTATED)

    def change(context: Context, user: CatalogObject, tokens: dict[str, Token], name: str) -> Result:
        given = {setting: _BY_NAME[setting].default for setting in _ROTATED} | read_literals(
            context, _BY_NAME, literals
        )
        old = tokens[name]
        end = min(context.now + int(str(given[_ROTATED[0]])) * _HOUR, _expiry(old))
        rotated_name = f"{name}_ROTATED_{context.now}"
        days = int(str(old.get("DAYS_TO_EXPIRY") or _BY_NAME["DAYS_TO_EXPIRY"].default))
        secret = _new_secret()
        new = {
            **old,
            "SECRET": hash_secret(secret),
            "CREATED_ON": context.now,
            "EXPIRES_AT": context.now + days * MILLISECONDS_PER_DAY,
        }
        rotated = {**old, "EXPIRES_AT": int(end), "ROTATED_TO": name}
        _store(context, user, {**tokens, name: new, rotated_name: rotated})
        columns = (text("token_name"), text("token_secret"), text("rotated_token_name"))
        return Result(columns, [(name, secret, rotated_name)])

    return change


def _parse_remove(_parser: Parser) -> _Change:
    return lambda context, user, tokens, name: _store(
        context, user, {each: token for each, token in tokens.items() if each != name}
    )


_PARSERS: Mapping[str, Callable[[Parser], Act]] = {
    "ADD": _parse_add,
    "MODIFY": partial(_on_token, _parse_modify),
    "ROTATE": partial(_on_token, _parse_rotate),
    "REMOVE": partial(_on_token, _parse_remove),
}

ACTIONS = tuple(
    Action(f"{verb} {words}", parse, None)
    for verb, parse in _PARSERS.items()
    for words in ("PROGRAMMATIC ACCESS TOKEN", "PAT")
)
"""The forms of ALTER USER."""


# --- SHOW ------------------------------------------------------------------------------------------------------------

_COLUMNS = (
    text("name"), text("user_name"), text("role_restriction"), timestamp("expires_at"), text("status"), text("comment"),
    timestamp("created_on"), text("created_by"), number("mins_to_bypass_network_policy_requirement"),
    text("rotated_to"),
)  # fmt: skip


@dataclass(frozen=True)
class ShowTokens:
    """SHOW USER { PROGRAMMATIC ACCESS TOKENS | PATS } [FOR USER <user>]."""

    user: Name = ()

    @property
    def form(self) -> Form:
        return Form("SHOW", "USER PROGRAMMATIC ACCESS TOKENS", self.user)

    def execute(self, context: Context) -> Result:
        user = named_or_self(context, self.user)
        _require(context, user)
        tokens = _tokens(context, user)
        return Result(_COLUMNS, [self._row(context, user, name, tokens[name]) for name in sorted(tokens)])

    def _row(self, context: Context, user: CatalogObject, name: str, token: Token) -> tuple[Scalar, ...]:
        ended = _expiry(token) <= context.now
        status = "EXPIRED" if ended else "DISABLED" if token.get("DISABLED") else "ACTIVE"
        bypassed = token.get(_BYPASS)
        left = bypassed - context.now if isinstance(bypassed, int) else 0
        facts = {fact: value for fact, value in token.items() if value is None or isinstance(value, str | int)}
        return (
            name, user.name, facts.get("ROLE_RESTRICTION"), facts.get("EXPIRES_AT"), status, facts.get("COMMENT"),
            facts.get("CREATED_ON"), facts.get("CREATED_BY"),
            left // MILLISECONDS_PER_MINUTE if left > 0 else None, facts.get("ROTATED_TO"),
        )  # fmt: skip


def named_or_self(context: Context, name: Name) -> CatalogObject:
    """The user of this name; without one, the session's own.

    Raises:
        SqlError: 002003 for a missing one; 999999 in a session of nobody.
    """
    if name:
        return context.resolve(context.types["USER"], name, "SHOW")
    if context.session.user is None:
        raise errors.unnumbered("The session has no user.")
    return context.catalog[context.session.user]


def parse_for_user(parser: Parser) -> Name:
    """Take `[FOR USER <user>]`."""
    return (parser.identifier(),) if parser.accept("FOR", "USER") else ()


def parse_show_tokens(parser: Parser) -> Statement:
    return ShowTokens(parse_for_user(parser))
