"""A property that holds several in brackets: `DIRECTORY = (ENABLE = TRUE AUTO_REFRESH = FALSE)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from freehold import sql
from freehold.kinds.model import Model
from freehold.kinds.property import Change, Observe
from freehold.kinds.spec_fields import SpecField, properties
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Unknown
from freehold.sql import Sql


class Group(Codec):
    """Properties by keyword. Canonical values are mappings; of what is observed, only what the spec sets is compared.

    The fields of its model are declared like those of a spec.
    """

    def __init__(self, model: type[Model]) -> None:
        self._fields = {each.facts.sql: each for each in properties(model) if each.facts.sql}

    def canonical(self, value: Any) -> Mapping[str, Any]:
        return {field.facts.sql: field.facts.codec.canonical(part) for field, part in self._set(value)}

    def render(self, value: Any) -> Sql:
        """The brackets.

        Args:
            value: of the spec, or canonical.
        """
        given = value if isinstance(value, Mapping) else {each.facts.sql: part for each, part in self._set(value)}
        assignments = (self._fields[keyword].facts.assignment(part) for keyword, part in given.items())
        return sql.sql("({all})", all=sql.join(assignments))

    def read(self, raw: object) -> object:
        return raw

    def matches(self, desired: Mapping[str, Any], observed: Mapping[str, object] | None) -> bool:
        return observed is not None and next(self._differing(desired, observed), None) is None

    def seen(self, desired: Any, observed: Any, /) -> Any:
        return observed and {key: observed[key] for key in desired or observed if key in observed}

    def parts(self, value: Any, /) -> Iterable[tuple[str, Any]]:
        return ((each.name, part) for each, part in self._set(value) if not each.facts.create_only)

    def beyond(self, old: Any, new: Any) -> bool:
        """Whether no ALTER leads from one value to another.

        Args:
            old: as it was observed, or canonical.
            new: canonical; None for one that is reset.
        """
        have = self.canonical(old) if isinstance(old, Model) else old or {}
        want = self.canonical(new) if isinstance(new, Model) else new or {}
        found = self._differing(want, have)
        return any(each.facts.change_between(before, after) is Change.RECREATE for each, before, after in found)

    def _set(self, value: Model) -> Iterator[tuple[SpecField, Any]]:
        for each in self._fields.values():
            if (part := getattr(value, each.attribute)) is not None:
                yield each, part

    def _differing(
        self, desired: Mapping[str, Any], observed: Mapping[str, object]
    ) -> Iterator[tuple[SpecField, Any, Any]]:
        """(field, live value, value of the spec) of what isn't as it should be."""
        for keyword, value in desired.items():
            field = self._fields[keyword]
            codec = field.facts.codec
            live = codec.read(observed[keyword]) if keyword in observed else UNKNOWN
            if field.facts.create_only or isinstance(live, Unknown) or codec.matches(value, live):
                continue
            yield field, live, value


def described(detail: str, parent: str = "") -> Observe:
    """The properties that a DESCRIBE lists with their values, by keyword.

    Args:
        detail: name of the kind's further query.
        parent: what the rows have in their column `parent_property`, where there is one.
    """

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(detail)
        if rows is None:
            return UNKNOWN
        return {
            str(each["property"]): each["property_value"] for each in rows if each.get("parent_property", "") == parent
        }

    return read


def described_property(detail: str, name: str, parent: str = "", *, missing: object = UNKNOWN) -> Observe:
    """One of these properties.

    Args:
        detail: as above.
        name: its keyword.
        parent: as above.
        missing: its value where there is no such row.
    """

    def read(observation: Observation) -> object:
        found = described(detail, parent)(observation)
        return found.get(name, missing) if isinstance(found, dict) else UNKNOWN

    return read
