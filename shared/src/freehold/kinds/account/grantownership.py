"""Who owns an object, or objects to come."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from pydantic import ConfigDict

from freehold import slots, sql
from freehold.identifiers import InvalidName, split, split_in_database, unquoted
from freehold.identity import Name as Named
from freehold.identity import Slot
from freehold.kinds import grants
from freehold.kinds.assignments import words
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, prop, ref, unsupported
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.grants import Future, Securable
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.property import KEEP
from freehold.kinds.resource import Rule, exactly_one, only_when, ruled
from freehold.kinds.values import Codec, Identifier
from freehold.observation import Observation, Row
from freehold.slots import Phrase
from freehold.sql import Sql

OwnedObject = Literal[
    "AGGREGATION POLICY", "ALERT", "AUTHENTICATION POLICY", "COMPUTE POOL", "CORTEX SEARCH SERVICE", "DATABASE",
    "DATABASE ROLE", "DYNAMIC TABLE", "EVENT TABLE", "EXTERNAL TABLE", "EXTERNAL VOLUME", "FAILOVER GROUP",
    "FILE FORMAT", "FUNCTION", "GIT REPOSITORY", "HYBRID TABLE", "ICEBERG TABLE", "IMAGE REPOSITORY", "INTEGRATION",
    "JOIN POLICY", "MASKING POLICY", "MATERIALIZED VIEW", "NETWORK POLICY", "NETWORK RULE", "NOTEBOOK",
    "PACKAGES POLICY", "PASSWORD POLICY", "PIPE", "PRIVACY POLICY", "PROCEDURE", "PROJECTION POLICY",
    "REPLICATION GROUP", "RESOURCE MONITOR", "ROLE", "ROW ACCESS POLICY", "SCHEMA", "SECRET", "SEMANTIC VIEW",
    "SEQUENCE", "SESSION POLICY", "STAGE", "STORAGE LIFECYCLE POLICY", "STREAM", "TABLE", "TAG", "TASK", "USER",
    "VIEW", "WAREHOUSE",
]  # fmt: skip
"""Types of objects whose ownership can be transferred: not connections, models, services and shares."""

OwnedPlural = Literal[
    "ALERTS", "CORTEX SEARCH SERVICES", "DYNAMIC TABLES", "EVENT TABLES", "EXTERNAL TABLES", "FILE FORMATS",
    "FUNCTIONS", "GIT REPOSITORIES", "HYBRID TABLES", "ICEBERG TABLES", "MATERIALIZED VIEWS", "NETWORK RULES", "PIPES",
    "PROCEDURES", "SCHEMAS", "SECRETS", "SEMANTIC VIEWS", "SEQUENCES", "STAGES", "STREAMS", "TABLES", "TASKS", "VIEWS",
]  # fmt: skip
"""Types of objects to come that can have an owner beforehand."""

_IN_ACCOUNT = frozenset(
    {"COMPUTE POOL", "DATABASE", "EXTERNAL VOLUME", "FAILOVER GROUP", "INTEGRATION", "NETWORK POLICY",
     "REPLICATION GROUP", "RESOURCE MONITOR", "ROLE", "USER", "WAREHOUSE"}
)  # fmt: skip
_IN_DATABASE = frozenset({"DATABASE ROLE", "SCHEMA"})


_MOVED: Mapping[str, str] = {
    "TASK": "the transfer suspends the task, and is refused while the root of its graph runs: suspend that first. To "
    "run again the new owner needs EXECUTE TASK on the account, or EXECUTE MANAGED TASK where there is no warehouse, "
    "and resumes the task",
    "PIPE": "the transfer is refused while the pipe runs: pause it first, and have the new owner resume it by "
    "SYSTEM$PIPE_FORCE_RESUME",
    "ALERT": "the transfer suspends the alert: the new owner needs EXECUTE ALERT on the account, and resumes it",
    "DYNAMIC TABLE": "without USAGE on its warehouse the new owner's dynamic table isn't refreshed any more",
    "EXTERNAL TABLE": "the transfer turns automatic refreshes off: the new owner turns them on again",
}
"""What else becomes of an object that gets another owner ("Usage notes" of GRANT OWNERSHIP)."""


class FutureOwnership(Future):
    """All objects of a type that are yet to come in a database or schema. Only one role can have them."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            exactly_one("inDatabase", "inDatabaseRef", "inSchema", "inSchemaRef"),
            Rule(
                "self.objectTypePlural != 'SCHEMAS' || (!has(self.inSchema) && !has(self.inSchemaRef))",
                "schemas lie in a database: set inDatabase or inDatabaseRef",
                "objectTypePlural",
            ),
        )
    )

    object_type_plural: OwnedPlural  # type: ignore[assignment]  # other types than privileges are granted on
    """What they are."""


