"""What a handler in Python, Java or Scala runs with: a runtime, packages, files from stages, ways out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Protocol

import orjson
from pydantic import Field

from freehold import sql
from freehold.identifiers import InvalidName, qualified, split, split_in_schema, unquoted
from freehold.kinds.clauses import clause
from freehold.kinds.described import DETAIL, described
from freehold.kinds.fields import checked, custom, prop
from freehold.kinds.model import Model
from freehold.kinds.property import Change, Target
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN
from freehold.sql import Sql

Package = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\s'\"]+$")]
Import = Annotated[str, Field(min_length=2, max_length=2048)]

_PIN = re.compile(r"([A-Za-z0-9._-]+)(.*)")
_PART = r'(?:"(?:[^"]|"")+"|[A-Za-z_][\w$]*)'
_STAGED = re.compile(rf"@(?P<stage>~|%{_PART}|{_PART}(?:\.{_PART}){{0,2}})(?:/(?P<path>.*))?", re.DOTALL)


def _literals(values: Sequence[str]) -> Sql:
    return sql.sql("({all})", all=sql.join(map(sql.literal, values), ", "))


class PackageSet(Codec):
    """Packages by name, each with the versions that will do. One without is any version that Snowflake finds."""

    def render(self, value: Sequence[str]) -> Sql:
        return _literals(value)

    def canonical(self, value: Sequence[str]) -> frozenset[tuple[str, str]]:
        return frozenset(map(_pinned, value))

    def read(self, raw: object) -> frozenset[tuple[str, str]]:
        return self.canonical(re.findall(r"'([^']*)'", str(raw)))

    def matches(self, desired: Any, observed: Any) -> bool:
        versions = dict(observed)
        return dict(desired).keys() == versions.keys() and all(
            version in ("", versions[name]) for name, version in desired
        )


def _pinned(package: str) -> tuple[str, str]:
    found = _PIN.match(package)
    name, version = found.groups() if found else (package, "")
    return re.sub(r"[-_.]+", "-", name).lower(), "".join(version.split())


Place = tuple[tuple[str, ...], str]
"""A stage, by the parts of its name, and a path on it."""


class Locations(Codec):
    """Files on stages. A stage is named in full where it is printed, and may be named in short in a spec."""

    def render(self, value: Sequence[str | Place]) -> Sql:
        return _literals([each if isinstance(each, str) else placed(each) for each in value])

    def canonical(self, value: Sequence[str]) -> tuple[Place, ...]:
        return tuple(sorted(set(map(location, value))))

    def read(self, raw: object) -> object:
        listed = str(raw).strip().removeprefix("[").removesuffix("]")
        try:
            return self.canonical([each.strip() for each in re.split(r",\s*(?=@)", listed) if each.strip()])
        except InvalidName:
            return UNKNOWN

    def matches(self, desired: Any, observed: Any) -> bool:
        return len(desired) == len(observed) and all(
            any(path == other and parts == stage[-len(parts) :] for stage, other in observed) for parts, path in desired
        )


def location(text: str) -> Place:
    """The stage and path of a file: `@DB.SCHEMA.STAGE/lib/code.py`.

    Raises:
        InvalidName: it isn't one.
    """
    found = place(text)
    if found is None or not found[1]:
        raise InvalidName(f"not a file on a stage, @<database>.<schema>.<stage>/<path>: {text!r}")
    return found


def place(text: str) -> Place | None:
    """The stage and path that a text names; the path may be empty. None where it names none."""
    found = _STAGED.fullmatch(text)
    if found is None:
        return None
    stage = found["stage"]
    return (stage,) if stage[0] in "~%" else split(stage), found["path"] or ""


def placed(where: Place) -> str:
    """It as text again."""
    stage, path = where
    name = stage[0] if stage[0][:1] in ("~", "%") else qualified(stage)
    return f"@{name}/{path}" if path else f"@{name}"


class Integrations(Codec):
    """Names of integrations as a set, printed as `[A,B]`."""

    def render(self, value: Sequence[str]) -> Sql:
        return sql.sql("({all})", all=sql.join(map(sql.identifier, value), ", "))

    def canonical(self, value: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(set(value)))

    def read(self, raw: object) -> tuple[str, ...]:
        listed = str(raw).strip().removeprefix("[").removesuffix("]")
        return self.canonical(unquoted(each.strip()) for each in listed.split(",") if each.strip())


class SecretUse(Model):
    """A secret that the source may read."""

    variable_name: Annotated[str, Field(min_length=1, max_length=256)]
    """Name by which the source asks for it."""
    secret_name: str = checked(split_in_schema, min_length=1, max_length=1024)
    """The secret, by its fully-qualified name."""


class SecretUses(Codec):
    """Secrets by variable, printed as a JSON object."""

    def render(self, value: Sequence[SecretUse | tuple[str, str]]) -> Sql:
        uses = (
            sql.sql(
                "{variable} = {secret}",
                variable=sql.literal(variable),
                secret=sql.identifier(*split_in_schema(secret)),
            )
            for variable, secret in map(_use, value)
        )
        return sql.sql("({all})", all=sql.join(uses, ", "))

    def canonical(self, value: Sequence[SecretUse]) -> tuple[tuple[str, str], ...]:
        return self._sorted(map(_use, value))

    def read(self, raw: object) -> object:
        try:
            return self._sorted(orjson.loads(str(raw) or "{}").items())
        except (ValueError, AttributeError, TypeError):
            return UNKNOWN

    @staticmethod
    def _sorted(uses: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple(sorted({(variable, qualified(split(secret))) for variable, secret in uses}))


def _use(each: SecretUse | tuple[str, str]) -> tuple[str, str]:
    return each if isinstance(each, tuple) else (each.variable_name, each.secret_name)


def _change_secrets(target: Target, desired: Sequence[SecretUse] | None, _observed: object) -> Sequence[Sql]:
    # UNSET SECRETS is refused.
    return (target.alter(sql.sql("SET SECRETS = {all}", all=SecretUses().render(desired or ()))),)


_described = partial(clause, details=(DETAIL,))


def runtime_version() -> Any:
    """The field of the version of a language."""
    return _described(
        "RUNTIME_VERSION",
        observe=described("runtime_version"),
        source="describe.runtime_version",
        required=True,
        pattern=r"^[0-9]+(\.[0-9]+)*$",
        max_length=16,
    )


def handler(check: Callable[[str], object] | None = None) -> Any:
    """The field of what is called in the source."""
    return _described(
        "HANDLER",
        change=Change.RECREATE,
        observe=described("handler"),
        source="describe.handler",
        check=check,
        required=True,
        min_length=1,
        max_length=1024,
    )


def packages() -> Any:
    """The field of packages."""
    return _described(
        "PACKAGES",
        codec=PackageSet(),
        observe=described("packages"),
        source="describe.packages",
        max_length=500,
    )


def imports() -> Any:
    """The field of files from stages."""
    return _described(
        "IMPORTS",
        codec=Locations(),
        observe=described("imports"),
        source="describe.imports",
        check=location,
        max_length=500,
    )


def external_access_integrations() -> Any:
    """The field of what lets the source out."""
    return prop(
        "EXTERNAL_ACCESS_INTEGRATIONS",
        observe=described("external_access_integrations", missing=""),
        codec=Integrations(),
        details=(DETAIL,),
        max_length=100,
    )


def secrets() -> Any:
    """The field of secrets that the source may read."""
    return custom(
        alter=_change_secrets,
        observe=described("secrets", missing=""),
        source="describe.secrets",
        clause=lambda value: sql.sql("SECRETS = {all}", all=SecretUses().render(value)),
        codec=SecretUses(),
        details=(DETAIL,),
        max_length=100,
    )


def repository(name: str) -> Sql:
    """The clause of what packages come from."""
    return sql.sql("ARTIFACT_REPOSITORY = {name}", name=sql.identifier(*split_in_schema(name)))


class Reaching(Protocol):
    """A spec with secrets."""

    @property
    def secrets(self) -> list[SecretUse] | None: ...

    @property
    def external_access_integrations(self) -> list[str] | None: ...


def advice(spec: Reaching) -> tuple[str, ...]:
    """What is legal and likely wrong."""
    if not spec.secrets or spec.external_access_integrations:
        return ()
    return ("spec.secrets: Snowflake takes a secret only where one of externalAccessIntegrations lets it through",)


def faults(uses: Sequence[SecretUse]) -> Iterator[str]:
    """What is wrong with the secrets, for people."""
    names = [each.variable_name for each in uses]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield f"spec.secrets[{at}].variableName: {name} is another secret's name, too"
