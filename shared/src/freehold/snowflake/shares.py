"""Shares of an account's budget: members divide it among them by what each has announced. Pure.

A member announces of an account what it wants, its demand, and what it may use at most, its share. It uses more only
after it has heard all others, at a moment when its announcement was there to be heard, and no more than theirs leave;
it uses less before it announces that. So of any two members, whoever listens later hears what the other one may use,
and the sum never exceeds the budget, however late anybody listens.

An account is named only while somebody wants more of it than the equal share. That is one of more shares than there are
members, so that whoever joins needn't wait for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic import BaseModel, Field

WHOLE = 100_000
"""A whole budget. Shares are whole numbers, so that their sum is exact."""

_FLOORS = WHOLE * 3 // 100
"""What is kept for those who want nothing, all together: enough to begin with."""


class Part(BaseModel, frozen=True):
    """What a member says of an account.

    Attributes:
        demand: what it wants.
        share: what it may use.
    """

    demand: int = Field(ge=0, le=WHOLE)
    share: int = Field(ge=0, le=WHOLE)


class Announcement(BaseModel, frozen=True):
    """What a member tells the others.

    Attributes:
        revision: number of the announcement among this member's.
        equal: its share of, and demand for, each account that isn't named.
        accounts: the others, by account key.
    """

    revision: int = 0
    equal: int = Field(default=0, ge=0, le=WHOLE)
    accounts: Mapping[str, Part] = Field(default_factory=dict)

    def of(self, account: str) -> Part:
        return self.accounts.get(account) or Part(demand=self.equal, share=self.equal)

    def wants_more(self, account: str) -> bool:
        """Whether the equal share of an account isn't enough."""
        return self.of(account).demand > self.equal


def fair(demand: int, others: Sequence[int]) -> int:
    """The share of who wants so much: nobody has more than he wants while another one, who has less, lacks something.

    Args:
        demand: its own.
        others: what the others want.
    """
    count = len(others) + 1
    floor = _FLOORS // count
    left, mine = WHOLE, max(demand, floor)
    for place, want in enumerate(sorted(max(each, floor) for each in (demand, *others))):
        level = left // (count - place)
        if want > level:
            return min(mine, level)
        left -= want
    return mine + left // count


def announce(before: Announcement, demands: Mapping[str, int], others: Collection[Announcement]) -> Announcement:
    """What a member is to announce; what it has announced before, where that stays true.

    Args:
        before: its latest announcement.
        demands: what it wants, by account; nothing of those that aren't named.
        others: the latest announcements of all others.
    """
    equal = WHOLE // (len(others) + 2)
    named = {account for account, demand in demands.items() if demand > equal}
    named.update(account for each in others for account in each.accounts if each.wants_more(account))
    accounts = {account: _part(account, demands.get(account, 0), others) for account in sorted(named)}
    if (equal, accounts) == (before.equal, before.accounts):
        return before
    return Announcement(revision=before.revision + 1, equal=equal, accounts=accounts)


def _part(account: str, demand: int, others: Collection[Announcement]) -> Part:
    return Part(demand=demand, share=fair(demand, [each.of(account).demand for each in others]))


class Shares:
    """What one member announces, and what it may use.

    Attributes:
        announced: what is to be announced, until `hear` changes it.
    """

    def __init__(self) -> None:
        self.announced = Announcement()
        self._ceilings: tuple[Announcement, ...] = ()
        self._others: tuple[Announcement, ...] = ()

    def begin(self) -> None:
        """Begin a term as a member: nothing may be used before the others could hear of it."""
        self.announced = self.announced.model_copy(update={"revision": self.announced.revision + 1})
        self._ceilings = ()

    def hear(self, heard: int | None, demands: Mapping[str, int], others: Collection[Announcement]) -> None:
        """Take in what all have announced, as of one moment.

        Args:
            heard: revision of our own announcement among them; None where it isn't.
            demands: what we want, as `announce` has it.
            others: what the others have announced.
        """
        if heard == self.announced.revision:
            self._ceilings = (self.announced,)
            self._others = tuple(others)
        before = self.announced
        self.announced = announce(before, demands, others)
        if self._ceilings and self.announced is not before:
            # Not more than any that others may hear before they hear the latest.
            self._ceilings += (self.announced,)

    def of(self, account: str) -> int:
        """What may be used of an account now."""
        if not self._ceilings:
            return 0
        return max(0, min(self._offered(account)))

    def _offered(self, account: str) -> Iterator[int]:
        yield from (each.of(account).share for each in self._ceilings)
        yield WHOLE - sum(each.of(account).share for each in self._others)