class _BareRole(Codec):
    """A database role by its name alone, as SHOW GRANTS prints it: its database is that of the object."""

    def canonical(self, value: str) -> str:
        return split_in_database(value)[-1]

    def read(self, raw: object) -> object:
        if not isinstance(raw, str):
            return None
        # Some accounts print its database as well.
        return split(raw)[-1] if "." in raw else unquoted(raw)


_NAMES: Mapping[str, Codec] = {"ROLE": Identifier(), "DATABASE ROLE": _BareRole()}
"""How owners are printed, by what they are."""


def _role_type(row: Row) -> str:
    return words(row.get("granted_to") or row.get("grant_to"))


def _owner(role_type: str, observation: Observation) -> object:
    """The owner as SHOW GRANTS prints it, if it is such a role."""
    row = observation.row
    return row["grantee_name"] if _role_type(row) == role_type else None


class GrantOwnershipSpec(SnowflakeSpec):
    """Who owns an object, or the objects to come in a database or schema. What Freehold's own role owns is given away;
    what another role owns is taken from it only where managementPolicies.adoptionPolicy is adopt."""

    object_type: OwnedObject | None = immutable()
    """What it is."""
    object_name: str | None = immutable(min_length=1, max_length=4096)
    """The object, as NAME, DATABASE.NAME or DATABASE.SCHEMA.NAME, by its type; with argument types for a function or
    procedure: DB.S.F(NUMBER). Names in double quotes keep their case."""
    future: FutureOwnership | None = immutable()
    """All objects of a type that are yet to come. What is there keeps its owner. One role at a time can have them:
    delete this resource before another role gets them."""
    all: dict[str, str] | None = unsupported(
        "it would take whatever is there at the time, also what others have made since they were last looked at: name "
        "each object, and what is yet to come in future"
    )
    """All objects of a type. This release takes no such ownership: name each object."""
    account_role: Name | None = prop(
        "TO ROLE", observe=partial(_owner, "ROLE"), codec=_NAMES["ROLE"], reset=KEEP, max_length=255
    )
    """Stored name of the role that owns it."""
    account_role_ref: Reference | None = ref("AccountRole", instead_of="account_role")
    """The AccountRole that owns it, in place of its name."""
    database_role: str | None = prop(
        "TO DATABASE ROLE",
        observe=partial(_owner, "DATABASE ROLE"),
        codec=_NAMES["DATABASE ROLE"],
        reset=KEEP,
        check=split_in_database,
        max_length=1024,
    )
    """The database role that owns it, as DATABASE.ROLE: of the database that the object lies in."""
    database_role_ref: Reference | None = ref("DatabaseRole", instead_of="database_role", qualified=True)
    """The DatabaseRole that owns it, in place of its name."""
    current_grants_behavior: Literal["COPY", "REVOKE"] | None = None
    """What becomes of privileges on the object: COPY has the new owner be their grantor, REVOKE takes them from all who
    have them. Without it Snowflake transfers nothing that has been granted on."""
    on_delete: Literal["Keep", "ReturnToOperatorRole"] | None = unsupported(
        "once it is another role's, Freehold may have no right to take it back: leave it out. Another "
        "GrantOwnership moves it on"
    )
    """What becomes of the ownership when this resource goes: it stays; of objects to come it is revoked."""


