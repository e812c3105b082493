"""The packages that Python handlers can ask for: a small part of Snowflake's channel, with some of its versions."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping

from freehold_devstack.snowflake import errors

SNOWPARK = "snowflake-snowpark-python"
"""Without it no procedure runs."""

_TELEMETRY = "snowflake-telemetry-python"
"""What Snowflake adds by itself."""

_CHANNEL: Mapping[str, tuple[str, ...]] = {
    "about-time": ("4.2.1",),
    "absl-py": ("0.12.0", "2.1.0"),
    "cryptography": ("41.0.3", "43.0.0"),
    "numpy": ("1.23.5", "1.26.4", "2.2.5"),
    "pandas": ("1.5.3", "2.0.3", "2.2.3"),
    "pyyaml": ("6.0.1", "6.0.2"),
    "requests": ("2.31.0", "2.32.3"),
    "scikit-learn": ("1.3.0", "1.5.2"),
    "scipy": ("1.10.1", "1.14.1"),
    SNOWPARK: ("1.14.0", "1.23.0", "1.40.0"),
    _TELEMETRY: ("0.5.0",),
    "spacy": ("2.3.5", "3.7.2"),
    "xgboost": ("1.5.0", "1.7.3", "2.1.1"),
}
"""Versions by package, the oldest first."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+?)(?:(?P<how>==|<=|>=|<|>)(?P<version>\d{1,9}(?:\.\d{1,9})*))?")
_COMPARISONS: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def name_of(requirement: str) -> str:
    """The package that a requirement, e.g. `numpy>=1.26`, is about."""
    match = _REQUIREMENT.fullmatch(requirement)
    return match["name"].lower() if match else requirement


def install(requirements: Iterable[str]) -> tuple[str, ...]:
    """The packages as they get installed: `name==version`, by name.

    Raises:
        SqlError: 391525 for what is not in the channel.
    """
    wanted = [*dict.fromkeys(requirements)]
    found = {requirement: _newest(requirement) for requirement in wanted}
    if missing := [requirement for requirement, version in found.items() if version is None]:
        raise errors.packages_not_found(missing)
    installed = {name_of(requirement): version for requirement, version in found.items()}
    return tuple(f"{name}=={version}" for name, version in sorted({_TELEMETRY: "0.5.0", **installed}.items()))


def _newest(requirement: str) -> str | None:
    """The newest version that meets a requirement."""
    match = _REQUIREMENT.fullmatch(requirement)
    versions = _CHANNEL.get(name_of(requirement), ())
    if match is None or not match["how"]:
        return versions[-1] if match and versions else None
    compare, bound = _COMPARISONS[match["how"]], _numbers(match["version"])
    return next((version for version in reversed(versions) if compare(_numbers(version), bound)), None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
