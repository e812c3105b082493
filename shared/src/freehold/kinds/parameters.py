"""Object parameters by name, as a map in a spec: what is in it is set on the object, all others are left alone.

What an object only inherits reads as None, which is no value: a parameter that is asked for is then to be set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import Field

from freehold import sql
from freehold.kinds.observers import own_parameter
from freehold.kinds.property import Property
from freehold.kinds.resource import Rule
from freehold.kinds.values import Boolean, Codec, Number, Word
from freehold.sql import Sql

MAX_LENGTH = 4096
"""Characters of a value."""


class _Number(Number):
    """A whole number, which a manifest gives as a text."""

    def read(self, raw: object) -> Any:
        return None if raw is None else super().read(raw)

    def canonical(self, value: Any) -> int:
        try:
            return int(value)
        except ValueError:
            raise ValueError(f"{value!r} is no whole number") from None


class _Boolean(Boolean):
    """True or false, likewise."""

    _WORDS: ClassVar = {"true": True, "false": False}

    def read(self, raw: object) -> Any:
        return None if raw is None else super().read(raw)

    def canonical(self, value: Any) -> bool:
        try:
            return self._WORDS[str(value).lower()]
        except KeyError:
            raise ValueError(f"{value!r} is neither true nor false") from None

    def render(self, value: Any) -> Sql:
        return super().render(self.canonical(value))


class _Word(Word):
    """One of a few words, likewise."""

    def read(self, raw: object) -> Any:
        return None if raw is None else super().read(raw)


_BOOLEANS = (
    "ABORT_DETACHED_QUERY", "AUTOCOMMIT", "CLIENT_METADATA_REQUEST_USE_CONNECTION_CTX",
    "CLIENT_RESULT_COLUMN_CASE_INSENSITIVE", "CLIENT_SESSION_KEEP_ALIVE", "ENABLE_UNLOAD_PHYSICAL_TYPE_OPTIMIZATION",
    "ERROR_ON_NONDETERMINISTIC_MERGE", "ERROR_ON_NONDETERMINISTIC_UPDATE", "JDBC_TREAT_DECIMAL_AS_INT",
    "JDBC_TREAT_TIMESTAMP_NTZ_AS_UTC", "JDBC_USE_SESSION_TIMEZONE", "NOORDER_SEQUENCE_AS_DEFAULT",
    "ODBC_TREAT_DECIMAL_AS_INT", "QUOTED_IDENTIFIERS_IGNORE_CASE", "STRICT_JSON_OUTPUT",
    "TIMESTAMP_DAY_IS_ALWAYS_24H", "TRANSACTION_ABORT_ON_ERROR", "USE_CACHED_RESULT",
)  # fmt: skip
_NUMBERS = (
    "CLIENT_MEMORY_LIMIT", "CLIENT_PREFETCH_THREADS", "CLIENT_RESULT_CHUNK_SIZE",
    "CLIENT_SESSION_KEEP_ALIVE_HEARTBEAT_FREQUENCY", "JSON_INDENT", "LOCK_TIMEOUT", "MULTI_STATEMENT_COUNT",
    "ROWS_PER_RESULTSET", "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS", "STATEMENT_TIMEOUT_IN_SECONDS",
    "TWO_DIGIT_CENTURY_START", "WEEK_OF_YEAR_POLICY", "WEEK_START",
)  # fmt: skip
_WORDS = (
    "BINARY_INPUT_FORMAT", "BINARY_OUTPUT_FORMAT", "CLIENT_TIMESTAMP_TYPE_MAPPING", "GEOGRAPHY_OUTPUT_FORMAT",
    "GEOMETRY_OUTPUT_FORMAT", "LOG_LEVEL", "TIMESTAMP_TYPE_MAPPING", "TRACE_LEVEL",
    "TRANSACTION_DEFAULT_ISOLATION_LEVEL", "UNSUPPORTED_DDL_ACTION",
)  # fmt: skip
_TEXTS = (
    "DATE_INPUT_FORMAT", "DATE_OUTPUT_FORMAT", "QUERY_TAG", "S3_STAGE_VPCE_DNS_NAME", "SEARCH_PATH",
    "SIMULATED_DATA_SHARING_CONSUMER", "TIMESTAMP_INPUT_FORMAT", "TIMESTAMP_LTZ_OUTPUT_FORMAT",
    "TIMESTAMP_NTZ_OUTPUT_FORMAT", "TIMESTAMP_OUTPUT_FORMAT", "TIMESTAMP_TZ_OUTPUT_FORMAT", "TIMEZONE",
    "TIME_INPUT_FORMAT", "TIME_OUTPUT_FORMAT",
)  # fmt: skip

BOOLEAN, NUMBER, TEXT = _Boolean(), _Number(), Codec()
WORD = _Word(case={"GEOJSON": "GeoJSON"})
"""What parameters are, as they are written in a statement and read back."""

SESSION_PARAMETERS: Mapping[str, Codec] = {
    **dict.fromkeys(_BOOLEANS, BOOLEAN),
    **dict.fromkeys(_NUMBERS, NUMBER),
    **dict.fromkeys(_WORDS, WORD),
    **dict.fromkeys(_TEXTS, TEXT),
}
"""Session parameters. Source: "Parameters" in Snowflake's documentation."""


def parameters(codecs: Mapping[str, Codec], *, level: str, separator: str = " ") -> Any:
    """A map of parameters that are set on the object itself: a field `dict[str, str]`.

    Each is compared by itself, in SHOW PARAMETERS at the object's own level: what is only inherited counts as not set.
    One that leaves the map is UNSET.

    Args:
        codecs: the parameters that it may hold, and what each of them is.
        level: the object's type, as SHOW PARAMETERS prints it in the column `level`.
        separator: between them in CREATE.
    """
    members = {key: Property(sql=key, codec=codec, observe=own_parameter(key, level)) for key, codec in codecs.items()}

    def clause(given: Mapping[str, str]) -> Sql:
        return sql.join((members[key].assignment(value) for key, value in given.items()), separator)

    def check(given: Mapping[str, str]) -> None:
        for key, value in given.items():
            if key not in members:
                raise ValueError(f"{key!r} is no parameter that can be set here; names are in upper case")
            try:
                codecs[key].canonical(value)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from None

    facts = Property(source="parameters", clause=clause, check=check, members=members)
    return Field(default=None, json_schema_extra=facts)


def known(field: str, codecs: Iterable[str]) -> Rule:
    """A map of parameters holds such alone.

    Args:
        field: its name in the manifest.
        codecs: the parameters that it may hold.
    """
    return Rule(
        f"!has(self.{field}) || self.{field}.all(key, key in {sorted(codecs)})",
        f"{field} holds what is no parameter that can be set here; names are in upper case",
        field,
    )
