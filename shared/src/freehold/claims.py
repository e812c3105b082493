"""Claims: who owns an external object, and the proof of it. The cluster-scoped `Claim` is named by the identity's hash.

Creating a claim is atomic in etcd, which makes ownership free of races. It has no status subresource: each step of
its life is one compare-and-set on one object. This module holds the model, `claim_rules` the pure transitions;
`claim_store` does the reading and writing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from freehold.identity import Identity, digest
from freehold.kinds.model import Model
from freehold.kinds.resource import AGE, FREEHOLD_GROUP, VERSION, Column, GroupResource, Resource, Rule

HOLDER_LABEL = "freehold.dev/holder"
"""Label of a claim: hash of the holder's group, kind, namespace and name."""

OWNER_ANNOTATION = "freehold.dev/owner"
"""Annotation of a claim: namespace/name of its holder, for `kubectl get`, whose columns can't join two fields. Like the
label it is derived at every write and never read back."""


class Account(Model):
    """The account that an object lives in."""

    key: str
    """CURRENT_REGION() and CURRENT_ACCOUNT() as the server printed them, joined by a dot."""
    name: str
    """ORGANIZATION.ACCOUNT, for people."""


class ClaimedIdentity(Model):
    """The external object that is claimed; the claim is named by its hash."""

    account: Account
    namespace_class: str
    """Name space that the object's name lives in, for example DATABASE."""
    fqn: str
    """The fully-qualified name."""

    @property
    def identity(self) -> Identity:
        return Identity.parse(self.account.key, self.namespace_class, self.fqn)


class Holder(Model):
    """The resource that holds the claim."""

    group: str
    """Its API group."""
    kind: str
    """Its kind."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    uid: str
    """For information: a resource that was deleted and applied again is the same holder."""
    since: datetime | None = None
    """API server's time of the last change of holder; absent while the first holder is the only one so far, whose
    time is the claim's creationTimestamp."""

    def same(self, other: Holder) -> bool:
        """Whether both are the same group, kind, namespace and name; the uid may differ."""
        return self.key == other.key

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.group, self.kind, self.namespace, self.name)

    @property
    def owner(self) -> str:
        """namespace/name."""
        return f"{self.namespace}/{self.name}"

    @property
    def label(self) -> str:
        """Value of the claim's holder label."""
        return digest("\n".join(self.key))

    def __str__(self) -> str:
        return f"{self.kind} {self.owner}"


class Evidence(Model):
    """How the object came to be ours. Without evidence nothing is ever altered or dropped."""

    how: Literal["created", "adopted"]
    """Whether Freehold made it, or took over one that was there."""
    created_on: datetime
    """The object's created_on in Snowflake, which tells this incarnation from any other."""
    role: str
    """Role that created or adopted it."""
    time: datetime
    """When that was, by Snowflake's clock."""
    force_new: str | None = None
    """The annotation freehold.dev/force-new of the resource that it was created for: an order that is carried out."""
    holds: list[str] | None = None
    """Hashes of what is in a slot by our doing, the later in place of the earlier. Where Snowflake doesn't tell when
    a slot was filled, they tell what is ours from what others have put there."""
    statements: tuple[str, ...] | None = None
    """Hashes of the statements that were run, where the resource stands for their effect."""


class Mark(Model):
    """Written before and after each first CREATE, so that a crash in between is resolved by looking."""

    attempt: int
    """Number of the latest attempt, from 1."""
    since: datetime | None = None
    """Snowflake's time of the oldest attempt whose outcome is unknown; absent when none is."""
    until: datetime | None = None
    """Snowflake's time by which the latest of these has had its effect, if any: what is made later is another's."""
    outcome: Literal["sent", "refused", "done"]
    """Of the latest attempt; `sent` means unknown."""
    holds: list[str] | None = None
    """Hashes of what attempts whose outcome is unknown put into a slot."""


class Intent(Model):
    """The destructive statement that is about to be sent."""

    statement: Literal["DROP", "REVOKE", "RECREATE"]
    """What it is; RECREATE is a DROP that another CREATE follows."""
    created_on: datetime
    """The incarnation that it is meant for."""


class Progress(Model):
    """How far the statements of a text have come; written before each of them, so that none is ever sent blindly."""

    purpose: Literal["execute", "update", "revert"]
    """Which field of the manifest the text is from."""
    done: tuple[str, ...] = ()
    """Hashes of those that have run."""
    sent: str | None = None
    """Hash of the next one, which was sent and whose outcome is unknown; absent when none is."""
    since: datetime | None = None
    """API server's time at which that was sent."""
    telling: bool = False
    """Whether a look right before that has shown that its effect wasn't there, so that another look tells."""


class ClaimSpec(Model):
    """Who owns one object in Snowflake or PostgreSQL. Written by Freehold alone."""

    identity: ClaimedIdentity
    """The object."""
    holder: Holder
    """Its owner."""
    evidence: Evidence | None = None
    """How it came to be ours; absent until it was created or adopted."""
    mark: Mark | None = None
    """The latest attempt to create it."""
    intent: Intent | None = None
    """A destructive statement under way."""
    progress: Progress | None = None
    """Statements that are run one by one; absent when all have been."""
    suspended: tuple[str, ...] | None = None
    """Quoted names of what was suspended for a change and is to run again, whatever comes of that; absent when nothing
    is. Written before the first of them is suspended."""

    @property
    def unsettled(self) -> bool:
        """Whether something about the object is unknown or under way."""
        unknown = self.mark is not None and self.mark.since is not None
        return self.intent is not None or self.progress is not None or unknown

    @property
    def telling(self) -> bool:
        """Whether the object may be the holder's by now: such a claim is never swept, nor given up in passing."""
        return self.evidence is not None or self.unsettled


CLAIM = Resource(
    path=GroupResource(FREEHOLD_GROUP, VERSION, "claims", "Claim", namespaced=False),
    spec=ClaimSpec,
    status=None,
    short_names=("cl",),
    columns=(
        Column("KIND", ".spec.holder.kind"),
        Column("OWNER", r".metadata.annotations['freehold\.dev/owner']"),
        Column("ACCOUNT", ".spec.identity.account.name"),
        Column("FQN", ".spec.identity.fqn"),
        Column("EVIDENCE", ".spec.evidence.how"),
        AGE,
    ),
    rules=(
        Rule(
            "self.identity == oldSelf.identity",
            "identity can't be changed: a claim is named by its hash, so another object has another claim",
            "identity",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as it stands in the API.

    Attributes:
        name: the identity's hash.
        resource_version: what a compare-and-set compares; empty for a claim that is yet to be created.
        uid: the object's uid; empty likewise.
        created: API server's time of its creation; None likewise.
        spec: who owns what.
    """

    name: str
    resource_version: str
    uid: str
    created: datetime | None
    spec: ClaimSpec

    @property
    def held_since(self) -> datetime | None:
        """API server's time since when the present holder holds it."""
        return self.spec.holder.since or self.created


def new_claim(identity: Identity, account_name: str, holder: Holder) -> Claim:
    """The claim that a resource asks for.

    Args:
        identity: the object.
        account_name: ORGANIZATION.ACCOUNT, for people.
        holder: the asking resource.
    """
    claimed = ClaimedIdentity(
        account=Account(key=identity.account, name=account_name),
        namespace_class=identity.namespace_class,
        fqn=identity.fqn,
    )
    return Claim(identity.hash, "", "", None, ClaimSpec(identity=claimed, holder=holder))
