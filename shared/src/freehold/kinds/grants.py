"""What grants of privileges have in common, whoever gets them: where they are, how they are read, given and taken."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from functools import partial
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from freehold import datatypes, privileges, slots, sql
from freehold.identifiers import InvalidName, printed, split_in_database, split_in_schema
from freehold.identity import Name, Slot, split_arguments
from freehold.kinds.assignments import grant, grant_option, revoke, words
from freehold.kinds.common import Name as StoredName
from freehold.kinds.common import Reference, SnowflakeSpec
from freehold.kinds.fields import checked, ref, unsupported
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Requested, named_in
from freehold.kinds.resource import Rule, exactly_one, ruled
from freehold.observation import Row
from freehold.slots import Phrase
from freehold.sql import Sql

AccountObject = Literal[
    "DATABASE", "WAREHOUSE", "COMPUTE POOL", "INTEGRATION", "USER", "RESOURCE MONITOR", "FAILOVER GROUP",
    "REPLICATION GROUP", "EXTERNAL VOLUME", "CONNECTION",
]  # fmt: skip
"""Types of objects that lie in the account and have privileges."""

SchemaObject = Literal[
    "AGGREGATION POLICY", "ALERT", "AUTHENTICATION POLICY", "CORTEX SEARCH SERVICE", "DYNAMIC TABLE", "EVENT TABLE",
    "EXTERNAL TABLE", "FILE FORMAT", "FUNCTION", "GIT REPOSITORY", "HYBRID TABLE", "ICEBERG TABLE", "IMAGE REPOSITORY",
    "MASKING POLICY", "MATERIALIZED VIEW", "MODEL", "NETWORK RULE", "NOTEBOOK", "PACKAGES POLICY", "PASSWORD POLICY",
    "PIPE", "PROCEDURE", "PROJECTION POLICY", "ROW ACCESS POLICY", "SECRET", "SEMANTIC VIEW", "SEQUENCE", "SERVICE",
    "SESSION POLICY", "STAGE", "STREAM", "STREAMLIT", "TABLE", "TAG", "TASK", "VIEW",
]  # fmt: skip
"""Types of objects that lie in a schema and have privileges."""

Plural = Literal[
    "ALERTS", "AUTHENTICATION POLICIES", "CORTEX SEARCH SERVICES", "DYNAMIC TABLES", "EVENT TABLES", "EXTERNAL TABLES",
    "FILE FORMATS", "FUNCTIONS", "GIT REPOSITORIES", "HYBRID TABLES", "ICEBERG TABLES", "IMAGE REPOSITORIES",
    "MATERIALIZED VIEWS", "MODELS", "NETWORK RULES", "NOTEBOOKS", "PASSWORD POLICIES", "PIPES", "PROCEDURES", "SECRETS",
    "SEMANTIC VIEWS", "SEQUENCES", "SERVICES", "STAGES", "STREAMS", "STREAMLITS", "TABLES", "TASKS", "VIEWS",
]  # fmt: skip
"""Types of objects to come that have privileges."""

Securable = Generator[Requested, SnowflakeSpec, Phrase]
"""A computation of what a grant is about; drive it as `Parts`."""

Privilege = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[A-Z][A-Z0-9 ._]*$")]

_NO_PRIVILEGES = frozenset({"ALL", "CALLER", "GRANT", "INHERITED"})
"""First words by which GRANT gives something else than a privilege, or more than one. SHOW GRANTS has no row of these
words, so that what they give could be neither watched nor taken back."""
_SHOWN_PRIVILEGES: Mapping[str, str] = {"IMPORTED PRIVILEGES": "USAGE"}
"""Privileges that SHOW GRANTS prints by another name."""
_SHOWN_TYPES: Mapping[str, str] = {"EXTERNAL VOLUME": "VOLUME", "MODEL": "MODULE"}
"""Types of objects that SHOW GRANTS prints by another name."""
_ACCOUNTADMIN = "ACCOUNTADMIN"
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE"})
_ROUTINE = re.compile(r"((?:\"(?:[^\"]|\"\")++\"|[^\"(])++)\((.*)\)", re.DOTALL)


class OnAccountObject(Model):
    """An object of the account."""

    object_type: AccountObject
    """What it is."""
    object_name: StoredName
    """Its stored name."""


_IN_BULK = (
    "Snowflake keeps no such grant, but one on each object that is there at the time, which could neither be watched "
    "as one nor told from others' when it is taken back: name each object, and what is yet to come in "
)
"""Why nothing is granted on all objects of a type."""


class OnSchema(Model):
    """A schema, or all schemas of a database that are yet to come."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            exactly_one(
                "schemaName",
                "schemaRef",
                "allSchemasInDatabase",
                "futureSchemasInDatabase",
                "futureSchemasInDatabaseRef",
            )
        )
    )
    schema_name: str | None = checked(split_in_database, default=None, min_length=1, max_length=1024)
    """The schema, as DATABASE.SCHEMA; names in double quotes keep their case."""
    schema_ref: Reference | None = ref("Schema", instead_of="schema_name", parent=True, qualified=True)
    """The Schema, in place of its name."""
    all_schemas_in_database: StoredName | None = unsupported(_IN_BULK + "futureSchemasInDatabase")
    """All schemas of a database at the time. This release has no such grants: name each schema."""
    future_schemas_in_database: StoredName | None = None
    """Stored name of the database whose schemas to come are meant."""
    future_schemas_in_database_ref: Reference | None = ref(
        "Database", instead_of="future_schemas_in_database", parent=True
    )
    """That Database, in place of its name."""


