"""What one account holds: objects, their tree, and the grants on them, as records that are replaced and never changed.

Everything that has a name is an object: the account (the root of the tree), users, roles, databases, schemas, ... A
statement changes records inside a transaction, which is undone as a whole when the statement fails.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain

from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Name

Scalar = str | int | bool | None
"""What a parameter or a cell may hold."""

Value = Scalar | Sequence["Value"] | Mapping[str, "Value"]
"""What a property may hold: all that JSON can say, but for fractions."""

ACCOUNT_ID = 0
PUBLIC = "PUBLIC"
ROLE_KINDS = frozenset({"ROLE", "DATABASE ROLE"})
"""What privileges can be granted to, besides users and shares."""


def listed(value: Value) -> tuple[Value, ...]:
    """What a property that is a list holds; nothing where it is none."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def texts(value: Value) -> tuple[str, ...]:
    """As `listed`, each as a text."""
    return tuple(map(str, listed(value)))


def mapped(value: Value) -> Mapping[str, Value]:
    """What a property that is a map holds; nothing where it is none."""
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class CatalogObject:
    """One object, or one dropped incarnation of it.

    Attributes:
        namespace: Kinds whose names collide share one; usually the kind itself.
        parent: Object that contains it; None for the account alone.
        owner: Role that owns it; None for what belongs to the system.
        created_on, dropped_on: Milliseconds since 1970, UTC.
        properties: All properties of the kind by their SQL names.
        parameters: Only those parameters that are set on this object.
        overload: What tells apart objects of one name: the types of a function's arguments, as SQL prints them in its
            brackets; None for kinds whose names are enough.
        tags: The values of the tags that are set on the object itself, by the tag's id.
    """

    id: int
    kind: str
    namespace: str
    name: str
    parent: int | None
    owner: int | None
    created_on: int
    dropped_on: int | None = None
    properties: Mapping[str, Value] = field(default_factory=dict)
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    overload: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


GrantKey = tuple[str, int, int, int | None, str | None]


@dataclass(frozen=True, slots=True)
class Grant:
    """A privilege on an object for a role or user; a granted role is the privilege USAGE on the role.

    Attributes:
        on, to: Ids of the securable and of the grantee.
        by: Role recorded as granted_by; None for the system.
        future: Kind of the objects that get the privilege when they are made in `on`; None for a grant on `on` itself.
    """

    privilege: str
    on: int
    to: int
    by: int | None
    created_on: int
    grant_option: bool = False
    future: str | None = None

    @property
    def key(self) -> GrantKey:
        return (self.privilege, self.on, self.to, self.by, self.future)


@dataclass(frozen=True, slots=True)
class Change:
    """One record before and after; None where it does not exist."""

    before: CatalogObject | Grant | None
    after: CatalogObject | Grant | None


def _listing_order(obj: CatalogObject) -> tuple[str, str, bool, int, int]:
    return (obj.name, obj.overload or "", obj.dropped_on is not None, -(obj.dropped_on or 0), -obj.id)


def _in_capitals(name: str) -> str:
    # Most names are in capitals already, and then one text is kept instead of two.
    capitals = name.upper()
    return name if capitals == name else capitals


_Address = tuple[str, int | None, str, str | None]


def _address(obj: CatalogObject) -> _Address:
    """What no two live objects share."""
    return (obj.namespace, obj.parent, obj.name, obj.overload)