def _ownership(spec: GrantOwnershipSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    securable = yield from _securable(spec, namespace, kinds)
    if spec.database_role is not None:
        database, *_ = split_in_database(spec.database_role)
        inside = next(each.parts for each in securable if isinstance(each, Named))
        if inside[0] != database or (spec.object_type or "") in _IN_ACCOUNT:
            raise InvalidName(f"a role of database {database!r} can own nothing outside of it")
    return (slots.ownership(securable),)


def _securable(spec: GrantOwnershipSpec, namespace: str, kinds: Mapping[str, Kind]) -> Securable:
    if spec.future is not None:
        future = spec.future
        inside = "SCHEMA" if future.in_schema or future.in_schema_ref else "DATABASE"
        container = yield from named_in(future, f"in_{inside.lower()}", namespace, kinds, "future.")
        return slots.future_in(future.object_type_plural, slots.of(inside, *container))
    return _object(spec.object_type or "", spec.object_name or "")


def _object(object_type: str, text: str) -> Phrase:
    if object_type in _IN_ACCOUNT:
        parts = split(text)
        if len(parts) != 1:
            raise InvalidName(f"a {object_type.lower()} has a name of one part: {text!r}")
        return slots.of(object_type, *parts)
    if object_type in _IN_DATABASE:
        return slots.of(object_type, *split_in_database(text))
    return grants.named_object(object_type, text)


def _show(slot: Slot) -> Listing:
    return Listing(grants.listing(slots.owned(slot)), "privilege", ("OWNERSHIP",))


def _fills(slot: Slot, row: Row) -> bool:
    return row["privilege"] == "OWNERSHIP" and grants.is_on(slots.owned(slot), row)


def _fill(slot: Slot, spec: GrantOwnershipSpec) -> Sql:
    role = (
        sql.sql("ROLE {role}", role=sql.identifier(spec.account_role))
        if spec.account_role is not None
        else sql.sql("DATABASE ROLE {role}", role=sql.identifier(*split_in_database(spec.database_role or "")))
    )
    current = sql.words(f" {spec.current_grants_behavior} CURRENT GRANTS" if spec.current_grants_behavior else "")
    return sql.sql("GRANT {it} TO {role}{current}", it=sql.named(slot), role=role, current=current)


def _named(slot: Slot, row: Row) -> Slot:
    """The slot with the owner that REVOKE must name."""
    role_type = _role_type(row)
    (container, *_) = (each for each in slot.phrase if isinstance(each, Named))
    database = container.parts[:1] if role_type == "DATABASE ROLE" else ()
    owner = Named((*database, str(_NAMES[role_type].read(row["grantee_name"]))))
    return Slot((*slot.phrase, f"FROM {role_type}", owner))


def _revoke(slot: Slot, force: bool) -> Sql | None:  # noqa: ARG001  # nothing depends on it
    """What is there always has an owner."""
    future = str(slots.owned(slot)[0]).startswith("FUTURE ")
    return sql.sql("REVOKE {it}", it=sql.named(slot)) if future else None


def _is_own(row: Row, role: str) -> bool:
    """Whether Freehold's role may give it away without taking it from anybody."""
    return _role_type(row) == "ROLE" and _NAMES["ROLE"].read(row["grantee_name"]) == role


def _moves(slot: Slot) -> tuple[str, Named] | None:
    """The object that gets another owner; of objects to come there is none yet."""
    match slots.owned(slot):
        case (str(object_type), Named() as name) if not object_type.startswith("FUTURE "):
            return object_type, name
    return None


def _recipients(spec: GrantOwnershipSpec) -> tuple[str, ...]:
    return (spec.account_role,) if spec.account_role else ()


def _advice(spec: GrantOwnershipSpec) -> tuple[str, ...]:
    if spec.future is not None:
        return (
            "what Freehold makes there will be the new owner's from the beginning: its resources stop, as OwnedByOther",
            *grants.eclipsed(spec.future),
        )
    what = (spec.object_type or "object").lower()
    told = (
        f"once the {what} is another role's, Freehold changes and drops it only where its own role has that one: the "
        "resource that declares it may become NotVisible"
    )
    return (told, *filter(None, [_MOVED.get(spec.object_type or "")]))


GRANT_OWNERSHIP = Kind(
    spec=GrantOwnershipSpec,
    domain=Domain.ACCOUNT,
    object_type="GRANT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("gown",),
    slots=_ownership,
    filling=Filling(
        show=_show,
        fills=_fills,
        fill=_fill,
        empty=_revoke,
        value=("account_role", "database_role"),
        named=_named,
        refill=_fill,
        free=_is_own,
    ),
    moves=_moves,
    recipients=_recipients,
    rules=(
        exactly_one("objectType", "all", "future"),
        Rule("has(self.objectType) == has(self.objectName)", "objectType and objectName go together", "objectName"),
        exactly_one("accountRole", "accountRoleRef", "databaseRole", "databaseRoleRef"),
        only_when(
            ("currentGrantsBehavior",), "!has(self.future)", "nothing is granted on objects to come: leave it out"
        ),
        Rule(
            f"!has(self.objectType) || !(self.objectType in {sorted(_IN_ACCOUNT)}) || "
            "(has(self.accountRole) || has(self.accountRoleRef))",
            "database roles own only what is in their database: name an account role",
            "objectType",
        ),
    ),
    advice=_advice,
)
