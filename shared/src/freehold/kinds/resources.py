"""Every custom resource there is: the kinds of the registry, and what stands for no object of Snowflake's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from freehold.claims import CLAIM
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import Resource
from freehold.kinds.utility.declaration import Declared, Utility
from freehold.kinds.utility.fieldexport import FIELD_EXPORT
from freehold.kinds.utility.sqlstatement import SQL_STATEMENT

UTILITIES: Mapping[str, Utility] = MappingProxyType({each.name: each for each in (FIELD_EXPORT, SQL_STATEMENT)})
"""Utilities by name."""

DECLARED: Mapping[str, Declared] = MappingProxyType({**KINDS, **UTILITIES})
"""Kinds and utilities by name."""

RESOURCES: tuple[Resource, ...] = (
    CLAIM,
    PROVIDER_CONFIG,
    *(each.resource for each in DECLARED.values()),
)
"""Every custom resource."""
