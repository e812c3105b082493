"""The order in which manifests take effect: whatever another one needs comes first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from freehold.kube.objects import Key


class Circle(ValueError):
    """Resources that wait for each other.

    Attributes:
        members: these.
    """

    def __init__(self, members: tuple[Key, ...]) -> None:
        way = " -> ".join(map(str, members))
        super().__init__(f"these resources wait for each other: {way}. Leave one of the references out")
        self.members = tuple(dict.fromkeys(members))


def ranks(needs: Mapping[Key, Iterable[Key]]) -> Iterator[tuple[Key, ...]]:
    """Resources in ranks, each of which needs nothing but what comes before.

    Args:
        needs: what each refers to; others than those that are given don't count.

    Raises:
        Circle: some wait for each other.
    """
    sorter = TopologicalSorter(
        {key: [each for each in needed if each in needs and each != key] for key, needed in needs.items()}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        raise Circle(tuple(error.args[1])) from error
    while sorter.is_active():
        ready = sorter.get_ready()
        yield tuple(sorted(ready))
        sorter.done(*ready)
