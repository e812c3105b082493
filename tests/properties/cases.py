"""One case: a kind, a spec of it and another one, and all statements of its life."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from freehold import planning
from freehold.identifiers import InvalidName
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.sql import Sql
from tests.properties import changes, reading
from tests.properties.parents import Resources
from tests.properties.specs import Draft, Maker, NoSuch


@dataclass(frozen=True)
class Case:
    """A case.

    Attributes:
        kind: the kind.
        draft: its spec.
        changed: another spec of the same object.
    """

    kind: Kind
    draft: Draft
    changed: Draft


@dataclass
class Tally:
    """What came of cases.

    Attributes:
        cases: how many there were.
        statements: checked in them.
        without: cases for which chance has found no spec.
        failures: what people need to know of those that failed.
    """

    cases: int = 0
    statements: int = 0
    without: int = 0
    failures: list[str] = field(default_factory=list)

    def __iadd__(self, other: Tally) -> Self:
        self.cases += other.cases
        self.statements += other.statements
        self.without += other.without
        self.failures += other.failures
        return self


def run(seed: str, numbers: Iterable[int]) -> Tally:
    """Make cases of all kinds by turns, and check them."""
    tally, kinds = Tally(), tuple(KINDS.values())
    for number in numbers:
        case = of_kind(kinds[number % len(kinds)], seed, number)
        tally.cases += 1
        if case is None:
            tally.without += 1
            continue
        try:
            tally.statements += check(case)
        except Exception as error:
            at = f"{case.kind.name}, case {number} of seed {seed}"
            tally.failures.append(
                f"{at}: {type(error).__name__}: {error}\n{dict(case.draft.tree)}\n{dict(case.changed.tree)}"
            )
    return tally


def of_kind(kind: Kind, seed: str, number: int) -> Case | None:
    """A case, the same one for the same seed and number; None where chance has found none."""
    maker = Maker(kind, random.Random(f"{seed}/{number}"))  # noqa: S311  # to be repeated, not a secret
    try:
        draft = maker.spec()
        return Case(kind, draft, maker.changed(draft))
    except NoSuch:
        return None


def check(case: Case) -> int:
    """Check all statements of a case; how many these are.

    Raises:
        Misread: one of them isn't read as it was meant.
    """
    resources = Resources()
    try:
        tame = list(_statements(case.kind, case.draft.tame, case.changed.tame, resources, hostile=False))
        hostile = list(_statements(case.kind, case.draft.hostile, case.changed.hostile, resources, hostile=True))
    except InvalidName:  # references that contradict one another
        return 0
    texts = {**case.changed.texts, **resources.texts}
    for one, other in zip(tame, hostile, strict=True):
        reading.compare(one, other, texts)
    return len(tame)


def _statements(
    kind: Kind, old: SnowflakeSpec, new: SnowflakeSpec, resources: Resources, *, hostile: bool
) -> Iterator[Sql]:
    old, new = resources.resolved(old, hostile=hostile), resources.resolved(new, hostile=hostile)
    for target in resources.targets(kind, old, hostile=hostile):
        yield planning.create(kind, target, old)
        yield from changes.around(kind, target)
        yield from changes.update(kind, target, old, new)
