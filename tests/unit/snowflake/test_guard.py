"""The log-in guard: what was refused isn't tried again by anybody, until it changes or half an hour has passed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from freehold.snowflake import guard as guards
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CredentialsRefused, NotTried, Unreachable
from freehold.snowflake.guard import QUIET, Guard
from freehold.snowflake.settings import ConnectionSettings
from freehold.turns import LocalTurns
from tests.unit.snowflake.test_pool import SETTINGS

WRONG = replace(SETTINGS, revision="1")
CHANGED = replace(WRONG, revision="2")
REFUSED = CredentialsRefused("wrong password", number=390100, error_class=ErrorClass.AUTHENTICATION)


@dataclass
class Account:
    """An account, and processes that log in to it."""

    now: datetime = datetime(2026, 11, 30, tzinfo=UTC)
    attempts: int = 0
    failure: Exception | None = REFUSED
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.turns = LocalTurns(lambda: self.now)
        self.may_answer.set()

    async def login(self, guard: Guard, settings: ConnectionSettings = WRONG) -> None:
        async with guard.attempt(settings):
            self.attempts += 1
            await self.may_answer.wait()
            if self.failure:
                raise self.failure

    def process(self) -> Guard:
        return Guard(self.turns)


@pytest.fixture
def account() -> Account:
    return Account()


async def test_many_processes_and_roles_with_a_wrong_password_make_one_attempt(account: Account) -> None:
    processes = [account.process() for _ in range(5)]
    answers = await asyncio.gather(
        *(account.login(each, WRONG.acting_as(role)) for each in processes for role in (None, "A", "B")),
        return_exceptions=True,
    )

    assert account.attempts == 1
    assert {(type(each), str(each)) for each in answers} == {(CredentialsRefused, str(REFUSED))}
    assert all(isinstance(each, CredentialsRefused) and each.error_class is REFUSED.error_class for each in answers)


@pytest.mark.parametrize(
    ("settings", "after", "tried"),
    [
        (WRONG, timedelta(0), False),
        (WRONG, QUIET - timedelta(seconds=1), False),
        (WRONG, QUIET, True),
        (CHANGED, timedelta(0), True),
        (replace(WRONG, provider="team/other"), timedelta(0), False),
        (replace(WRONG, user="V"), timedelta(0), True),
        (replace(WRONG, user="u"), timedelta(0), False),
        (replace(WRONG, host="other"), timedelta(0), True),
    ],
)
@pytest.mark.parametrize("same_process", [True, False])
async def test_what_was_refused_is_tried_again_once_it_has_changed_or_time_has_passed(
    account: Account, settings: ConnectionSettings, after: timedelta, tried: bool, same_process: bool
) -> None:
    first = account.process()
    with pytest.raises(CredentialsRefused):
        await account.login(first)
    account.now += after

    with pytest.raises(CredentialsRefused):
        await account.login(first if same_process else account.process(), settings)
    assert account.attempts == 1 + tried


async def test_a_refusal_is_known_without_a_turn_and_a_success_is_none(account: Account) -> None:
    with pytest.raises(CredentialsRefused):
        await account.login(account.process())
    with pytest.raises(CredentialsRefused, match=str(REFUSED)):
        await account.process().check(WRONG)
    await account.process().check(CHANGED)
    account.failure = None
    await account.login(account.process(), CHANGED)
    await account.process().check(CHANGED)


async def test_a_process_keeps_in_mind_what_it_could_not_leave_in_the_note_and_tells_it_with_the_next(
    account: Account,
) -> None:
    process = account.process()
    with pytest.raises(CredentialsRefused):
        await account.login(process)
    account.turns._notes.clear()
    for _ in range(2):
        with pytest.raises(CredentialsRefused):
            await process.check(WRONG)
    with pytest.raises(CredentialsRefused):
        await account.login(process)
    assert account.attempts == 1
    with pytest.raises(CredentialsRefused):
        await account.login(process, CHANGED)
    with pytest.raises(CredentialsRefused):
        await account.process().check(WRONG)


async def test_the_earlier_refusal_of_another_provider_with_the_same_user_stays_known(account: Account) -> None:
    for settings in (WRONG, CHANGED):
        with pytest.raises(CredentialsRefused):
            await account.login(account.process(), settings)
    for settings in (WRONG, CHANGED):
        with pytest.raises(CredentialsRefused):
            await account.process().check(settings)


@pytest.mark.parametrize("failure", [None, Unreachable("no")])
async def test_whoever_is_not_refused_lets_the_next_one_try(account: Account, failure: Exception | None) -> None:
    account.failure = failure
    await asyncio.gather(*(account.login(account.process()) for _ in range(3)), return_exceptions=True)
    assert account.attempts == 3


async def test_a_log_in_that_is_cancelled_lets_the_next_one_try(account: Account) -> None:
    account.may_answer.clear()
    first, second = (asyncio.create_task(account.login(account.process())) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    account.may_answer.set()

    with pytest.raises(CredentialsRefused):
        await second
    assert (first.cancelled(), account.attempts) == (True, 2)


async def test_who_waits_too_long_for_others_is_told_so(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "PATIENCE", timedelta(seconds=0.01))
    account.may_answer.clear()
    hanging = asyncio.create_task(account.login(account.process()))
    await asyncio.sleep(0)

    with pytest.raises(NotTried, match="as the same user") as failure:
        await account.login(account.process())

    assert failure.value.error_class is ErrorClass.TRANSIENT
    account.may_answer.set()
    with pytest.raises(CredentialsRefused):
        await hanging


async def test_a_note_in_an_unknown_form_tells_of_no_refusal(account: Account) -> None:
    with pytest.raises(CredentialsRefused):
        await account.login(account.process())
    (name,) = account.turns._notes
    account.turns._notes[name] = '[{"version": 2}]'
    await account.process().check(WRONG)


async def test_nothing_of_the_secret_is_in_the_note(account: Account) -> None:
    with pytest.raises(CredentialsRefused):
        await account.login(account.process())
    ((name, note),) = account.turns._notes.items()
    assert "wrong password" in note
    assert SETTINGS.credential.password not in name + note  # type: ignore[union-attr]  # a password
