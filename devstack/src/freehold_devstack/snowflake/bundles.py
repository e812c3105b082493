"""Behaviour change bundles, which an account switches before Snowflake does it for all.

https://docs.snowflake.com/en/sql-reference/functions/system_behavior_change_bundle_status and the pages beside it
"""

import json
from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.context import BUNDLES, Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.functions import Function
from freehold_devstack.snowflake.results import Cell

_OLDEST = min(BUNDLES)


def _name(given: Cell) -> str:
    """The name of a bundle that there is, or was.

    Raises:
        SqlError: 999999 for any other text.
    """
    name = str(given)
    year, _, month = name.partition("_")
    if name not in BUNDLES and not (len(name) == len(_OLDEST) and (year + month).isdigit() and name < _OLDEST):
        raise errors.unnumbered(f"Behavior change bundle '{name}' does not exist.")
    return name


def _told(enabled: bool) -> str:
    return "ENABLED" if enabled else "DISABLED"


def _status(context: Context, given: tuple[Cell, ...]) -> Cell:
    name = _name(given[0])
    return _told(context.bundle(name)) if name in BUNDLES else "RELEASED"


def _switch(context: Context, given: tuple[Cell, ...], *, enabled: bool) -> Cell:
    context.require_role("ACCOUNTADMIN")
    name = _name(given[0])
    if name not in BUNDLES:
        raise errors.unnumbered(f"Behavior change bundle '{name}' is released and can't be switched.")
    account = context.catalog.account
    switched = {each: context.bundle(each) for each in BUNDLES if context.bundle(each) != BUNDLES[each]}
    properties = {**account.properties, "BUNDLES": {**switched, name: enabled}}
    context.catalog.update(account, replace(account, properties=properties))
    return _told(enabled)


def _active(context: Context, _given: tuple[Cell, ...]) -> Cell:
    return json.dumps(
        [{"name": name, "isDefault": BUNDLES[name], "isEnabled": context.bundle(name)} for name in BUNDLES],
        separators=(",", ":"),
    )


_TEXT = data_type("VARCHAR")
_ENABLE, _DISABLE = (partial(_switch, enabled=enabled) for enabled in (True, False))

FUNCTIONS = (
    Function("SYSTEM$BEHAVIOR_CHANGE_BUNDLE_STATUS", _TEXT, _status, least=1, most=1),
    Function("SYSTEM$ENABLE_BEHAVIOR_CHANGE_BUNDLE", _TEXT, _ENABLE, least=1, most=1, acts=True),
    Function("SYSTEM$DISABLE_BEHAVIOR_CHANGE_BUNDLE", _TEXT, _DISABLE, least=1, most=1, acts=True),
    Function("SYSTEM$SHOW_ACTIVE_BEHAVIOR_CHANGE_BUNDLES", _TEXT, _active),
)