class Future(Model):
    """All objects of a type that are yet to come in a database or schema."""

    model_config = ConfigDict(
        json_schema_extra=ruled(exactly_one("inDatabase", "inDatabaseRef", "inSchema", "inSchemaRef"))
    )
    object_type_plural: Plural
    """What they are."""
    in_database: StoredName | None = None
    """Stored name of the database."""
    in_database_ref: Reference | None = ref("Database", instead_of="in_database", parent=True)
    """The Database, in place of its name."""
    in_schema: str | None = checked(split_in_database, default=None, min_length=1, max_length=1024)
    """The schema, as DATABASE.SCHEMA; names in double quotes keep their case."""
    in_schema_ref: Reference | None = ref("Schema", instead_of="in_schema", parent=True, qualified=True)
    """The Schema, in place of its name."""


class OnSchemaObject(Model):
    """An object in a schema, or all of a type that are yet to come."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            exactly_one("objectType", "all", "future", "inherited"),
            Rule("has(self.objectType) == has(self.objectName)", "objectType and objectName go together", "objectName"),
        )
    )
    object_type: SchemaObject | None = None
    """What it is."""
    object_name: str | None = Field(default=None, min_length=1, max_length=4096)
    """The object, as DATABASE.SCHEMA.NAME, with argument types for a function or procedure: DB.S.F(NUMBER, VARCHAR).
    Names in double quotes keep their case."""
    all: Future | None = unsupported(_IN_BULK + "future")
    """All objects of a type at the time. This release has no such grants: name each object."""
    future: Future | None = None
    """All objects of a type that are yet to come."""
    inherited: Future | None = unsupported(
        "Snowflake is still trying inherited grants out, and accounts have them only where "
        "FEATURE_RBAC_INHERITED_GRANTS is on: name each object, and what is yet to come in future"
    )
    """All objects of a type, now and to come, by an inherited grant. This release has no such grants."""


_privileges = partial(Field, min_length=1, max_length=100, json_schema_extra={"x-kubernetes-list-type": "set"})


class PrivilegesSpec(SnowflakeSpec):
    """Privileges on something."""

    privileges: list[Privilege] = _privileges()
    """The privileges, such as SELECT. Each is granted, watched and taken back by itself; others are left alone."""


class GrantSpec(PrivilegesSpec):
    """Privileges on something, that may be passed on."""

    privileges: list[Privilege] = _privileges(default_factory=list)
    """The privileges, such as SELECT. Each is granted, watched and taken back by itself; others are left alone."""
    all_privileges: bool | None = unsupported(
        "Snowflake keeps no such grant, but single privileges, which ones by release and by who grants, so that nobody "
        "could tell yours from others' when they are taken back: name each in privileges"
    )
    """All privileges. This release grants those alone that are named."""
    with_grant_option: bool | None = grant_option()
    """Whether they may be passed on."""


def schema(given: OnSchema, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    """Compute the securable of a grant on schemas.

    Args:
        given: what the spec says.
        namespace: the resource's namespace.
        kinds: every kind by name.

    Raises:
        InvalidName: there can't be such a thing.
    """
    if given.schema_name or given.schema_ref:
        return slots.of("SCHEMA", *(yield from named_in(given, "schema_name", namespace, kinds, "onSchema.")))
    database = yield from named_in(given, "future_schemas_in_database", namespace, kinds, "onSchema.")
    return slots.future_in("SCHEMAS", slots.of("DATABASE", *database))


def in_schema(given: OnSchemaObject, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    """Likewise of a grant on objects in schemas."""
    future = given.future
    if future is None:
        return named_object(given.object_type or "", given.object_name or "")
    inside = "SCHEMA" if future.in_schema or future.in_schema_ref else "DATABASE"
    container = yield from named_in(future, f"in_{inside.lower()}", namespace, kinds, "onSchemaObject.future.")
    return slots.future_in(future.object_type_plural, slots.of(inside, *container))


def named_object(object_type: str, text: str) -> Phrase:
    """An object in a schema by its dotted name, with argument types where it is a function or procedure.

    Raises:
        InvalidName: there can't be such a thing.
    """
    if object_type not in _ROUTINES:
        return slots.of(object_type, *split_in_schema(text))
    routine = _ROUTINE.fullmatch(text)
    if routine is None:
        raise InvalidName(f"a {object_type.lower()} is named with its argument types, as in DB.S.F(NUMBER): {text!r}")
    try:
        arguments = datatypes.signature(split_arguments(routine[2].strip()))
    except datatypes.InvalidDataType as error:
        raise InvalidName(f"{text!r}: {error}") from error
    return slots.of(object_type, *split_in_schema(routine[1].strip()), arguments=arguments)


def type_in_schema(given: OnSchemaObject | None) -> str:
    """The type of object whose privileges a grant on a schema, or in one, gives: `TABLE`, also of tables to come."""
    if given is None:
        return "SCHEMA"
    return _singular(given.future.object_type_plural) if given.future else given.object_type or ""


def _singular(plural: str) -> str:
    return plural.removesuffix("IES") + "Y" if plural.endswith("IES") else plural.removesuffix("S")


def granted(spec: PrivilegesSpec, securable: Phrase, grantee: Phrase) -> tuple[Slot, ...]:
    """The slots of a grant: one a privilege."""
    return tuple(slots.grant(each, securable, grantee) for each in spec.privileges)


def faults(spec: GrantSpec, securable: str) -> Iterator[str]:
    """Privileges that can't be granted on a type of object, each with its place."""
    for index, each in enumerate(spec.privileges):
        place = f"spec.privileges[{index}]"
        if each.split()[0] in _NO_PRIVILEGES:
            yield f"{place}: {each} isn't a single privilege: name each one, such as SELECT"
            continue
        try:
            privileges.check(each, securable)
        except privileges.InvalidPrivilege as error:
            yield f"{place}: {error}"


