"""What a plan is made of: the fields that aren't as they should be, and the statements that mend them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from freehold.kinds.property import Action, Change, Deviation, DoneOn, Target
from freehold.kinds.spec_fields import SpecField
from freehold.sql import Sql


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a plan.

    Attributes:
        statement: what is sent.
        done_on: the answer that means that the work is done already.
        wait_for: (column, value) that SHOW must print before the next step.
        only_if_empty: queries; the step is left out when one finds rows.
        resumes: the object that it lets run again, which a step before it suspends. It is taken although one in between
            has failed, and by the next pass if this one dies.
        claims: (namespace class, name parts) of another object that it acts on, which must be claimed while it runs.
    """

    statement: Sql
    done_on: DoneOn | None = None
    wait_for: tuple[str, str] | None = None
    only_if_empty: tuple[Sql, ...] = ()
    resumes: Target | None = None
    claims: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Clearance:
    """What Snowflake wants off an object before it is dropped.

    Attributes:
        steps: what takes it off.
        foreign: names of what others have put there, for people. Nothing is taken off then: the object stays anyway.
    """

    steps: tuple[Step, ...] = ()
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A managed field that isn't as it should be.

    Attributes:
        field: the field and its facts.
        desired: canonical value of the spec; None when the field was removed and must be reset.
        observed: canonical live value; UNKNOWN when a removed field wasn't read.
        change: what it takes.
        place: where in a field of many items, after its name.
        actions: what mends it, in a field of many items.
        said: what is the matter, where the values don't tell it to people.
        remedy: what people can do where no statement is sent.
        causes: further names whose change by the user leads to this one.
    """

    field: SpecField
    desired: Any
    observed: Any
    change: Change
    place: str = ""
    actions: tuple[Action, ...] = ()
    said: str = ""
    remedy: str = ""
    causes: tuple[str, ...] = ()

    @classmethod
    def inside(cls, field: SpecField, found: Deviation) -> Difference:
        """Of an item in a field."""
        return cls(
            field,
            found.desired,
            found.observed,
            found.change,
            found.place,
            found.actions,
            found.said,
            found.remedy,
            found.causes,
        )

    @property
    def name(self) -> str:
        """What differs: `comment`, `columns[AGE].type`."""
        return self.field.name + self.place

    @property
    def reset(self) -> bool:
        return self.desired is None

    def __str__(self) -> str:
        if self.said:
            return f"{self.name} {self.said}"
        shown = self.field.facts.shown
        wanted = "to be reset" if self.reset else f"should be {shown(self.desired)}"
        return f"{self.name} is {shown(self.observed)}, {wanted}"

    @property
    def advised(self) -> str:
        """What is the matter, and what people can do about it."""
        return f"{self}: {self.remedy}" if self.remedy else str(self)

    @property
    def mended(self) -> str:
        """What was the matter, once it is mended."""
        if self.said:
            return f"{self.name} was {'dropped' if self.reset else 'added'}"
        shown = self.field.facts.shown
        now = "reset now" if self.reset else f"{shown(self.desired)} now"
        return f"{self.name} was {shown(self.observed)}, is {now}"
