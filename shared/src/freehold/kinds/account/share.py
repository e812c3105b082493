"""Shares: what an account offers to others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from freehold import sql
from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.content import Content
from freehold.kinds.fields import comment, items, own_name, prop, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Action, Change, Deviation
from freehold.kinds.resource import only_when
from freehold.kinds.values import Boolean, Codec
from freehold.observation import Observation

AccountIdentifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+\.[A-Za-z0-9_]+$", max_length=511)]

_SHOWN = 3
"""Accounts of a share that SHOW SHARES names at most."""


class _Accounts(Codec):
    """Accounts as ORGANIZATION.ACCOUNT in any case; of a share that can't be offered now, why not."""

    def canonical(self, value: Collection[str]) -> frozenset[str]:
        return frozenset(each.upper() for each in value)

    def read(self, raw: object) -> object:
        if isinstance(raw, str):
            return raw
        listed = (each.strip() for each in str(raw[0] or "").split(",")) if isinstance(raw, tuple) else ()
        return self.canonical([each for each in listed if "." in each and " " not in each])


def _offered(observation: Observation) -> object:
    row = observation.row
    if row.get("listing_global_name"):
        return "are told by the listing that the share is in: leave them to that"
    if not row.get("database_name"):
        return "can't have the share before it has a database: grant it USAGE on one, by a GrantPrivilegesToShare"
    return (row.get("to"),)


def _differ(spec: ShareSpec, observed: frozenset[str] | str, tracked: Collection[str]) -> Iterator[Deviation]:
    """By the difference alone: whoever has the share is never without it for the sake of another."""
    wanted = {each.upper(): each for each in spec.accounts or ()}
    if isinstance(observed, str):
        if wanted:
            what, _, remedy = observed.partition(": ")
            yield Deviation("", frozenset(wanted), None, Change.TOLD, said=what, remedy=remedy)
        return
    sent = {name.upper(): name for name in (each[9:-1] for each in tracked if each.startswith("accounts["))}
    # What SHOW doesn't name when it may not name all is taken to be as it was left.
    have = observed | sent.keys() if len(observed) >= _SHOWN else observed
    restrictions = spec.share_restrictions
    for account in sorted(wanted.keys() - have):
        yield _deviation(account, "ADD ACCOUNTS =", wanted, restrictions=restrictions)
    for account in sorted(have - wanted.keys()):
        yield _deviation(account, "REMOVE ACCOUNTS =", {**sent, account: sent.get(account, account)})


def _deviation(account: str, verb: str, written: Mapping[str, str], *, restrictions: bool | None = None) -> Deviation:
    """An account that is to be added, or removed, under the name that the manifest has for it."""
    clause = sql.identifier(*account.split("."))
    if restrictions is not None:
        clause = sql.sql("{account} SHARE_RESTRICTIONS = {on}", account=clause, on=sql.boolean(restrictions))
    added = verb.startswith("ADD")
    return Deviation(
        f"[{written[account]}]",
        account if added else None,
        None if added else account,
        actions=(Action(verb, clause, alone=restrictions is not None),),
        said="is missing" if added else "is too much",
    )


class ShareSpec(SnowflakeSpec):
    """A share of this account, by which others read what is granted to it. Its objects are GrantPrivilegesToShares."""

    name: Name = own_name()
    """The share's name as it is stored: case kept, never folded."""
    secure_objects_only: bool | None = prop(
        "SECURE_OBJECTS_ONLY",
        show="secure_objects_only",
        codec=Boolean(),
        reset=KEEP,
        recreate_when=lambda old, new: (old is False) != (new is False),
    )
    """Whether only secure views may be in it, as is the default. It is decided when the share is made."""
    comment: str | None = comment()
    """A note for people."""
    accounts: list[AccountIdentifier] | None = items(
        str,
        differ=_differ,
        codec=_Accounts(),
        observe=_offered,
        source="show.to",
        details=(),
        default=None,
        max_length=1000,
    )
    """All accounts that may use it, as ORGANIZATION.ACCOUNT; others are taken off. They are added once the share has a
    database, which is looked for at every resync."""
    share_restrictions: bool | None = Field(default=None)
    """Set to false to add accounts of a lower edition to a share of a Business Critical account, which takes the
    privilege OVERRIDE SHARE RESTRICTIONS."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


SHARE = Kind(
    spec=ShareSpec,
    domain=Domain.ACCOUNT,
    object_type="SHARE",
    level=Level.ACCOUNT,
    holds_data=False,
    create_or_alter=True,
    shown_to_all_seeing=False,
    shown_with="IMPORT SHARE",
    # What other accounts offer to this one may have the same name.
    shown_among=lambda row: row.get("kind") == "OUTBOUND",
    # Another account may use the share without being named by SHOW SHARES.
    content=(
        Content(
            lambda target: sql.sql("SHOW GRANTS OF SHARE {name}", name=target.name),
            name=lambda row: f"account {row['grantee_name']}",
            remedy="it would lose what it reads at once, so remove it from accounts first",
            told_to_all=True,
        ),
    ),
    privileges={"MANAGE SHARE TARGET": "accounts"},
    rules=(only_when(("shareRestrictions",), "has(self.accounts)", "shareRestrictions is about accounts: add these"),),
)
