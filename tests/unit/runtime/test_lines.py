"""Who is next: urgency, turns among groups, and what is left for others whatever hangs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.kube.objects import Key
from freehold_controllers.runtime.lines import Lines, Place, Priority

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
    lines = Lines(workers=100, most=100)
    line_up(lines, "a", 4)
    line_up(lines, "b", 2)
    line_up(lines, "c", 1)
    assert [each.namespace + each.name for each in take_all(lines)] == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_what_is_urgent_goes_first_whosever_turn_it_is() -> None:
    lines = Lines(workers=100, most=100)
    line_up(lines, "a", 2, Priority.RESYNC)
    line_up(lines, "b", 2, Priority.RETRY)
    assert [each.namespace for each in take_all(lines)] == ["b", "b", "a", "a"]


def test_a_key_stands_in_line_once_where_it_was_put_last() -> None:
    lines = Lines(workers=100, most=100)
    lines.add(key("a"), Place(Priority.RESYNC, "a", 0.0))
    lines.add(key("a"), Place(Priority.CHANGE, "b", 1.0))
    assert lines.place(key("a")) == Place(Priority.CHANGE, "b", 1.0)
    assert [lines.length(each) for each in Priority] == [1, 0, 0, 0]
    assert take_all(lines) == [key("a")]
    assert lines.place(key("a")) is None


def test_a_full_group_lets_the_less_urgent_of_others_pass() -> None:
    lines = Lines(workers=100, most=3)
    line_up(lines, "a", 10, Priority.CHANGE)
    line_up(lines, "b", 1, Priority.RESYNC)
    assert [each.namespace for each in take_all(lines)] == ["a", "a", "a", "b"]
    lines.back("a")
    assert take_all(lines) == [key("a", 3)]


@pytest.mark.parametrize("hanging", [1, 2, 7, 19, 63, 127])
def test_however_many_groups_hang_the_next_one_finds_a_worker(hanging: int) -> None:
    lines = Lines(workers=128, most=32)
    for number in range(hanging):
        line_up(lines, f"hangs{number}", 100)
    take_all(lines)
    line_up(lines, "well", 100)
    assert {each.namespace for each in take_all(lines)} == {"well"}


@given(st.lists(st.tuples(st.sampled_from(["add", "take", "back"]), st.sampled_from(GROUPS), st.integers(0, 5))))
def test_workers_and_groups_keep_to_their_limits_and_nobody_idles_who_could_work(
    steps: list[tuple[str, str, int]],
) -> None:
    lines = Lines(workers=6, most=3)
    working: list[str] = []
    for step, group, number in steps:
        match step:
            case "add":
                lines.add(key(group, number), Place(Priority(number % 4), group, 0.0))
            case "take":
                before = {each: working.count(each) for each in GROUPS}
                ready = {each for each in GROUPS if any(lines.place(key(each, number)) for number in range(6))}
                free = 6 - len(working)
                found = lines.take()
                assert (found is not None) == any(before[each] < min(3, free) for each in ready)
                if found:
                    assert before[found[1].group] < min(3, free)
                    assert lines.place(found[0]) is None
                    working.append(found[1].group)
            case "back" if group in working:
                working.remove(group)
                lines.back(group)