def advice(spec: GrantSpec, securable: str) -> tuple[str, ...]:
    """What to know about privileges on a type of object, for people."""
    found = tuple(text for each in spec.privileges for text in privileges.advice(each, securable))
    inside: OnSchemaObject | None = getattr(spec, "on_schema_object", None)
    found += eclipsed(inside.future if inside else None)
    reserved = [each for each in spec.privileges if privileges.only_accountadmin_grants(each, securable)]
    if not reserved or spec.use_role == _ACCOUNTADMIN:
        return found
    return (*found, f"spec.privileges: {_only_accountadmin(', '.join(reserved))}")


def eclipsed(future: Future | None) -> tuple[str, ...]:
    """What to know about grants on objects to come in a database, for people ("Considerations" of future grants in
    Snowflake's documentation)."""
    if future is None or not (future.in_database or future.in_database_ref):
        return ()
    plural = future.object_type_plural.lower()
    told = (
        f"where a schema of the database has future grants of its own on {plural}, to whichever role, this one has no "
        "effect: grant it on that schema, too"
    )
    return (told,)


def _only_accountadmin(what: str) -> str:
    return (
        f"only {_ACCOUNTADMIN} can grant {what} on the account: set useRole to it, which allowedRoles of the "
        "ProviderConfig and allowedPrivilegedRoles of the installation must hold, or have an administrator grant it, "
        "and leave it out here"
    )


def listing(securable: Phrase) -> Sql:
    """The SHOW of all that is granted on something, or of what will be on objects to come."""
    words_, *name = securable
    future, _, container = str(words_).removeprefix("FUTURE ").rpartition(" IN ")
    shown = sql.join((sql.words(container), *(sql.named(each) for each in name if not isinstance(each, str))))
    return sql.sql("SHOW FUTURE GRANTS IN {of}" if future else "SHOW GRANTS ON {of}", of=shown)


def is_on(securable: Phrase, row: Row) -> bool:
    """Whether a row of that SHOW is about these objects: of a container it tells objects to come of all types."""
    _, future, rest = str(securable[0]).rpartition("FUTURE ")
    return not future or is_of(_singular(rest.partition(" IN ")[0]), row)


def is_of(object_type: str, row: Row) -> bool:
    """Whether a row of SHOW GRANTS is about objects of a type."""
    return words(row["grant_on"]) in (object_type, _SHOWN_TYPES.get(object_type))


def _show(slot: Slot) -> Listing:
    given = slots.granted(slot)
    return Listing(listing(given.securable), "grantee_name", _printed(given.grantee))


def _printed(grantee: Name) -> tuple[str, ...]:
    """Some accounts print a database role with its database, which the securable tells anyway."""
    return (*printed(*grantee.parts), *printed(*grantee.parts[-1:]))


def _fills(slot: Slot, row: Row) -> bool:
    """Whether a row is the grant: one name may be a role's and a database role's."""
    given = slots.granted(slot)
    # What is inherited from a grant on what contains the object can be taken back there alone.
    return (
        str(row.get("is_inherited")).lower() != "true"
        and row["privilege"] == _SHOWN_PRIVILEGES.get(given.privilege, given.privilege)
        and words(row["grant_to" if "grant_to" in row else "granted_to"]) == given.grantee_type
        and row["grantee_name"] in _printed(given.grantee)
        and is_on(given.securable, row)
    )


def _refused(slot: Slot) -> str:
    """What helps where a role may not grant: MANAGE GRANTS does, but with some privileges on the account."""
    given = slots.granted(slot)
    if not privileges.only_accountadmin_grants(given.privilege, str(given.securable[0])):
        return ""
    told = _only_accountadmin(given.privilege)
    return f"{told[0].upper()}{told[1:]}."


FILLING = Filling(show=_show, fills=_fills, fill=grant, empty=revoke, refused=_refused)
"""How grants of privileges are read, given and taken."""
