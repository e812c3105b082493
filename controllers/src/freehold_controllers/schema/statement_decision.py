"""What to do about a SQLStatement: what its claim says of what has run decides, and what its observe shows. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from freehold import script
from freehold.claims import ClaimSpec, Progress
from freehold.kinds.utility.sqlstatement import OUTCOME, SQLStatementSpec, changed_text, text_hash
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason

Purpose = Literal["execute", "update", "revert"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What `observe` shows.

    Attributes:
        rows: how many it has.
        matched: whether the effect is there.
    """

    rows: int
    matched: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """A SQLStatement, and what is known of it.

    Attributes:
        spec: what it declares.
        claim: what has run.
        effect: what was seen; None where nothing observes.
        order: its annotation force-new.
        answer: its annotation statement-outcome.
        under_way: whether the statement of unknown outcome may still run.
        tried: texts that this spec has had run in vain.
    """

    spec: SQLStatementSpec
    claim: ClaimSpec
    effect: Effect | None = None
    order: str | None = None
    answer: str | None = None
    under_way: bool = False
    tried: Collection[Purpose] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Run the statements of a text that haven't run yet."""

    purpose: Purpose


@dataclass(frozen=True, slots=True)
class Settle:
    """Write what became of the statement whose outcome was unknown."""

    ran: bool


@dataclass(frozen=True, slots=True)
class Anew:
    """Undo what has run, and begin with the first statement."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Write that the effect was there already."""


@dataclass(frozen=True, slots=True)
class Finished:
    """There is nothing left to do.

    Attributes:
        drift: what isn't as declared, and is left so; empty for nothing.
    """

    drift: str = ""


Decision = Run | Settle | Anew | Adopt | Finished | Stop


def text_of(spec: SQLStatementSpec, purpose: Purpose) -> str:
    """The text for a purpose; empty where there is none."""
    return {"execute": spec.execute, "update": spec.update, "revert": spec.revert}[purpose] or ""


def hashes_of(text: str) -> tuple[str, ...]:
    """The hashes of the statements of a sound text."""
    return tuple(each.hash for each in script.statements(text)) if text else ()


def done_of(progress: Progress | None, purpose: Purpose, hashes: tuple[str, ...]) -> tuple[str, ...]:
    """What of a text has run already: the beginning of it, if its text for that purpose still begins so."""
    done = progress.done if progress and progress.purpose == purpose else ()
    return done if hashes[: len(done)] == done else ()


def decide(subject: Subject) -> Decision:
    """What to do next about a resource that stays."""
    spec, claim, progress = subject.spec, subject.claim, subject.claim.progress
    if progress and progress.sent:
        return settle(subject, progress)
    if claim.intent:
        return Anew()
    hashes = hashes_of(spec.execute)
    if claim.evidence is None:
        return _first(subject, hashes)
    if claim.evidence.statements not in (None, hashes):
        return _changed(subject)
    if subject.effect is None or subject.effect.matched:
        return Finished()
    return _without_effect(subject, subject.effect)


def settle(subject: Subject, progress: Progress) -> Settle | Stop:
    """What became of a statement whose answer was lost. Only what is known is acted on."""
    total = len(hashes_of(text_of(subject.spec, progress.purpose)))
    number = len(progress.done) + 1
    told = progress.telling and subject.effect is not None
    there = subject.effect is not None and subject.effect.matched is (progress.purpose != "revert")
    name = f"statement {number} of spec.{progress.purpose}"
    since = progress.since.isoformat(timespec="seconds") if progress.since else ""
    if (told and there) or subject.answer == f"{since}/ran":
        return Settle(True)
    if subject.under_way:
        return Stop(Reason.RECONCILE_ERROR, f"{name} may still be running, since its answer was lost", soon=True)
    # Of several statements the effect may take the later ones, too.
    if (told and total == 1) or subject.spec.idempotent or subject.answer == f"{since}/lost":
        return Settle(False)
    return Stop(
        Reason.OUTCOME_UNKNOWN,
        f"{name} was sent at {since}, and whether it has run isn't known: it isn't sent again. Look for it in the "
        f"query history by its query tag, and set the annotation {OUTCOME} to {since}/ran or {since}/lost",
    )


def _first(subject: Subject, hashes: tuple[str, ...]) -> Decision:
    progress = subject.claim.progress
    if progress is None and subject.effect and subject.effect.matched:
        if subject.spec.management_policies.adoption_policy == "adopt":
            return Adopt()
        message = (
            "spec.observe shows the effect already, though nothing was run: it is left alone. Set "
            "managementPolicies.adoptionPolicy to adopt to take it over without running spec.execute"
        )
        return Stop(Reason.RESOURCE_ALREADY_EXISTS, message)
    if progress and progress.purpose == "execute" and done_of(progress, "execute", hashes) != progress.done:
        return _changed(subject)
    return Run("execute")


def _changed(subject: Subject) -> Anew | Stop:
    """Another text than the one that has run."""
    wanted, evidence = text_hash(subject.spec), subject.claim.evidence
    if subject.order == wanted and (evidence is None or evidence.force_new != wanted):
        return Anew()
    return Stop(Reason.IMMUTABLE_FIELD, changed_text(subject.spec))


def _without_effect(subject: Subject, effect: Effect) -> Decision:
    spec = subject.spec
    kept = spec.management_policies.drift_policy == "detect-only"
    if effect.rows and spec.observe_expect:
        drift = f"spec.observe has {effect.rows} rows, and none is as spec.observeExpect wants it"
        if kept or not spec.update:
            return Finished(drift)
        return _in_vain("update", drift) if "update" in subject.tried else Run("update")
    if "execute" in subject.tried:
        return _in_vain("execute", "spec.observe doesn't show the effect")
    again = (spec.vanished_policy or ("Recreate" if spec.idempotent else "Stop")) == "Recreate"
    if again and not kept:
        return Run("execute")
    message = (
        "spec.observe doesn't show the effect any more: set vanishedPolicy to Recreate to have spec.execute run again"
    )
    return Stop(Reason.VANISHED, message)


def _in_vain(purpose: Purpose, why: str) -> Stop:
    return Stop(Reason.NOT_CONVERGING, f"{why}, though spec.{purpose} has run: correct one of the two")
