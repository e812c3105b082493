"""SQLStatements: what has run is told by the claim alone, whatever dies or is lost in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from freehold.claims import CLAIM, ClaimSpec
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.resources import UTILITIES
from freehold.kinds.utility.sqlstatement import SQL_STATEMENT, SQLStatementSpec, text_hash
from freehold.kube.objects import Key
from freehold.observation import Row
from freehold.script import Policy
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold.sql import Sql
from freehold_controllers.runtime.work import Unfinished
from freehold_controllers.schema.sqlstatement import SQLStatements
from tests.unit.reconciler.world import ACCOUNT, DEFINITIONS, LONGEST, Api, Died, Fuse, MemorySnowflake, services

PATH = SQL_STATEMENT.resource.path
KEY = Key("SQLStatement", "n", "x")
INSERT, SECOND, REVERT, OBSERVE = "INSERT INTO t SELECT 1", "INSERT INTO t SELECT 2", "CALL undo()", "SELECT a FROM t"


class Account(MemorySnowflake):
    """An account that remembers what it was sent, and shows what a test wants.

    Attributes:
        ran: statements that have run.
        shown: what `observe` shows.
        lose: called with each statement before and after it runs; may raise.
    """

    def __init__(self, fuse: Fuse) -> None:
        super().__init__(fuse)
        self.ran: list[str] = []
        self.shown: Callable[[], tuple[Row, ...]] = lambda: ()
        self.lose: Callable[[str, str], None] = lambda _text, _when: None

    async def answer(self, statement: Sql) -> Result:
        self.lose(statement.text, "before")
        self.ran.append(statement.text)
        self.lose(statement.text, "after")
        self.fuse.after()
        return Result((), "query")

    async def query(self, *_: Any, **__: Any) -> tuple[Row, ...]:
        return self.shown()


class Place:
    """A resource, and what outlives a process."""

    def __init__(self, fuse: Fuse | None = None, **spec: Any) -> None:
        self.fuse = fuse or Fuse(0, done=False)
        self.kube, self.snowflake = Api(self.fuse), Account(self.fuse)
        self.events: list[tuple[str, str]] = []
        self.monotonic = 0.0
        self.read_only = False
        config = {"account": "O-A", "authenticationType": "KeyPair", "role": "R"}
        self.kube.put(PROVIDER_CONFIG.path, "default", "n", spec=config, status={"account": ACCOUNT.model_dump()})
        self.kube.put(DEFINITIONS, PATH.definition)
        self.spec = {"execute": INSERT, **spec}
        self.kube.put(PATH, "x", "n", metadata={"generation": 1}, spec=self.spec)

    def process(self) -> SQLStatements:
        found = services(self.kube, self.snowflake, lambda: self.monotonic, self.events, read_only=self.read_only)
        object.__setattr__(found, "statements", Policy(enabled=True))
        return SQLStatements(found)

    async def settle(self, process: SQLStatements | None = None) -> SQLStatements:
        """Reconcile, by a new process whenever one has died, until one says that it is done."""
        process = process or self.process()
        for _ in range(30):
            try:
                await process(KEY, 0.0)
            except Died:
                process = self.process()
            except Unfinished:
                self.monotonic += LONGEST / 3
            else:
                return process
        raise AssertionError(f"it never settles: {self.condition()}")

    def edit(self, annotations: Mapping[str, str] | None = None, **spec: Any) -> None:
        stored = self.kube.objects[PATH.plural, "n", "x"]
        stored["spec"] = {**stored["spec"], **spec}
        stored["metadata"]["generation"] += 1
        stored["metadata"]["annotations"] = dict(annotations or {})

    def delete(self) -> None:
        self.kube.objects[PATH.plural, "n", "x"]["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"

    def condition(self, type_: str = "Ready") -> tuple[str, str, str]:
        told = self.kube.objects[PATH.plural, "n", "x"].get("status", {}).get("conditions", ())
        (found,) = (each for each in told if each["type"] == type_)
        return found["status"], found["reason"], found["message"]

    @property
    def claims(self) -> list[ClaimSpec]:
        return [
            ClaimSpec.model_validate(body["spec"])
            for (plural, _, _), body in self.kube.objects.items()
            if plural == CLAIM.path.plural
        ]

    def gone(self) -> bool:
        return (PATH.plural, "n", "x") not in self.kube.objects

    @property
    def status(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.kube.objects[PATH.plural, "n", "x"]["status"]
        return found


def lost(text: str, when: str) -> Callable[[str, str], None]:
    """Loses the answer of a statement, once."""
    left = iter([OutcomeUnknown("lost", error_class=ErrorClass.TRANSIENT)])

    def lose(sent: str, at: str) -> None:
        if (sent, at) == (text, when) and (error := next(left, None)):
            raise error

    return lose


async def test_each_statement_runs_once_in_its_order() -> None:
    place = Place(execute=f"{INSERT}; {SECOND}")
    process = await place.settle()
    await place.settle(process)
    await place.settle()
    assert place.snowflake.ran == [INSERT, SECOND]
    assert place.condition() == ("True", "Available", "spec.execute has run")
    assert place.status["statementsRun"] == "2 of 2"


async def test_a_pass_that_changes_nothing_writes_nothing() -> None:
    place = Place(execute=INSERT)
    process = await place.settle()
    written = len(place.kube.writes)
    await place.settle(process)
    assert len(place.kube.writes) == written


DEATHS = [(at, done) for at in range(1, 16) for done in (False, True)]


@pytest.mark.parametrize(("at", "done"), DEATHS)
async def test_whenever_the_process_dies_no_statement_is_sent_twice(at: int, done: bool) -> None:
    place = Place(Fuse(at, done=done), execute=f"{INSERT}; {SECOND}")
    await place.settle()
    assert place.snowflake.ran in ([], [INSERT], [INSERT, SECOND])
    if place.condition()[1] == "OutcomeUnknown":
        (claim,) = place.claims
        assert claim.progress
        assert claim.progress.sent
    else:
        assert place.snowflake.ran == [INSERT, SECOND]


@pytest.mark.parametrize(("at", "done"), DEATHS)
async def test_what_may_run_twice_always_comes_to_its_end(at: int, done: bool) -> None:
    place = Place(Fuse(at, done=done), execute=f"{INSERT}; {SECOND}", idempotent=True)
    await place.settle()
    assert place.snowflake.ran[-1] == SECOND
    assert len(place.snowflake.ran) <= 3
    assert place.condition()[0] == "True"


@pytest.mark.parametrize(("answer", "ran"), [("ran", [INSERT, SECOND]), ("lost", [INSERT, INSERT, SECOND])])
async def test_people_answer_what_became_of_a_statement(answer: str, ran: list[str]) -> None:
    place = Place(execute=f"{INSERT}; {SECOND}")
    place.snowflake.lose = lost(INSERT, "after")
    await place.settle()
    assert place.condition()[1] == "OutcomeUnknown"
    assert place.snowflake.ran == [INSERT]
    (claim,) = place.claims
    assert claim.progress
    assert claim.progress.since
    since = claim.progress.since.isoformat(timespec="seconds")
    assert f"{since}/ran" in place.condition()[2]
    place.edit({"freehold.dev/statement-outcome": f"{since}/{answer}"})
    await place.settle()
    assert place.snowflake.ran == ran


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_observe_shows_tells_whether_a_single_statement_has_run(when: str) -> None:
    place = Place(observe=OBSERVE)
    place.snowflake.shown = lambda: ({"a": 1},) if place.snowflake.ran else ()
    place.snowflake.lose = lost(INSERT, when)
    await place.settle()
    assert place.snowflake.ran == [INSERT]
    assert place.condition()[0] == "True"


async def test_a_refused_statement_is_told_without_its_text_and_tried_again_where_it_failed() -> None:
    secret = "INSERT INTO u VALUES ('hunter2')"
    place = Place(execute=f"{INSERT}; {secret}")
    refusals = iter([SnowflakeError("syntax error near 'hunter2'", number=1003, sqlstate="42000")])

    def lose(text: str, when: str) -> None:
        if "hunter2" in text and when == "before" and (error := next(refusals, None)):
            raise error

    place.snowflake.lose = lose
    await place.settle()
    _, reason, message = place.condition()
    assert reason == "TerminalError"
    assert "statement 2 of 2 of spec.execute (INSERT) was refused with error 001003 (42000)" in message
    assert "hunter2" not in str(place.status)
    assert "hunter2" not in str(place.events)
    await place.settle()
    assert place.snowflake.ran == [INSERT, secret]


async def test_an_effect_that_was_there_is_adopted_only_where_that_is_asked_for() -> None:
    place = Place(observe=OBSERVE)
    place.snowflake.shown = lambda: ({"a": 1},)
    await place.settle()
    assert place.condition()[1] == "ResourceAlreadyExists"
    place.edit(managementPolicies={"adoptionPolicy": "adopt"}, revert=REVERT)
    await place.settle()
    assert place.condition()[0] == "True"
    place.delete()
    await place.settle()
    assert place.snowflake.ran == []
    assert place.gone()


@pytest.mark.parametrize(
    ("expected", "row", "matched"),
    [
        ([{"column": "a", "value": "X"}], {"A": "x"}, True),
        ([{"column": "A", "value": "x"}, {"column": "b", "value": "1"}], {"a": "X", "b": 2}, False),
        ([{"column": "a", "value": ""}], {"a": None}, True),
        ([{"column": "a", "value": "none"}], {"a": None}, False),
        ([{"column": "c", "value": ""}], {"a": None}, False),
        ([], {"a": None}, True),
    ],
)
async def test_one_row_must_hold_all_that_is_expected(expected: list[Any], row: Row, matched: bool) -> None:
    policies = {"observeOnly": True}
    place = Place(observe=OBSERVE, observeExpect=expected, managementPolicies=policies)
    place.snowflake.shown = lambda: (row,)
    await place.settle()
    assert (place.condition()[0] == "True") is matched
    assert place.claims == []


async def test_another_text_runs_only_by_order_and_after_the_revert() -> None:
    place = Place(revert=REVERT)
    await place.settle()
    place.edit(execute=SECOND)
    await place.settle()
    assert place.condition()[1] == "ImmutableField"
    order = text_hash(SQLStatementSpec(execute=SECOND))
    assert order in place.condition()[2]
    place.edit({"freehold.dev/force-new": order}, execute=SECOND)
    await place.settle()
    await place.settle()
    assert place.snowflake.ran == [INSERT, REVERT, SECOND]
    assert place.condition()[0] == "True"


async def test_a_text_that_only_looks_different_is_the_same() -> None:
    place = Place()
    await place.settle()
    place.edit(execute="insert  into T\n select 1; -- again")
    await place.settle()
    assert place.snowflake.ran == [INSERT]
    assert place.condition()[0] == "True"


async def test_a_text_of_which_nothing_has_run_may_be_mended() -> None:
    place = Place(execute="INSRT")
    place.snowflake.refuse("", SnowflakeError("no", number=1003, sqlstate="42000"))
    place.snowflake.lose = lambda text, _when: place.snowflake.before(text) if text == "INSRT" else None
    await place.settle()
    assert place.condition()[1] == "TerminalError"
    place.edit(execute=INSERT)
    await place.settle()
    assert place.snowflake.ran == [INSERT]


async def test_a_difference_runs_the_update_and_no_more_often_than_it_helps() -> None:
    place = Place(observe=OBSERVE, observeExpect=[{"column": "a", "value": "1"}], update=SECOND)
    place.snowflake.shown = lambda: ({"a": 2},) if place.snowflake.ran else ()
    process = await place.settle()
    await place.settle(process)
    assert place.snowflake.ran == [INSERT, SECOND]
    assert place.condition()[1] == "NotConverging"
    place.snowflake.shown = lambda: ({"a": 1},)
    await place.settle(process)
    assert place.condition()[0] == "True"


async def test_a_difference_is_only_told_without_an_update() -> None:
    place = Place(observe=OBSERVE, observeExpect=[{"column": "a", "value": "1"}])
    place.snowflake.shown = lambda: ({"a": 2},) if place.snowflake.ran else ()
    await place.settle()
    assert place.condition("DriftDetected")[0] == "True"
    assert place.snowflake.ran == [INSERT]


@pytest.mark.parametrize(("policy", "ran"), [({}, 1), ({"idempotent": True}, 2), ({"vanishedPolicy": "Recreate"}, 2)])
async def test_an_effect_that_has_vanished_comes_back_where_that_is_harmless(policy: dict[str, Any], ran: int) -> None:
    place = Place(observe=OBSERVE, **policy)
    there = True
    place.snowflake.shown = lambda: ({"a": 1},) if there and place.snowflake.ran else ()
    await place.settle()
    there = False
    seen = len(place.snowflake.ran)
    place.snowflake.shown = lambda: ({"a": 1},) if len(place.snowflake.ran) > seen else ()
    await place.settle()
    assert len(place.snowflake.ran) == ran
    assert place.condition()[1] == ("Available" if ran == 2 else "Vanished")


async def test_a_deleted_resource_undoes_what_has_run() -> None:
    place = Place(revert=REVERT)
    await place.settle()
    place.delete()
    await place.settle()
    assert place.snowflake.ran == [INSERT, REVERT]
    assert place.gone()
    assert place.claims == []


async def test_what_never_ran_is_not_undone() -> None:
    place = Place(revert=REVERT, execute="DROP TABLE t")
    await place.settle()
    assert place.condition()[1] == "ValidationFailed"
    assert "dangerousAllowDestructive" in place.condition()[2]
    place.delete()
    await place.settle()
    assert place.snowflake.ran == []


@pytest.mark.parametrize("spec", [{}, {"revert": REVERT, "deletionPolicy": "Orphan"}])
async def test_what_is_left_behind_is_told(spec: dict[str, Any]) -> None:
    place = Place(**spec)
    await place.settle()
    place.delete()
    await place.settle()
    assert place.snowflake.ran == [INSERT]
    assert place.gone()
    assert any(reason == "Released" for reason, _ in place.events)


async def test_a_revert_that_fails_keeps_the_resource_until_it_is_abandoned() -> None:
    place = Place(revert=REVERT)
    await place.settle()
    error = SnowflakeError("no", number=1003, sqlstate="42000")

    def refuse(text: str, _when: str) -> None:
        if text == REVERT:
            raise error

    place.snowflake.lose = refuse
    place.delete()
    await place.settle()
    assert not place.gone()
    assert "abandon-on-delete" in place.condition("DeleteBlocked")[2]
    place.kube.objects[PATH.plural, "n", "x"]["metadata"]["annotations"] = {"freehold.dev/abandon-on-delete": "true"}
    await place.settle()
    assert place.gone()
    assert place.snowflake.ran == [INSERT]


async def test_mode_read_only_sends_and_claims_nothing() -> None:
    place = Place()
    place.read_only = True
    await place.settle()
    assert place.snowflake.ran == []
    assert place.claims == []
    assert place.status["plan"] == ["run its statements"]


async def test_a_paused_resource_sends_nothing() -> None:
    place = Place(paused=True)
    await place.settle()
    assert place.condition()[1] == "ReconcilePaused"
    assert place.snowflake.ran == []


@pytest.mark.parametrize("role", ["OTHER", "ACCOUNTADMIN"])
async def test_a_role_that_is_not_allowed_runs_nothing(role: str) -> None:
    place = Place(useRole=role)
    await place.settle()
    assert place.condition()[1] in ("RoleNotAllowed", "PrivilegedRoleNotAllowed")
    assert place.snowflake.ran == []


async def test_a_resource_that_is_being_deleted_is_undone_only_as_far_as_its_provider_allows() -> None:
    """Admission lets pass whatever is changed on such a resource."""
    place = Place()
    await place.settle()
    config = {"account": "O-A", "authenticationType": "KeyPair", "role": "MIGHTY"}
    status = {"account": ACCOUNT.model_dump()}
    place.kube.put(PROVIDER_CONFIG.path, "default", "platform", spec=config, status=status)
    place.delete()
    place.edit(providerRef={"namespace": "platform", "name": "default"}, revert=REVERT)
    await place.settle()
    assert place.condition()[1] == "NamespaceNotAllowed"
    assert place.snowflake.ran == [INSERT]
    assert not place.gone()
    place.edit(deletionPolicy="Orphan")
    await place.settle()
    assert place.gone()


async def test_an_effect_that_was_made_by_others_since_a_refusal_is_left_alone() -> None:
    place = Place(observe=OBSERVE)
    refusals = iter([SnowflakeError("no", number=1003, sqlstate="42000")])

    def lose(_text: str, when: str) -> None:
        if when == "before" and (error := next(refusals, None)):
            raise error

    place.snowflake.lose = lose
    await place.settle()
    assert place.condition()[1] == "TerminalError"
    place.snowflake.shown = lambda: ({"a": 1},)
    await place.settle()
    assert place.condition()[1] == "ResourceAlreadyExists"
    assert place.snowflake.ran == []


async def test_what_has_begun_is_undone_also_after_a_refused_revert() -> None:
    place = Place(execute=f"{INSERT}; {SECOND}", revert=REVERT)
    refused = {SECOND, REVERT}

    def lose(text: str, _when: str) -> None:
        if text in refused:
            raise SnowflakeError("no", number=1003, sqlstate="42000")

    place.snowflake.lose = lose
    await place.settle()
    place.delete()
    await place.settle()
    assert not place.gone()
    refused.clear()
    await place.settle()
    assert place.snowflake.ran == [INSERT, REVERT]
    assert place.gone()


def test_a_statement_that_makes_what_a_kind_stands_for_is_warned_of() -> None:
    (advice,) = UTILITIES["SQLStatement"].advice(SQLStatementSpec(execute="CREATE OR REPLACE TRANSIENT DATABASE d"))
    assert "makes what a Database stands for" in advice
    assert UTILITIES["SQLStatement"].advice(SQLStatementSpec(execute=INSERT)) == ()
