"""The circuit breaker: what opens it, what closes it, and how long nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from freehold.snowflake.breaker import FAILURES, FIRST, MOST, SPREAD, Breaker, Breakers, State
from freehold.snowflake.credentials import Password
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import (
    AccountChanged,
    CircuitOpen,
    CredentialsRefused,
    LoginFailed,
    NotTried,
    OutcomeUnknown,
    RoleNotGranted,
    SnowflakeError,
    TlsFailed,
    Unreachable,
)
from tests.unit.snowflake.test_pool import SETTINGS, Clock


def outage() -> SnowflakeError:
    return Unreachable("no log-in to h:443", error_class=ErrorClass.TRANSIENT)


@dataclass
class World:
    """A breaker, its clock, and how often it has moved; pauses have no spread by default."""

    clock: Clock
    breaker: Breaker
    moves: int = 0

    def state(self) -> State:
        return self.breaker.state

    def end(self, error: BaseException | None = None) -> None:
        """Let a statement pass, which ends well or in an error."""
        with suppress(type(error or AssertionError())), self.breaker.passing():
            if error:
                raise error

    def fail(self, times: int = FAILURES) -> None:
        for _ in range(times):
            self.end(outage())

    @contextmanager
    def under_way(self, error: SnowflakeError | None) -> Iterator[None]:
        """A statement that is under way meanwhile, and ends in an error afterwards."""
        with suppress(SnowflakeError), self.breaker.passing():
            yield
            if error:
                raise error


def made(random: Callable[[], float] = lambda: 0.5) -> World:
    def moved() -> None:
        new.moves += 1

    clock = Clock()
    new = World(clock, Breaker(moved, clock, random))
    return new


@pytest.fixture
def world() -> World:
    return made()


ENDS: dict[str, tuple[Callable[[], BaseException | None], bool]] = {
    "a host that can't be reached": (outage, True),
    "a certificate that isn't trusted": (lambda: TlsFailed("t", error_class=ErrorClass.TRANSIENT), True),
    "no answer": (lambda: OutcomeUnknown("gone", error_class=ErrorClass.TRANSIENT), True),
    "a new session that gets no answer": (lambda: LoginFailed("l", error_class=ErrorClass.TRANSIENT), True),
    "an internal error": (lambda: OutcomeUnknown("i", number=603), True),
    "a statement that took too long": (lambda: OutcomeUnknown("t", number=630), True),
    "success": (lambda: None, False),
    "a statement that somebody cancelled": (lambda: OutcomeUnknown("c", number=604), False),
    "wrong SQL": (lambda: SnowflakeError("s", number=1003), False),
    "a missing object": (lambda: SnowflakeError("m", number=2003), False),
    "a missing privilege": (lambda: SnowflakeError("p", number=3001), False),
    "a lock": (lambda: SnowflakeError("l", number=625), False),
    "throttling": (lambda: SnowflakeError("t", number=390701), False),
    "a session that has ended": (lambda: SnowflakeError("e", number=390112), False),
    "an unknown answer": (lambda: SnowflakeError("u", number=999999), False),
    "a refused credential": (lambda: CredentialsRefused("c", number=390100), False),
    "a log-in that was never tried": (lambda: NotTried("n", error_class=ErrorClass.TRANSIENT), False),
    "a role that isn't granted": (lambda: RoleNotGranted("r", number=3013), False),
    "another account": (lambda: AccountChanged("a"), False),
    "a bug": (ZeroDivisionError, False),
    "cancellation": (asyncio.CancelledError, False),
}


@pytest.mark.parametrize(("end", "opens"), ENDS.values(), ids=ENDS)
def test_only_connection_and_service_open_it(
    world: World, end: Callable[[], BaseException | None], *, opens: bool
) -> None:
    for _ in range(FAILURES):
        assert world.state() is State.CLOSED
        world.end(end())
    assert world.state() is (State.OPEN if opens else State.CLOSED)


@pytest.mark.parametrize(
    ("between", "opens"),
    [(None, False), (SnowflakeError("s", number=1003), False), (asyncio.CancelledError(), True)],
    ids=["success", "an answer", "cancelled"],
)
def test_any_answer_in_between_ends_the_row(world: World, between: BaseException | None, *, opens: bool) -> None:
    world.fail(FAILURES - 1)
    world.end(between)
    world.fail(1)
    assert (world.state() is State.OPEN) is opens


def test_one_log_in_that_fails_everybody_who_waits_for_it_is_one_failure(world: World) -> None:
    shared = outage()
    for _ in range(10 * FAILURES):
        world.end(shared)
    assert world.state() is State.CLOSED


def test_an_open_one_lets_nothing_pass_and_says_why_how_long_and_what_to_do(world: World) -> None:
    world.fail()
    world.clock.now += 20
    with pytest.raises(CircuitOpen, match=r"attempts failed: no log-in to h:443\. Freehold tries again by") as told:
        world.end()
    assert told.value.retry_in == FIRST - 20
    assert world.moves == 1


def test_the_pause_doubles_with_each_probe_that_fails_up_to_its_longest(world: World) -> None:
    world.fail()
    for pause in (60, 120, 240, 480, 900, 900):
        world.clock.now += pause - 1
        assert world.state() is State.OPEN
        world.clock.now += 1
        assert world.state() is State.HALF_OPEN
        world.fail(1)
    assert world.moves == 1


@pytest.mark.parametrize(("random", "part"), [(0.0, 1 - SPREAD), (0.5, 1.0), (1.0, 1 + SPREAD)])
def test_pauses_are_spread_within_the_longest(random: float, part: float) -> None:
    world = made(lambda: random)
    world.fail()
    for pause in (60, 120, 240, 480, 900):
        with pytest.raises(CircuitOpen) as told:
            world.breaker.require()
        assert told.value.retry_in == pytest.approx(min(MOST, pause * part))
        world.clock.now += told.value.retry_in
        world.fail(1)


def test_one_probe_goes_ahead_and_its_success_closes_it(world: World) -> None:
    world.fail()
    world.clock.now += FIRST
    with world.under_way(None), pytest.raises(CircuitOpen):
        world.end()
    assert world.state() is State.CLOSED
    assert world.moves == 2
    world.fail(FAILURES - 1)
    assert world.state() is State.CLOSED
    world.fail(1)
    world.clock.now += FIRST
    assert world.state() is State.HALF_OPEN


@pytest.mark.parametrize(
    "end", [asyncio.CancelledError(), ZeroDivisionError(), CredentialsRefused("c", number=390100), NotTried("n")]
)
def test_a_probe_that_tells_nothing_leaves_its_place_to_the_next_one(world: World, end: BaseException) -> None:
    world.fail()
    world.clock.now += FIRST
    world.end(end)
    assert world.state() is State.HALF_OPEN
    world.end()
    assert world.state() is State.CLOSED


@pytest.mark.parametrize("late", [None, outage()], ids=["success", "failure"])
def test_what_began_before_it_opened_neither_closes_it_nor_opens_it_for_longer(
    world: World, late: SnowflakeError | None
) -> None:
    with world.under_way(late):
        world.fail()
    with pytest.raises(CircuitOpen) as told:
        world.breaker.require()
    assert told.value.retry_in == FIRST


def test_asking_whether_a_statement_would_pass_is_no_probe(world: World) -> None:
    world.fail()
    world.clock.now += FIRST
    world.breaker.require()
    world.breaker.require()
    world.end()
    assert world.state() is State.CLOSED


def test_a_new_credential_or_address_begins_with_a_closed_one_and_another_role_shares_it() -> None:
    told: list[str] = []
    breakers = Breakers(clock=Clock(), random=lambda: 0.5)
    breakers.listen(told.append)
    old = breakers.of(SETTINGS)
    for _ in range(FAILURES):
        with suppress(Unreachable), old.passing():
            raise outage()
    assert breakers.of(replace(SETTINGS, role="OTHER")) is old
    assert breakers.cause("team/default") == old.cause
    assert breakers.of(replace(SETTINGS, provider="team/second")).state is State.CLOSED
    assert breakers.states == {"team/default": State.OPEN, "team/second": State.CLOSED}
    assert breakers.of(replace(SETTINGS, credential=Password("Secret", "two"))).state is State.CLOSED
    assert breakers.cause("team/default") is None
    assert told == ["team/default"] * 2
    breakers.forget("team/second")
    assert breakers.states == {"team/default": State.CLOSED}


def test_whoever_still_logs_in_as_before_a_change_neither_brings_back_what_was_cured_nor_tells_of_it() -> None:
    told: list[str] = []
    breakers = Breakers(clock=Clock(), random=lambda: 0.5)
    breakers.listen(told.append)
    before = replace(SETTINGS, as_of=1.0)
    cured = replace(before, credential=Password("Secret", "two"), as_of=2.0)
    present = breakers.of(cured)
    for _ in range(FAILURES):
        with suppress(Unreachable), breakers.of(before).passing():
            raise outage()
    assert breakers.of(replace(cured, role="OTHER", as_of=3.0)) is present
    assert breakers.states == {"team/default": State.CLOSED}
    assert told == []
    # Nor one that was read between two of the present ones; and a change back is one.
    breakers.of(replace(before, as_of=2.5))
    assert breakers.of(cured) is present
    assert breakers.of(replace(before, as_of=4.0)) is not present
    assert breakers.of(cured) is not present


@dataclass(frozen=True)
class Statement:
    """A statement under way.

    Attributes:
        passing: its way through the breaker.
        begun: the breaker's state when it began.
    """

    passing: AbstractContextManager[None]
    begun: State

    def end(self, error: BaseException | None) -> None:
        with suppress(SnowflakeError, asyncio.CancelledError):
            self.passing.__exit__(type(error) if error else None, error, None)


class Interleaved(RuleBasedStateMachine):
    """Statements that begin and end in any order, at any time."""

    statements = Bundle("statements")

    def __init__(self) -> None:
        super().__init__()
        self.world = made()
        self.probes = 0

    @rule(target=statements)
    def begin(self) -> Any:
        state, passing = self.world.state(), self.world.breaker.passing()
        if state is State.OPEN or self.probes:
            with pytest.raises(CircuitOpen):
                passing.__enter__()
            return multiple()
        passing.__enter__()
        self.probes += state is State.HALF_OPEN
        return Statement(passing, state)

    @rule(statement=consumes(statements), end=st.sampled_from(["answer", "outage", "given up"]))
    def finish(self, statement: Statement, end: str) -> None:
        before = self.world.state()
        statement.end({"answer": None, "outage": outage(), "given up": asyncio.CancelledError()}[end])
        if statement.begun is State.HALF_OPEN:
            self.probes -= 1
            decided = {"answer": State.CLOSED, "outage": State.OPEN, "given up": State.HALF_OPEN}
            assert self.world.state() is decided[end]
        elif before is not State.CLOSED:
            assert self.world.state() is before

    @rule(seconds=st.sampled_from([1.0, FIRST, MOST]))
    def wait(self, seconds: float) -> None:
        self.world.clock.now += seconds

    @invariant()
    def there_is_at_most_one_probe_and_the_longest_pause_is_always_enough_for_one(self) -> None:
        assert self.probes <= 1
        if not self.probes:
            now = self.world.clock.now
            self.world.clock.now = now + MOST
            self.world.breaker.require()
            self.world.clock.now = now


TestInterleaved = Interleaved.TestCase
