"""Shares: the sum is never more than the whole, whoever listens late, and they follow what members want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freehold.snowflake.shares import WHOLE, Announcement, Shares, fair

Board = Mapping[int, tuple[int, Announcement]]
"""What every member has announced, and the version of that."""

ACCOUNT = "AWS_EU_CENTRAL_1.XY12345"


@dataclass
class Member:
    """One that takes part.

    Attributes:
        shares: what is tested.
        demands: what it wants.
        alive: whether it uses anything.
        late: a write under way, and the version that it is based on.
        over: by who has noticed that it came to its end, its version by then.
    """

    shares: Shares = field(default_factory=Shares)
    demands: dict[str, int] = field(default_factory=dict)
    alive: bool = False
    late: tuple[int, Announcement] | None = None
    over: dict[int, int] = field(default_factory=dict)


class World:
    """Members that listen and write, lose answers, hear old news, end and come back."""

    def __init__(self, members: int) -> None:
        self.members = {each: Member() for each in range(members)}
        self.history: list[Board] = [{}]

    @property
    def board(self) -> Board:
        return self.history[-1]

    def renew(self, name: int, lost: str = "") -> None:
        """Hear the others, and write the announcement; the `request` or, for now, the write may be `lost`."""
        member = self.members[name]
        if not member.alive:
            member.alive = True
            member.shares.begin()
        self.listen(name)
        write = self.board.get(name, (0, None))[0], member.shares.announced
        if lost == "for now":
            member.late = write
        elif lost != "request":
            self._put(name, *write)

    def arrive(self, name: int) -> None:
        """A write that was lost arrives."""
        if late := self.members[name].late:
            self.members[name].late = None
            self._put(name, *late)

    def listen(self, name: int, ago: int = 0) -> None:
        """Hear what everybody had announced so many changes ago."""
        member, board = self.members[name], self.history[max(0, len(self.history) - 1 - ago)]
        others = [
            announcement
            for other, (version, announcement) in board.items()
            if other != name and version > self.members[other].over.get(name, 0)
        ]
        member.shares.hear(board[name][1].revision if name in board else None, member.demands, others)

    def expire(self, name: int, by: int) -> None:
        """Somebody notices an end."""
        if not self.members[name].alive and name in self.board:
            self.members[name].over[by] = self.board[name][0]

    def used(self, account: str = ACCOUNT) -> list[int]:
        return [each.shares.of(account) if each.alive else 0 for each in self.members.values()]

    def settle(self, **demands: int) -> list[int]:
        """Let everybody want something, `_0=...`, and be heard; answers with what is used in the end."""
        for name, demand in demands.items():
            self.members[int(name[1:])].demands[ACCOUNT] = demand
        for _ in range(4):
            for member in self.members:
                self.renew(member)
        return self.used()

    def _put(self, name: int, based_on: int, announcement: Announcement) -> None:
        """Compare and set."""
        version = self.board.get(name, (0, None))[0]
        if version == based_on:
            self.history.append({**self.board, name: (version + 1, announcement)})

    def step(self, random: Random) -> None:
        """Anything that may happen."""
        name, other = random.sample(list(self.members), 2)
        member = self.members[name]
        match random.choice(["renew", "renew", "renew", "lose", "arrive", "listen", "want", "want", "end", "expire"]):
            case "renew":
                self.renew(name)
            case "lose":
                self.renew(name, random.choice(["request", "for now"]))
            case "arrive":
                self.arrive(name)
            case "listen" if member.alive:
                self.listen(name, ago=random.randrange(4))
            case "want":
                member.demands[ACCOUNT] = random.choice([0, WHOLE // 4, WHOLE, WHOLE])
            case "end" if random.random() < 0.2:
                member.alive = False
            case "expire":
                self.expire(name, by=other)


@given(st.randoms(use_true_random=True), st.integers(2, 4))
@settings(max_examples=60)
def test_the_sum_is_never_more_than_the_whole(random: Random, members: int) -> None:
    world = World(members)
    for _ in range(120):
        world.step(random)
        assert sum(world.used()) <= WHOLE
        assert sum(world.used("never named")) <= WHOLE


def settled(*demands: int) -> World:
    world = World(len(demands))
    world.settle(**{f"_{name}": demand for name, demand in enumerate(demands)})
    return world


def test_less_is_used_before_it_is_announced() -> None:
    world = settled(WHOLE, 0)
    before = world.used()[0]
    world.members[0].demands[ACCOUNT] = 0
    world.listen(0)
    assert world.used()[0] < before
    assert world.board[0][1].of(ACCOUNT).share == before


def test_more_is_used_only_after_it_was_announced_and_all_others_were_heard() -> None:
    world = settled(0, 0)
    before = world.used()[0]
    world.members[0].demands[ACCOUNT] = WHOLE
    world.renew(0, "request")
    world.listen(0)
    assert world.used()[0] == before  # not announced
    world.renew(0)
    assert world.used()[0] == before  # not heard
    world.listen(0)
    assert world.used()[0] > before


def test_who_comes_back_uses_nothing_before_the_others_could_hear_of_it() -> None:
    world = settled(WHOLE, 0)
    world.members[0].alive = False
    world.renew(0, "request")
    world.listen(0)
    assert world.used()[0] == 0


@pytest.mark.parametrize(
    ("demands", "shares"),
    [
        ((0,), (50_000,)),
        ((WHOLE,), (WHOLE,)),
        ((0, 0), (33_333, 33_333)),
        ((20_000, 30_000), (33_333, 33_333)),
        ((WHOLE, 0), (98_500, 1_500)),
        ((WHOLE, 20_000), (80_000, 20_000)),
        ((WHOLE, WHOLE), (50_000, 50_000)),
        ((WHOLE, 60_000, 10_000), (45_000, 45_000, 10_000)),
        ((40_000, 10_000), (65_000, 35_000)),
        ((WHOLE, 0, 0, 0), (97_750, 750, 750, 750)),
    ],
)
def test_shares_follow_demand_and_leave_everybody_enough_to_begin_with(
    demands: tuple[int, ...], shares: tuple[int, ...]
) -> None:
    assert tuple(settled(*demands).used()) == shares


def test_a_demand_that_ends_gives_its_share_back() -> None:
    world = settled(WHOLE, WHOLE)
    assert world.settle(_0=0) == [1_500, 98_500]
    assert world.settle(_1=0) == [33_333, 33_333]


def test_a_member_that_has_come_to_its_end_leaves_its_share_to_the_others() -> None:
    world = settled(WHOLE, WHOLE)
    world.members[1].alive = False
    world.renew(0)
    assert world.used()[0] == 50_000  # not before that is noticed
    world.expire(1, by=0)
    for _ in range(2):
        world.renew(0)
    assert world.used() == [WHOLE, 0]


def test_who_joins_may_use_an_equal_share_at_once() -> None:
    world = World(2)
    for name in (0, 0, 1, 1):
        world.renew(name)
    assert world.used()[1] == 33_333


def test_nothing_new_is_announced_while_nothing_changes() -> None:
    world = settled(WHOLE, 20_000)
    before = [each.shares.announced for each in world.members.values()]
    world.settle()
    assert [each.shares.announced for each in world.members.values()] == before


@given(st.lists(st.integers(0, WHOLE), min_size=1, max_size=40))
def test_fair_shares_fill_the_whole_and_no_more(demands: list[int]) -> None:
    shares = [fair(each, [*demands[:place], *demands[place + 1 :]]) for place, each in enumerate(demands)]
    assert WHOLE - len(demands) <= sum(shares) <= WHOLE
