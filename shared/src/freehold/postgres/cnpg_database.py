"""The CloudNativePG Database of a database: as it is to be, what is compared of it, and whether it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freehold.kube.objects import Object
from freehold.postgres.database import DatabaseDefinition
from freehold.postgres.names import DatabaseNames
from freehold.postgres.normal_form import SAME, Items, Keys, Leaf, Struct
from freehold.postgres.objects import CNPG_DATABASES, Owner, present
from freehold.postgres.placing import placed

EXTENSIONS, SCHEMAS = "freehold.dev/extensions", "freehold.dev/schemas"
"""Annotations with the items that we have listed, written with them: what others have listed is left alone."""


@dataclass(frozen=True, slots=True)
class Returning:
    """A value that goes back to PostgreSQL's default once it is no longer declared: CloudNativePG would leave it.

    Attributes:
        default: PostgreSQL's.
    """

    default: Any

    def patch(self, wanted: Any, live: Any) -> Any:
        if wanted is None:
            return SAME if live in (None, self.default) else self.default
        return SAME if wanted == live else wanted


FIELDS = Struct(
    {
        "metadata": Struct({"labels": Keys(), "annotations": Keys(frozenset({EXTENSIONS, SCHEMAS}))}),
        "spec": Struct(
            {
                "owner": Leaf(),
                "ensure": Leaf(default="present"),
                "databaseReclaimPolicy": Leaf(default="retain"),
                "isTemplate": Returning(default=False),
                "allowConnections": Returning(default=True),
                "connectionLimit": Returning(default=-1),
                "tablespace": Returning(default="pg_default"),
                "schemas": Items(Struct({"ensure": Leaf(default="present"), "owner": Leaf()})),
                "extensions": Items(Struct({"ensure": Leaf(default="present")})),
            }
        ),
    }
)
"""What is compared, and may be written, of a Database that is there. All else of it can't be changed."""


def desired(
    entry: DatabaseDefinition,
    names: DatabaseNames,
    cluster: str,
    owner: Owner,
    live: Object | None = None,
    *,
    granted: bool = False,
) -> dict[str, Any]:
    """The Database as it is to be.

    Args:
        entry: the database.
        names: of what is made for it.
        cluster: name of the PostgresCluster.
        owner: the PostgresDatabase.
        live: the Database as it is; None before there is one.
        granted: whether its privileges have been given, which takes a connection: until then none is closed.
    """
    extensions, schemas = set(entry.extensions or ()), set(entry.schemas or ())
    spec = present(
        cluster={"name": cluster},
        name=entry.name,
        owner=entry.admin_role,
        ensure="present",
        databaseReclaimPolicy=entry.deletion_policy.lower(),
        template=entry.template,
        encoding=entry.encoding,
        locale=entry.locale,
        localeProvider=entry.locale_provider,
        localeCollate=entry.locale_collate,
        localeCType=entry.locale_c_type,
        icuLocale=entry.icu_locale,
        icuRules=entry.icu_rules,
        builtinLocale=entry.builtin_locale,
        collationVersion=entry.collation_version,
        isTemplate=entry.is_template,
        allowConnections=entry.allow_connections if granted else entry.allow_connections or None,
        connectionLimit=entry.connection_limit,
        tablespace=entry.tablespace,
        schemas=_items(live, "schemas", SCHEMAS, schemas, {"owner": entry.admin_role}, lambda _: None) or None,
        extensions=_items(live, "extensions", EXTENSIONS, extensions, {}, _dropped(live)) or None,
    )
    # An extension is ours until it is gone.
    going = {each["name"] for each in spec.get("extensions", ()) if each["name"] in _ours(live, EXTENSIONS)}
    annotations = {EXTENSIONS: ",".join(sorted(extensions | going)), SCHEMAS: ",".join(sorted(schemas))}
    return placed(
        CNPG_DATABASES,
        names.cluster_namespace,
        names.cnpg_database,
        owner,
        annotations={key: value for key, value in annotations.items() if value},
        spec=spec,
    )


def _items(
    live: Object | None,
    field: str,
    annotation: str,
    wanted: Iterable[str],
    parts: Mapping[str, str],
    taken_out: Callable[[Mapping[str, Any]], Mapping[str, Any] | None],
) -> list[dict[str, Any]]:
    """A list with what is wanted, with what becomes of items that we no longer want, and with those of others."""
    found = {each["name"]: each for each in (live.spec.get(field) if live else None) or ()}
    ours = _ours(live, annotation)
    items = {name: {**found.get(name, {}), "name": name, "ensure": "present", **parts} for name in wanted}
    for name, each in found.items():
        if name not in items and (kept := taken_out(each) if name in ours else each) is not None:
            items[name] = dict(kept)
    return [items[name] for name in sorted(items)]


def _dropped(live: Object | None) -> Callable[[Mapping[str, Any]], Mapping[str, Any] | None]:
    """An extension that is no longer wanted is told to go, and forgotten once it has gone."""

    def taken_out(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if item.get("ensure") == "absent" and live is not None and _seen(live) and _applied(live, item["name"]):
            return None
        return {**item, "ensure": "absent"}

    return taken_out


def _ours(live: Object | None, annotation: str) -> frozenset[str]:
    return frozenset((live.annotations.get(annotation) or "").split(",")) if live else frozenset()


def _applied(live: Object, extension: str) -> bool:
    told = live.status.get("extensions") or ()
    return any(each.get("name") == extension and each.get("applied") for each in told)


def _seen(live: Object) -> bool:
    return bool(live.status.get("observedGeneration") == live.generation)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far CloudNativePG is with a Database.

    Attributes:
        done: whether it is as declared.
        message: what it lacks, for people; empty where nothing does.
    """

    done: bool
    message: str = ""


def progress(live: Object | None) -> Progress:
    """How far CloudNativePG is with a Database. What it said of an earlier generation doesn't count.

    Args:
        live: the Database; None before there is one.
    """
    if live is None:
        return Progress(done=False, message="the CloudNativePG Database isn't there yet")
    if live.status.get("applied") and _seen(live):
        return Progress(done=True)
    if live.status.get("applied") is False:
        texts = [str(live.status.get("message") or "it could not be made"), *_troubles(live)]
        return Progress(
            done=False, message=f"CloudNativePG says: {'; '.join(' '.join(each.split()) for each in texts)}"
        )
    return Progress(done=False, message="waiting for CloudNativePG to make the database")


def _troubles(live: Object) -> Iterator[str]:
    for field, what in (("schemas", "schema"), ("extensions", "extension")):
        for each in live.status.get(field) or ():
            if each.get("applied") is False and each.get("message"):
                yield f"{what} {each.get('name')}: {each['message']}"
