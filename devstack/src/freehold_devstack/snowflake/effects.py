"""What a statement has done to the catalog, in words that tests can compare."""

from collections.abc import Iterable, Mapping

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Change, Grant, GrantKey, Value
from freehold_devstack.snowflake.parser import print_name
from freehold_devstack.snowflake.redaction import HIDDEN, SECRETS

_Facts = Mapping[str, Value]


def net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """One change for each record that was changed, whatever happened in between: objects, what was revoked, grants."""
    merged: dict[int | GrantKey, Change] = {}
    for change in changes:
        record = change.after or change.before
        key = record.key if isinstance(record, Grant) else 0 if record is None else record.id
        before = merged[key].before if key in merged else change.before
        merged[key] = Change(before, change.after)
    return tuple(sorted((change for change in merged.values() if change.before != change.after), key=_rank))


def _rank(change: Change) -> int:
    return 2 if isinstance(change.after, Grant) else 1 if change.after is None else 0


def effects(changes: Iterable[Change], catalog: Catalog) -> list[str]:
    """One line a change: `create ROLE R {COMMENT: 'c'}`, `alter ROLE R {COMMENT: 'c' -> 'd'}`, `drop ROLE R`, ...

    What contains an object is called by its name of today. Secrets are hidden, but that they changed is told.
    """
    return [line for change in changes if (line := _effect(change, catalog))]


def _effect(change: Change, catalog: Catalog) -> str:
    match change.before, change.after:
        case _, Grant() as grant:
            return f"grant {_grant(grant, catalog, 'TO')}"
        case Grant() as grant, None:
            return f"revoke {_grant(grant, catalog, 'FROM')}"
        case None, CatalogObject() as after:
            facts = {name: value for name, value in _facts(after, catalog).items() if _is_set(value)}
            return f"create {_name(after, catalog)}{_braces(_shown(name, facts[name]) for name in facts)}"
        case CatalogObject() as before, CatalogObject() as after:
            return _update(before, after, catalog)
        case _:
            return ""


def _update(before: CatalogObject, after: CatalogObject, catalog: Catalog) -> str:
    name = _name(before, catalog)
    if (before.dropped_on is None) != (after.dropped_on is None):
        return f"{'undrop' if after.dropped_on is None else 'drop'} {name}"
    old, new = _facts(before, catalog) | _place(before), _facts(after, catalog) | _place(after)
    changed = [fact for fact in {**old, **new} if old.get(fact) != new.get(fact)]
    return f"alter {name}{_braces(_difference(fact, old, new) for fact in changed)}" if changed else ""


def _facts(obj: CatalogObject, catalog: Catalog) -> dict[str, Value]:
    owner = {} if obj.owner is None else {"owner": catalog[obj.owner].name}
    tags = {f"tag {print_name(catalog.path(catalog[int(tag)]))}": value for tag, value in obj.tags.items()}
    return {**owner, **obj.properties, **obj.parameters, **tags}


def _place(obj: CatalogObject) -> dict[str, Value]:
    return {"name": obj.name, "parent": obj.parent}


def _is_set(value: Value) -> bool:
    return value is not None and value not in ("", (), [], {})


def _braces(parts: Iterable[str]) -> str:
    inside = ", ".join(parts)
    return f" {{{inside}}}" if inside else ""


def _shown(name: str, value: Value) -> str:
    return f"{name}: {HIDDEN if name in SECRETS else _print(value)}"


def _difference(name: str, old: _Facts, new: _Facts) -> str:
    if name in SECRETS:
        return f"{name}: {HIDDEN}"
    return f"{name}: {_print(old.get(name))} -> {_print(new.get(name))}"


def _print(value: Value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_shown(name, each) for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_print, value)) + "]"
    return repr(value)


def _name(obj: CatalogObject, catalog: Catalog) -> str:
    container = None if obj.parent is None else catalog[obj.parent]
    outer = () if container is None or container.parent is None else catalog.path(container)
    signature = "" if obj.overload is None else f"({obj.overload})"
    return f"{obj.kind} {print_name((*outer, obj.name))}{signature}"


def _grant(grant: Grant, catalog: Catalog, preposition: str) -> str:
    securable = _name(catalog[grant.on], catalog)
    on = securable if grant.future is None else f"FUTURE {grant.future} IN {securable}"
    option = " WITH GRANT OPTION" if grant.grant_option else ""
    by = "" if grant.by is None else f" BY {print_name((catalog[grant.by].name,))}"
    return f"{grant.privilege} ON {on} {preposition} {_name(catalog[grant.to], catalog)}{option}{by}"
