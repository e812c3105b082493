"""Who is next: urgency, turns among groups, and what is left for others whatever hangs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.kube.objects import Key
from freehold_controllers.runtime.lines import Lines, Place, Priority, Workers

GROUPS = "abcd"


def key(group: str, number: int = 0) -> Key:
    return Key("Thing", group, str(number))


def line_up(lines: Lines, group: str, count: int, priority: Priority = Priority.CHANGE) -> None:
    for number in range(count):
        lines.add(key(group, number), Place(priority, group, 0.0))


def take_all(lines: Lines) -> list[Key]:
    taken = []
    while found := lines.take():
        taken.append(found[0])
    return taken


def test_groups_take_turns_and_each_goes_by_arrival() -> None:
    lines = Lines(Workers(own=100, pool=0, most=100))
    line_up(lines, "a", 4)
    line_up(lines, "b", 2)
    line_up(lines, "c", 1)
    assert [each.namespace + each.name for each in take_all(lines)] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_what_is_urgent_goes_first_whosever_turn_it_is() -> None:
    lines = Lines(Workers(own=100, pool=0, most=100))
    line_up(lines, "a", 2, Priority.RESYNC)
    line_up(lines, "b", 2, Priority.RETRY)
    assert [each.namespace for each in take_all(lines)] == ["b", "b", "a", "a"]


def test_a_key_stands_in_line_once_where_it_was_put_last() -> None:
    lines = Lines(Workers(own=100, pool=0, most=100))
    lines.add(key("a"), Place(Priority.RESYNC, "a", 0.0))
    lines.add(key("a"), Place(Priority.CHANGE, "b", 1.0))
    assert lines.place(key("a")) == Place(Priority.CHANGE, "b", 1.0)
    assert [lines.length(each) for each in Priority] == [1, 0, 0, 0]
    assert take_all(lines) == [key("a")]
    assert lines.place(key("a")) is None


def test_a_full_group_lets_the_less_urgent_of_others_pass() -> None:
    lines = Lines(Workers(own=1, pool=100, most=3))
    line_up(lines, "a", 10, Priority.CHANGE)
    line_up(lines, "b", 1, Priority.RESYNC)
    assert [each.namespace for each in take_all(lines)] == ["a", "a", "a", "b"]
    lines.back("a")
    assert take_all(lines) == [key("a", 3)]


@pytest.mark.parametrize("hanging", [1, 2, 7, 19, 200])
def test_however_many_groups_hang_the_next_one_has_its_own_workers(hanging: int) -> None:
    lines = Lines(Workers(own=4, pool=96, most=32))
    for number in range(hanging):
        line_up(lines, f"hangs{number}", 100)
        take_all(lines)
    line_up(lines, "well", 100)
    mine = take_all(lines)
    assert {each.namespace for each in mine} == {"well"}
    assert len(mine) >= 4


def test_a_group_takes_no_more_of_the_pool_than_it_leaves() -> None:
    lines = Lines(Workers(own=4, pool=10, most=32))
    line_up(lines, "a", 100)
    assert len(take_all(lines)) == 4 + 5
    line_up(lines, "b", 100)
    assert len(take_all(lines)) == 4 + 3
    for _ in range(9):
        lines.back("a")
    assert [each.namespace for each in take_all(lines)].count("a") == 4 + 3


@given(st.lists(st.tuples(st.sampled_from(["add", "take", "back"]), st.sampled_from(GROUPS), st.integers(0, 9))))
def test_groups_keep_to_their_limits_and_nobody_idles_who_could_work(steps: list[tuple[str, str, int]]) -> None:
    lines = Lines(Workers(own=2, pool=4, most=5))
    working: list[str] = []
    for step, group, number in steps:
        taken = {each: working.count(each) for each in GROUPS}
        free = 4 - sum(max(0, each - 2) for each in taken.values())
        match step:
            case "add":
                lines.add(key(group, number), Place(Priority(number % 4), group, 0.0))
            case "take":
                ready = {each for each in GROUPS if any(lines.place(key(each, number)) for number in range(10))}
                may = {each for each in ready if taken[each] < 2 or (taken[each] < 5 and taken[each] - 2 < free)}
                found = lines.take()
                assert (found is not None) == bool(may)
                if found:
                    assert found[1].group in may
                    assert lines.place(found[0]) is None
                    working.append(found[1].group)
            case "back" if group in working:
                working.remove(group)
                lines.back(group)
