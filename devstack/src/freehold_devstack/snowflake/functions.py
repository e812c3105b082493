"""Functions that SELECT can call: those about the session are here, types add their own."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, data_type
from freehold_devstack.snowflake.results import Cell

VERSION = "10.37.0"
"""What CURRENT_VERSION() says."""


@dataclass(frozen=True)
class Function:
    """A scalar function.

    Attributes:
        call: What it answers for its arguments.
        least, most: How many arguments it takes.
        acts: Whether it changes something.
    """

    name: str
    type: DataType
    call: Callable[[Context, tuple[Cell, ...]], Cell]
    least: int = 0
    most: int = 0
    acts: bool = False


@dataclass(frozen=True)
class TableFunction:
    """A function of INFORMATION_SCHEMA that `SELECT … FROM TABLE(…)` calls.

    Attributes:
        columns: The names of what it returns, all of them texts.
        signatures: The lists of arguments that it takes, any one of them.
        rows: What it returns for its arguments by name.
        named: Whether the arguments are given by name; else they are in order.
    """

    name: str
    columns: tuple[str, ...]
    signatures: tuple[tuple[str, ...], ...]
    rows: Callable[[Context, Mapping[str, str]], list[tuple[str | None, ...]]]
    named: bool = False


FUNCTIONS: dict[str, Function] = {}
TABLE_FUNCTIONS: dict[str, TableFunction] = {}
"""The known functions by their names, without schema."""


def register(*functions: Function | TableFunction) -> None:
    """Make functions known; a type does it where it is declared."""
    for function in functions:
        if isinstance(function, Function):
            FUNCTIONS[function.name] = function
        else:
            TABLE_FUNCTIONS[function.name] = function


def _secondary_roles(context: Context) -> str:
    if context.session.secondary == "NONE":
        return json.dumps({"roles": "", "value": ""}, separators=(",", ":"))
    active = (context.catalog[each] for each in context.authority.secondary - {context.session.role})
    roles = sorted(role.name for role in active if role.kind == "ROLE")
    value = "ALL" if context.session.secondary == "ALL" else ",".join(roles)
    return json.dumps({"roles": ",".join(roles), "value": value}, separators=(",", ":"))


def _user(context: Context) -> str | None:
    return None if context.session.user is None else context.catalog[context.session.user].name


def _without_arguments(value: Callable[[Context], Cell]) -> Callable[[Context, tuple[Cell, ...]], Cell]:
    return lambda context, _: value(context)


def _register_context_functions() -> None:
    texts: Mapping[str, Callable[[Context], str | None]] = {
        "CURRENT_ACCOUNT": lambda context: context.identity.locator,
        "CURRENT_ACCOUNT_NAME": lambda context: context.identity.name,
        "CURRENT_DATABASE": lambda context: context.current_name("DATABASE"),
        "CURRENT_ORGANIZATION_NAME": lambda context: context.identity.organization,
        "CURRENT_REGION": lambda context: context.identity.region,
        "CURRENT_ROLE": lambda context: context.current_name("ROLE"),
        "CURRENT_SCHEMA": lambda context: context.current_name("SCHEMA"),
        "CURRENT_SECONDARY_ROLES": _secondary_roles,
        "CURRENT_SESSION": lambda context: str(context.session.id),
        "CURRENT_USER": _user,
        "CURRENT_VERSION": lambda _: VERSION,
        "CURRENT_WAREHOUSE": lambda context: context.current_name("WAREHOUSE"),
    }
    for name, value in texts.items():
        register(Function(name, data_type("VARCHAR"), _without_arguments(value)))
    register(Function("CURRENT_TIMESTAMP", data_type("TIMESTAMP_LTZ(3)"), lambda context, _: context.now))


_register_context_functions()
