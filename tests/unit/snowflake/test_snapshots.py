"""Snapshots: who shares which reading of a scope, and what becomes of it, in a time that tests put forward."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from freehold import urgency
from freehold.kinds.registry import KINDS
from freehold.observation import Row
from freehold.snowflake import scopes, snapshots
from freehold.snowflake.credentials import Password
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold.snowflake.scopes import Scope, around
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.snapshots import Snapshot, Snapshots
from freehold.sql import Sql, words
from tests.unit.snowflake.test_pool import SETTINGS

TABLES = around(KINDS["Table"], KINDS["Table"].target(("D", "S", "T")))
OTHERS = around(KINDS["Table"], KINDS["Table"].target(("D", "OTHER", "T")))


class Account:
    """An account that answers when a test lets it.

    Attributes:
        now: the time.
        asked: queries so far, with whom they were asked as.
        names: what the scopes hold, in their order.
        urgency: of the latest query.
    """

    def __init__(self) -> None:
        self.now = 100.0
        self.asked: list[tuple[ConnectionSettings, str]] = []
        self.names: list[str | None] = ["A", "B"]
        self.aborted = 0
        self.urgency = urgency.Urgency()
        self._answers: list[asyncio.Future[Sequence[Row] | None]] = []

    async def read(self, settings: ConnectionSettings, query: Sql) -> Sequence[Row]:
        self.asked.append((settings, query.text))
        self.urgency = urgency.present()
        answer: asyncio.Future[Sequence[Row] | None] = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        try:
            found = await answer
        except asyncio.CancelledError:
            self.aborted += 1
            self._answers.remove(answer)
            raise
        return self._page(query.text) if found is None else found

    async def answer(self, found: Sequence[Row] | SnowflakeError | None = None, *, after: float = 1.0) -> None:
        """Answer the oldest query with what there is, with given rows, or with an error; then let everybody go on."""
        await self.settle()
        self.now += after
        answer = self._answers.pop(0)
        if isinstance(found, SnowflakeError):
            answer.set_exception(found)
        else:
            answer.set_result(found)
        await self.settle()

    async def settle(self) -> None:
        """Let everybody do what they can."""
        for _ in range(10):
            await asyncio.sleep(0)

    def _page(self, query: str) -> Sequence[Row]:
        after = query.partition(" FROM '")[2].removesuffix("'")
        names = self.names[next((i for i, name in enumerate(self.names) if name == after), -1) + 1 :]
        limit = scopes.PAGE if " LIMIT " in query else scopes.SHOW_LIMIT
        return [{"name": name, "owner": "R", "grantee_name": name, "read": self.now} for name in names[:limit]]


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def found(account: Account) -> Snapshots:
    return Snapshots(account.read, lambda: account.now, capacity=10)


def asks(
    found: Snapshots, not_before: float, *, settings: ConnectionSettings = SETTINGS, scope: Scope = TABLES
) -> asyncio.Task[Snapshot]:
    return asyncio.create_task(found.rows(settings, scope, not_before))


async def test_a_thousand_who_ask_at_a_time_share_one_reading(account: Account, found: Snapshots) -> None:
    waiting = [asks(found, 100) for _ in range(1000)]
    await account.answer()
    assert len({id(each) for each in await asyncio.gather(*waiting)}) == 1
    assert len(account.asked) == 1


async def test_what_was_read_lately_is_not_read_again(account: Account, found: Snapshots) -> None:
    waiting = asks(found, 100)
    await account.answer()
    assert await found.rows(SETTINGS, TABLES, 100) is await waiting
    assert [row["owner"] for row in (await waiting).named("A")] == ["R"]
    assert (await waiting).named("a") == ()


async def test_who_has_written_while_a_scope_was_being_read_shares_a_later_reading(
    account: Account, found: Snapshots
) -> None:
    first = asks(found, 100)
    await account.settle()
    account.now = 105
    late = [asks(found, 105) for _ in range(3)]
    await account.settle()
    assert len(account.asked) == 1, "one after the other"
    await account.answer()
    assert first.done()
    assert not any(each.done() for each in late)
    await account.answer()
    assert [each.result().begun for each in (first, *late)] == [100, 106, 106, 106]
    assert len(account.asked) == 2


async def test_who_has_written_before_the_second_page_shares_a_later_reading(
    account: Account, found: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 2)
    account.names = ["A", "B", "C"]
    first = asks(found, 100)
    await account.answer()
    late = asks(found, account.now)
    await account.answer()
    assert first.done()
    assert not late.done()
    await account.answer()
    await account.answer()
    assert late.result().begun == 102
    assert [query.rpartition(" LIMIT ")[2] for _, query in account.asked] == ["2", "2 FROM 'B'", "2", "2 FROM 'B'"]


async def test_an_instant_that_is_yet_to_come_means_now(account: Account, found: Snapshots) -> None:
    waiting = asks(found, float("inf"))
    await account.answer()
    assert waiting.result().begun == 100


@pytest.mark.parametrize(
    "other",
    [
        SETTINGS.acting_as("ANOTHER"),
        replace(SETTINGS, account_key="R.ANOTHER"),
        replace(SETTINGS, user="ANOTHER"),
        replace(SETTINGS, credential=Password("the rotated Secret", "new")),
    ],
    ids=["role", "account", "user", "secret"],
)
async def test_what_another_has_read_is_never_used(
    account: Account, found: Snapshots, other: ConnectionSettings
) -> None:
    mine, theirs = asks(found, 100), asks(found, 100, settings=other)
    await account.answer(SnowflakeError("the key was revoked", number=390144))
    await account.answer()
    assert isinstance(mine.exception(), SnowflakeError)
    assert theirs.result().size == 2
    assert [settings for settings, _ in account.asked] == [SETTINGS, other]


async def test_a_failure_is_that_of_all_who_wait_and_of_nobody_else(account: Account, found: Snapshots) -> None:
    waiting = [asks(found, 100) for _ in range(3)]
    await account.answer(SnowflakeError("no", number=2043))
    assert {str(each.exception()) for each in waiting} == {"002043: no"}
    again = asks(found, 100)
    await account.answer()
    assert again.result().size == 2


async def test_who_gives_up_leaves_the_others_waiting_and_the_last_ends_the_reading(
    account: Account, found: Snapshots
) -> None:
    waiting = [asks(found, 100) for _ in range(3)]
    await account.settle()
    for each in waiting[:2]:
        each.cancel()
    await account.settle()
    assert account.aborted == 0
    waiting[2].cancel()
    await account.settle()
    assert account.aborted == 1


async def test_a_failure_that_nobody_waits_for_any_more_is_no_news() -> None:
    async def read(*_: object) -> Sequence[Row]:
        try:
            await asyncio.Event().wait()
        finally:
            raise SnowflakeError("aborted")

    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    waiting = asks(Snapshots(read, time.monotonic), 100)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await asyncio.sleep(0)
    del waiting
    gc.collect()
    assert told == []


async def test_who_comes_while_an_abandoned_reading_ends_has_one_of_its_own(account: Account, found: Snapshots) -> None:
    gone = asks(found, 100)
    await account.settle()
    gone.cancel()
    await asyncio.sleep(0)
    waiting = asks(found, 100)
    await account.settle()
    assert not waiting.done()
    await account.answer()
    assert waiting.result().size == 2


async def test_who_gives_up_at_once_leaves_nothing_behind(account: Account, found: Snapshots) -> None:
    gone = asks(found, 100)
    await asyncio.sleep(0)
    gone.cancel()
    await account.settle()
    waiting = asks(found, 100)
    await account.settle()
    await account.answer()
    assert waiting.result().size == 2


async def test_pages_are_joined_and_a_row_that_comes_twice_counts_once(
    account: Account, found: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 3)
    waiting = asks(found, 100)
    await account.answer(
        [{"name": "A", "arguments": "()"}, {"name": "F", "arguments": "()"}, {"name": "F", "arguments": "(INT)"}]
    )
    await account.answer([{"name": "F", "arguments": "(INT)"}, {"name": "F", "arguments": "(DATE)"}])
    snapshot = waiting.result()
    assert [row["arguments"] for row in snapshot.named("F")] == ["()", "(INT)", "(DATE)"]
    assert snapshot.size == 4


async def test_pages_that_lead_nowhere_end_it(
    account: Account, found: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 2)
    waiting = asks(found, 100)
    for _ in range(2):
        await account.answer([{"name": "A"}, {"name": "B"}])
    assert waiting.result().named("B")


async def test_pages_that_dont_end_are_not_read_to_their_end(
    account: Account, found: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 2)
    monkeypatch.setattr(snapshots, "LARGEST", 4)
    account.names = list("ABCDEFGH")
    waiting = asks(found, 100)
    await account.answer()
    await account.answer()
    assert waiting.result().size == 4


async def test_a_row_that_cant_be_read_is_left_out_and_told_of_once(
    account: Account, found: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    account.names = ["A", None, "C"]
    for _ in range(2):
        waiting = asks(found, account.now)
        await account.answer()
    assert [bool(waiting.result().named(name)) for name in "AC"] == [True, True]
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1


async def test_of_what_is_too_much_the_longest_unused_goes_first(account: Account, found: Snapshots) -> None:
    account.names = list("ABCD")
    third = Scope(words("SHOW TABLES IN ACCOUNT"))
    for scope in (TABLES, OTHERS, TABLES, third):
        waiting = asks(found, 100, scope=scope)
        await account.settle()
        if not waiting.done():
            await account.answer()
    assert len(account.asked) == 3
    assert await found.rows(SETTINGS, TABLES, 100)
    again = asks(found, 100, scope=OTHERS)
    await account.answer()
    assert again.done()
    assert len(account.asked) == 4


async def test_of_a_provider_that_is_gone_nothing_is_kept_nor_what_is_being_read(
    account: Account, found: Snapshots
) -> None:
    other = replace(SETTINGS, provider="team/other")
    for settings in (SETTINGS, other):
        waiting = asks(found, 100, settings=settings)
        await account.answer()
        assert waiting.done()
    waiting = asks(found, 100, scope=OTHERS)
    await account.settle()
    found.forget(SETTINGS.provider)
    await account.answer()
    assert waiting.done()
    assert found._known.keys() == {(other, TABLES)}


async def test_what_is_old_is_let_go(account: Account, found: Snapshots) -> None:
    for scope in (TABLES, OTHERS):
        waiting = asks(found, 100, scope=scope)
        await account.answer(after=1000)
        assert waiting.done()
    again = asks(found, 100)
    await account.answer()
    assert again.result().begun == 2100


async def test_the_first_asks_alone_and_from_the_second_on_all_share(account: Account, found: Snapshots) -> None:
    assert await found.worth(SETTINGS, TABLES, 100, "A") is None
    shared = [asyncio.create_task(found.worth(SETTINGS, TABLES, 100, name)) for name in "BCDEF"]
    await account.answer()
    assert all(each.result() for each in shared)
    assert len(account.asked) == 1


async def test_one_that_asks_again_is_still_one(account: Account, found: Snapshots) -> None:
    assert [await found.worth(SETTINGS, TABLES, 100, "A") for _ in range(3)] == [None] * 3
    assert account.asked == []


async def test_who_asked_before_the_instant_that_matters_doesnt_count(account: Account, found: Snapshots) -> None:
    assert await found.worth(SETTINGS, TABLES, 100, "A") is None
    account.now = 200
    assert await found.worth(SETTINGS, TABLES, 199, "B") is None
    assert account.asked == []


async def test_who_all_asked_an_interval_ago_will_do_so_again(account: Account, found: Snapshots) -> None:
    asking = [asyncio.create_task(found.worth(SETTINGS, TABLES, 100, name)) for name in "ABCD"]
    await account.answer()
    assert asking[-1].done()
    account.now = 190
    shared = asyncio.create_task(found.worth(SETTINGS, TABLES, 140, "A"))
    await account.answer()
    assert shared.result()


@pytest.mark.parametrize(
    ("failure", "alone"),
    [
        (OutcomeUnknown("internal error", number=603), True),
        (OutcomeUnknown("it took too long", number=630), True),
        (OutcomeUnknown("no answer"), False),
        (SnowflakeError("there is no such schema", number=2043), False),
    ],
    ids=["internal error", "too long", "no answer", "refused"],
)
async def test_what_the_server_cant_tell_as_a_whole_is_asked_for_one_by_one_for_a_while(
    account: Account, found: Snapshots, failure: SnowflakeError, alone: bool
) -> None:
    asking = [asyncio.create_task(found.worth(SETTINGS, TABLES, 100, name)) for name in "ABC"]
    await account.answer(failure)
    assert [each.exception() for each in asking[1:]] == [None if alone else failure] * 2
    again = [asyncio.create_task(found.worth(SETTINGS, TABLES, account.now, name)) for name in "ABC"]
    await account.settle()
    assert all(each.done() and each.result() is None for each in again) is alone
    for each in again:
        each.cancel()
    account.now += 900
    later = [asyncio.create_task(found.worth(SETTINGS, TABLES, account.now, name)) for name in "ABC"]
    await account.answer()
    assert later[-1].result()


async def test_what_fills_a_slot_is_told_as_a_whole_or_not_at_all(account: Account, found: Snapshots) -> None:
    slots = Scope(words("SHOW GRANTS TO ROLE R"), "privilege", paged=False, divisible=False)
    asking = asyncio.create_task(found.worth(SETTINGS, slots, 100, "SELECT"))
    await account.answer(OutcomeUnknown("internal error", number=603))
    assert isinstance(asking.exception(), OutcomeUnknown)


async def test_a_few_in_a_scope_that_was_seen_to_be_huge_ask_alone(
    account: Account, found: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 5000)
    monkeypatch.setattr(snapshots, "LARGEST", 5000)
    huge = OTHERS
    account.names = [str(number) for number in range(3000)]
    waiting = asks(found, 100, scope=huge)
    await account.answer()
    assert waiting.result().size == 3000
    account.now = 1000
    assert [await found.worth(SETTINGS, huge, 500, str(number)) for number in range(6)] == [None] * 6
    shared = asyncio.create_task(found.worth(SETTINGS, huge, 500, "6"))
    await account.answer()
    assert shared.result()


async def test_a_scope_is_read_as_urgently_as_the_most_urgent_of_those_who_wait_for_it(account: Account) -> None:
    shared = Snapshots(account.read, lambda: account.now)

    async def ask(rank: float) -> None:
        with urgency.ranked(rank):
            await shared.rows(SETTINGS, TABLES, account.now)

    tasks = [asyncio.create_task(ask(3))]
    await account.settle()
    assert account.urgency.rank == 3
    tasks += [asyncio.create_task(ask(each)) for each in (1, 2)]
    await account.settle()
    assert account.urgency.rank == 1
    await account.answer()
    await asyncio.gather(*tasks)
