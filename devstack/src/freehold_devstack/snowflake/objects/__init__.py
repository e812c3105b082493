"""The object types, one declaration a module: a module in this package that has a `TYPE` is all that a type takes."""

import importlib
import pkgutil

from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.object_types import Types


def load() -> Types:
    """All declared types by kind."""
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    declared: list[ObjectType] = [module.TYPE for module in modules]
    return Types(declared)
