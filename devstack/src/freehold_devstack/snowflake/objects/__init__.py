"""The object types, one declaration a module: a module in this package that has a `TYPE` is all that a type takes."""

import importlib
import pkgutil
from collections.abc import Mapping

from freehold_devstack.snowflake.object_type import ObjectType


def load() -> Mapping[str, ObjectType]:
    """All declared types by kind."""
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    declared: list[ObjectType] = [module.TYPE for module in modules]
    return {object_type.kind: object_type for object_type in declared}
