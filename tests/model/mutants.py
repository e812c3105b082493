"""Faults put into the reconciler, each of which the model must find: `python -m tests.model.mutants [NAME ...]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Annotated, Any
from unittest.mock import patch

import hypothesis
import typer

from freehold.claims import Claim, Mark
from freehold.identity import Identity
from freehold.lifecycle import upkeep
from freehold.lifecycle.decision import Absence, Subject, View, attempt_unknown
from freehold.lifecycle.removal import decide_deletion
from freehold.lifecycle.surplus import Surplus, surplus_of
from freehold_controllers.reconciler import deletion, dropping, ownership
from freehold_controllers.reconciler.attempts import Attempts
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.report import Report
from tests.model.machine import Machine
from tests.model.test_model import RUNS, run


async def _nothing(*_: object) -> None:
    """In place of a step that is left out."""


def _no(*_: object, **__: object) -> None:
    """In place of what is in the way."""


async def _tell_nobody(self: Holding, *_: object) -> None:
    """In place of the mark that an attempt is about to be made."""
    await self._write(mark=Mark(attempt=1, outcome="refused"))


def _at_any_time(subject: Subject, _view: View) -> bool:
    """Whether an attempt may have made an object, whenever that was made."""
    return subject.claim is not None and attempt_unknown(subject.claim)


def _believing(subject: Subject, view: View | None) -> object:
    """What to do about the object of a resource that goes, if what isn't seen isn't there."""
    return decide_deletion(subject, Absence.PROVED if view is Absence.UNPROVED else view)


def _unpinned(held: Sequence[Claim], identities: Sequence[Identity]) -> Surplus:
    """What a resource has claimed beside what it stands for, if that kept it from nothing."""
    return replace(surplus_of(held, identities), pinned=())


MUTANTS: Mapping[str, Callable[[], AbstractContextManager[Any]]] = {
    "a refused CREATE stays unknown": lambda: patch.object(Holding, "refuse_attempt", _nothing),
    "no look right before an ALTER": lambda: patch.object(Remote, "_require_same", _nothing),
    "no look right before a DROP": lambda: patch.object(dropping, "_same", lambda *_: True),
    "no mark before a CREATE": lambda: patch.object(Holding, "begin_attempt", _tell_nobody),
    "no intent before a DROP": lambda: patch.object(Holding, "intend", _nothing),
    "no wait for what may be under way": lambda: patch.object(Attempts, "under_way", lambda *_: False),
    "whatever has the name is a lost CREATE's": lambda: patch.object(upkeep, "made_by_unknown_attempt", _at_any_time),
    "what isn't seen is gone": lambda: patch.object(deletion, "decide_deletion", _believing),
    "no wait for what is declared inside": lambda: patch.object(deletion, "waits_for", _no),
    "no look for what else is inside": lambda: patch.object(dropping, "hindrance", _no),
    "another identity is as good": lambda: patch.object(ownership, "surplus_of", _unpinned),
    "what was sent isn't remembered": lambda: patch.object(Report, "track", _nothing),
}
"""What is broken, and by what."""


def fate(mutant: str) -> str | None:
    """What the model says of a mutant; None when it finds nothing wrong."""
    with MUTANTS[mutant]():
        try:
            run(Machine, RUNS, phases=(hypothesis.Phase.generate,))
        except Exception as error:
            return str(error).partition("\n")[0] or type(error).__name__
    return None


def main(chosen: Annotated[list[str] | None, typer.Argument(help="Which ones; by default, all.")] = None) -> None:
    """Print what each mutant dies of, and fail when one survives."""
    survivors = 0
    for mutant in chosen or MUTANTS:
        died_of = fate(mutant)
        survivors += died_of is None
        typer.echo(f"{mutant}: {died_of or 'SURVIVES'}")
    if survivors:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