class Catalog:
    """The records of one account with the indexes that finding them takes."""

    def __init__(self) -> None:
        self._objects: dict[int, CatalogObject] = {}
        self._live: dict[_Address, int] = {}
        self._of_kind: defaultdict[str, dict[int, None]] = defaultdict(dict)
        # By container, kind and name in capitals.
        self._members: defaultdict[int | None, defaultdict[str, dict[str, tuple[int, ...]]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._owned: defaultdict[int | None, dict[int, None]] = defaultdict(dict)
        self._grants: dict[GrantKey, Grant] = {}
        self._grants_on: defaultdict[int, dict[GrantKey, None]] = defaultdict(dict)
        self._future_in: defaultdict[int, dict[GrantKey, None]] = defaultdict(dict)
        self._grants_to: defaultdict[int, dict[GrantKey, None]] = defaultdict(dict)
        self._changes: list[Change] = []
        self._inherited: dict[int, frozenset[int]] = {}
        self._on_account: dict[int, frozenset[str]] = {}

    # --- changing ------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """Collect the changes made inside; undo them all if the body raises, unless the error keeps them."""
        with self._collected() as changes:
            try:
                yield changes
            except BaseException as error:
                if not (isinstance(error, SqlError) and error.keeps_changes):
                    self._undo(changes)
                raise

    @contextmanager
    def rehearsal(self) -> Iterator[list[Change]]:
        """As `transaction`, but undo the changes in any case."""
        with self._collected() as changes:
            try:
                yield changes
            finally:
                self._undo(changes)

    @contextmanager
    def _collected(self) -> Iterator[list[Change]]:
        changes: list[Change] = []
        self._changes = changes
        try:
            yield changes
        finally:
            self._changes = []

    def _undo(self, changes: list[Change]) -> None:
        while changes:
            change = changes.pop()
            self.apply(Change(change.after, change.before))

    @property
    def next_id(self) -> int:
        return len(self._objects)

    def add(self, obj: CatalogObject) -> CatalogObject:
        """Store a new object; its id is `next_id`."""
        self._record(Change(None, obj))
        return obj

    def update(self, before: CatalogObject, after: CatalogObject) -> CatalogObject:
        """Replace an object's record; its id stays."""
        self._record(Change(before, after))
        return after

    def drop(self, obj: CatalogObject, now: int) -> None:
        """End this incarnation, whatever has become of its record; what is inside goes and comes back with it."""
        latest = self._objects[obj.id]
        self.update(latest, replace(latest, dropped_on=now))

    def grant(self, grant: Grant) -> None:
        self._record(Change(self._grants.get(grant.key), grant))

    def revoke(self, grant: Grant) -> None:
        self._record(Change(grant, None))

    def _record(self, change: Change) -> None:
        self.apply(change)
        self._changes.append(change)

    def apply(self, change: Change) -> None:
        """Bring records and indexes from one state to the other."""
        if change.before is not None:
            self._forget(change.before)
        if change.after is not None:
            self._remember(change.after)
        if self._is_about_roles(change):
            self._inherited.clear()
        record = change.after or change.before
        if isinstance(record, Grant) and record.on == ACCOUNT_ID:
            self._on_account.pop(record.to, None)

    def _is_about_roles(self, change: Change) -> bool:
        """Whether it may change what roles are held: those of a database come and go with it."""
        match change.before, change.after:
            case (Grant() as grant, _) | (_, Grant() as grant):
                about = self._objects.get(grant.on)
                return about is None or about.kind in ROLE_KINDS
            case CatalogObject() as before, CatalogObject() as after if after.kind == "DATABASE":
                return before.dropped_on != after.dropped_on
            case (CatalogObject() as record, _) | (_, CatalogObject() as record):
                return record.kind in ROLE_KINDS
            case _:
                return False

    def _remember(self, record: CatalogObject | Grant) -> None:
        if isinstance(record, Grant):
            self._grants[record.key] = record
            self._about(record)[record.key] = None
            self._grants_to[record.to][record.key] = None
            return
        self._objects[record.id] = record
        self._of_kind[record.kind][record.id] = None
        namesakes, name = self._members[record.parent][record.kind], _in_capitals(record.name)
        namesakes[name] = (*namesakes.get(name, ()), record.id)
        self._owned[record.owner][record.id] = None
        if record.dropped_on is None:
            self._live[_address(record)] = record.id

    def _forget(self, record: CatalogObject | Grant) -> None:
        if isinstance(record, Grant):
            del self._grants[record.key]
            del self._about(record)[record.key]
            del self._grants_to[record.to][record.key]
            return
        del self._objects[record.id]
        del self._of_kind[record.kind][record.id]
        namesakes, name = self._members[record.parent][record.kind], _in_capitals(record.name)
        if left := tuple(object_id for object_id in namesakes[name] if object_id != record.id):
            namesakes[name] = left
        else:
            del namesakes[name]
        del self._owned[record.owner][record.id]
        if self._live.get(_address(record)) == record.id:
            del self._live[_address(record)]

    def _about(self, grant: Grant) -> dict[GrantKey, None]:
        return (self._grants_on if grant.future is None else self._future_in)[grant.on]

    # --- reading -------------------------------------------------------------------------------------------------

    def __getitem__(self, object_id: int) -> CatalogObject:
        return self._objects[object_id]

    def get(self, object_id: int) -> CatalogObject | None:
        return self._objects.get(object_id)

    def get_grant(self, key: GrantKey) -> Grant | None:
        return self._grants.get(key)

    @property
    def account(self) -> CatalogObject:
        return self._objects[ACCOUNT_ID]

    def find(
        self, namespace: str, name: str, parent: int | None = ACCOUNT_ID, overload: str | None = None
    ) -> CatalogObject | None:
        """The live object of this name."""
        object_id = self._live.get((namespace, parent, name, overload))
        return None if object_id is None else self._objects[object_id]

    def members(
        self, kind: str, parent: int | None = ACCOUNT_ID, *, dropped: bool = False, named: str | None = None
    ) -> list[CatalogObject]:
        """Objects of a kind in a container, by name; dropped ones too if asked for, the latest first.

        Args:
            named: Their name, in any case; None for all of them.
        """
        by_name = self._members[parent][kind]
        ids = chain.from_iterable(by_name.values()) if named is None else by_name.get(_in_capitals(named), ())
        found = [self._objects[object_id] for object_id in ids]
        kept = [obj for obj in found if dropped or obj.dropped_on is None]
        return sorted(kept, key=_listing_order)

    def of_kind(self, kind: str) -> Iterator[CatalogObject]:
        """The live objects of a kind, wherever they are."""
        found = (self._objects[object_id] for object_id in list(self._of_kind[kind]))
        return (obj for obj in found if self.is_live(obj))

    def children(self, parent: int) -> list[CatalogObject]:
        """All live objects in a container, of any kind."""
        return [obj for kind in list(self._members[parent]) for obj in self.members(kind, parent)]

    def is_live(self, obj: CatalogObject) -> bool:
        """Whether neither the object nor anything it is in was dropped."""
        return all(step.dropped_on is None for step in self.lineage(obj))

    def contains(self, container: CatalogObject, obj: CatalogObject) -> bool:
        """Whether an object is a container or, however deep, in it."""
        return any(step.id == container.id for step in self.lineage(obj))

    def lineage(self, obj: CatalogObject) -> Iterator[CatalogObject]:
        """The object, what contains it, and so on up to the account."""
        step: CatalogObject | None = obj
        while step is not None:
            yield step
            step = None if step.parent is None else self._objects[step.parent]

    def path(self, obj: CatalogObject) -> Name:
        """The parts of the fully-qualified name."""
        if obj.id == ACCOUNT_ID:
            return (obj.name,)
        return tuple(step.name for step in self.lineage(obj) if step.id != ACCOUNT_ID)[::-1]

    def grants_on(self, obj: CatalogObject) -> list[Grant]:
        return [self._grants[key] for key in self._grants_on[obj.id]]

    def future_grants(self, container: CatalogObject) -> list[Grant]:
        """What new objects in a container are to be granted, grants of its own container not counted."""
        return [self._grants[key] for key in self._future_in[container.id]]

    def grants_to(self, grantee: int) -> list[Grant]:
        """What a role, user or share was granted."""
        return [self._grants[key] for key in self._grants_to[grantee] if self._grants[key].future is None]

    def future_grants_to(self, grantee: int) -> list[Grant]:
        """What a role will be granted on objects that are yet to be made."""
        return [self._grants[key] for key in self._grants_to[grantee] if self._grants[key].future is not None]

    def grants_by(self, role: int) -> list[Grant]:
        """What a role has granted to others."""
        return [grant for grant in self._grants.values() if grant.by == role]

    def owned_by(self, role: int) -> list[CatalogObject]:
        """The live objects that a role owns."""
        owned = (self._objects[object_id] for object_id in self._owned[role])
        return [obj for obj in owned if self.is_live(obj)]

    def granted_roles(self, grantee: int) -> list[int]:
        """The roles granted directly to a role or user."""
        return [
            grant.on
            for grant in self.grants_to(grantee)
            if grant.privilege == "USAGE" and self[grant.on].kind in ROLE_KINDS and self.is_live(self[grant.on])
        ]

    def held_on_account(self, role: int) -> frozenset[str]:
        """The privileges on the account that a role was granted itself."""
        if (known := self._on_account.get(role)) is None:
            grants = self.grants_to(role)
            known = frozenset(grant.privilege for grant in grants if grant.on == ACCOUNT_ID)
            self._on_account[role] = known
        return known

    def inherited_roles(self, grantee: int) -> frozenset[int]:
        """The roles that a role or user holds: granted directly, through other roles, or as PUBLIC to everybody."""
        if (known := self._inherited.get(grantee)) is not None:
            return known
        held: set[int] = set()
        waiting = self.granted_roles(grantee)
        if public := self.find("ROLE", PUBLIC):
            waiting.append(public.id)
        while waiting:
            role = waiting.pop()
            if role not in held:
                held.add(role)
                waiting.extend(self.granted_roles(role))
        self._inherited[grantee] = frozenset(held)
        return self._inherited[grantee]
