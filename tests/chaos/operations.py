"""What people do with a resource while its controller dies: the operations that the crash test cuts short."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from freehold.kinds.kind import Kind
from tests.chaos import samples
from tests.chaos.case import Case
from tests.chaos.waiting import eventually

SECONDS = 120.0
"""How long anything may take, on a machine that has more to do."""


@dataclass(frozen=True)
class Operation:
    """One thing that people do.

    Attributes:
        name: for people.
        act: does it.
        done: whether the controller has done its part.
        prepare: makes what it begins with; None where the process, too, is only started by then.
        before: makes what is there before any process runs.
        adopts: whether what has the name is taken over, whoever made it.
        fits: whether a kind knows it.
    """

    name: str
    act: Callable[[Case], Awaitable[None]]
    done: Callable[[Case], Awaitable[bool]]
    prepare: Callable[[Case], Awaitable[None]] | None = None
    before: Callable[[Case], Awaitable[None]] | None = None
    adopts: bool = False
    fits: Callable[[Kind], bool] = lambda _kind: True


async def _exists(case: Case) -> bool:
    return await _says(case, "a", "Available")


async def _says(case: Case, resource: str, reason: str) -> bool:
    return (await case.ready(resource))[0] == reason


async def _gone(case: Case) -> bool:
    return await case.get() is None


async def _made(case: Case, *, bare: bool = False) -> None:
    await case.apply(bare=bare)
    await eventually(lambda: _exists(case), SECONDS, "the object to be made")


async def _foreign(case: Case) -> None:
    # Whoever shares the role, such as a run of another tool, makes what can be adopted.
    await case.make(case.parts, case.role)


async def _adopt(case: Case) -> None:
    await case.apply(managementPolicies={"adoptionPolicy": "adopt"}, **(samples.change(case.kind) or {}))


async def _change(case: Case) -> None:
    await case.apply(**(samples.change(case.kind) or {}))


async def _refused(case: Case) -> None:
    await _made(case, bare=True)
    await case.apply(bare=True, **(samples.recreating_change(case.kind) or {}))
    await eventually(lambda: _says(case, "a", "ImmutableField"), SECONDS, "the change to be refused")


async def _order(case: Case) -> None:
    _, message = await case.ready()
    (order,) = re.findall(r"freehold.dev/force-new: (\w+)", message)
    await case.annotate("a", "force-new", order)


async def _with_heir(case: Case) -> None:
    await _made(case)
    name = f"{case.token.lower()}-b"
    await case.annotate("a", "hand-over-to", f"{case.lane.namespace}/{name}")
    await case.apply("b")
    await eventually(lambda: _says(case, "b", "AwaitingHandOver"), SECONDS, "the heir to wait")


async def _inherited(case: Case) -> bool:
    return await _gone(case) and await _says(case, "b", "Available")


async def _doomed(case: Case) -> None:
    await _made(case)
    await case.annotate("a", "force-destroy", "true")


OPERATIONS = (
    Operation("create", Case.apply, _exists),
    Operation("adopt", _adopt, _exists, before=_foreign, adopts=True),
    Operation("update", _change, _exists, _made, fits=lambda kind: samples.change(kind) is not None),
    Operation("force-new", _order, _exists, _refused, fits=lambda kind: samples.recreating_change(kind) is not None),
    Operation("hand-over", Case.delete, _inherited, _with_heir),
    Operation("delete", Case.delete, _gone, _made),
    Operation("destroy", Case.delete, _gone, _doomed, fits=lambda kind: bool(kind.content)),
)
