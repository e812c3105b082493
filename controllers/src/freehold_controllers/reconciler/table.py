"""`python -m freehold_controllers.reconciler.table [--check]`: the decisions as a table, printed by asking for each.

What is known of a claim, what is seen and what the user wants are few cases each; the functions that decide are asked
about every combination, so that the page can't say anything else than what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from freehold.claims import Account, ClaimedIdentity, ClaimSpec, Evidence, Holder, Intent, Mark
from freehold.kinds.registry import KINDS
from freehold.lifecycle.decision import (
    Absence,
    Create,
    Drop,
    HandOver,
    Heir,
    Hidden,
    InSync,
    Look,
    Record,
    Recreate,
    Release,
    Stop,
    Subject,
    Tell,
    Update,
    View,
    Withdraw,
)
from freehold.lifecycle.removal import decide_deletion
from freehold.lifecycle.upkeep import decide
from freehold.observation import Observation

PAGE = Path("docs/decisions.md")

BORN = datetime(2026, 1, 1, tzinfo=UTC)
_EARLIER = BORN - timedelta(hours=1)


def _evidence(how: str = "created", created_on: datetime = BORN) -> Evidence:
    return Evidence.model_validate({"how": how, "created_on": created_on, "role": "R", "time": created_on})


CLAIMS: Mapping[str, Mapping[str, Any]] = {
    "nothing was tried": {},
    "a CREATE was refused": {"mark": Mark(attempt=1, outcome="refused")},
    "a CREATE may have succeeded": {"mark": Mark(attempt=1, since=BORN, outcome="sent")},
    "created": {"evidence": _evidence()},
    "adopted": {"evidence": _evidence("adopted")},
    "another incarnation was created": {"evidence": _evidence(created_on=_EARLIER)},
    "another incarnation was, and a CREATE may have succeeded since": {
        "evidence": _evidence(created_on=_EARLIER),
        "mark": Mark(attempt=2, since=BORN, outcome="sent"),
    },
    "a DROP was under way": {"evidence": _evidence(), "intent": Intent(statement="DROP", created_on=BORN)},
}
"""What a claim may say of the object."""


def seen(owner: str = "R", **columns: str) -> Observation:
    """The object, as Snowflake may show it."""
    return Observation({"name": "X", "created_on": BORN, "owner": owner, "comment": "c", **columns}, {}, {})


VIEWS: Mapping[str, View | None] = {
    "not looked at": None,
    "as declared": seen(),
    "differs in what ALTER mends": seen(comment="other"),
    "differs in what no ALTER mends": seen(options="TRANSIENT", size="X-Small", type="INTERACTIVE"),
    "another role owns it": seen("S"),
    "shown by RESOLVE ALL alone": replace(seen("S"), parameters=None, details=None, unreadable="002003 (02000)"),
    "absence proved": Absence.PROVED,
    "not seen": Absence.UNPROVED,
    "the name is taken, and not seen": Hidden(),
}
"""What may be seen of it."""

_Wish = Mapping[str, Any]
"""Attributes of a subject; `spec` adds to the spec."""

ORDER = "hash"
_POLICIES = "management_policies"
_CHANGED = {"changed": frozenset({"comment", "transient", "warehouseType"}), "spec_hash": ORDER}
_HOLDER = Holder(group="snowflake.freehold.dev", kind="Database", namespace="n", name="y", uid="u")

UPKEEP: Mapping[str, _Wish] = {
    "nothing else said": {},
    "the spec changed": _CHANGED,
    "the spec changed, `force-new`": {**_CHANGED, "order": ORDER},
    "`adoptionPolicy: adopt`": {"spec": {_POLICIES: {"adoption_policy": "adopt"}}},
    "`driftPolicy: detect-only`": {"spec": {_POLICIES: {"drift_policy": "detect-only"}}},
    "`vanishedPolicy: Recreate`": {"spec": {"vanished_policy": "Recreate"}},
}
"""What a user may want of a resource that stays."""

DELETION: Mapping[str, _Wish] = {
    "nothing else said": {},
    "`deletionPolicy: Delete`": {"spec": {"deletion_policy": "Delete"}},
    "`deletionPolicy: Orphan`": {"spec": {"deletion_policy": "Orphan"}},
    "`paused: true`": {"spec": {"paused": True}},
    "`abandon-on-delete`": {"abandoned": True},
    "`abandon-on-delete`, misspelt": {"unclear": "the annotation"},
    "`hand-over-to`, the heir is there": {"heir": Heir(_HOLDER, ready=True)},
    "`hand-over-to`, it isn't": {"heir": Heir(_HOLDER, ready=False)},
}
"""Likewise of one that is being deleted."""


def subject(kind: str, claim: Mapping[str, Any], wish: _Wish) -> Subject:
    """A resource in one of the cases."""
    declared = KINDS[kind]
    immutable = {"transient": False} if kind == "Database" else {"warehouse_type": "STANDARD"}
    spec = declared.spec.model_validate({"name": "X", "comment": "c", **immutable, **wish.get("spec", {})})
    account = Account(key="R.A", name="O.A")
    identity = ClaimedIdentity(account=account, namespace_class=declared.object_class, fqn='"X"')
    return Subject(
        kind=declared,
        spec=spec,
        target=declared.target(("X",)),
        claim=ClaimSpec(identity=identity, holder=_HOLDER, **claim),
        role="R",
        **{key: value for key, value in wish.items() if key != "spec"},
    )


def told(decision: object) -> str:
    """A decision in few words."""
    match decision:
        case Stop(reason=reason):
            return f"`{reason}`"
        case Record(how=how):
            return f"record: {how}"
        case Update(drift=drift):
            return "ALTER back" if drift else "ALTER"
        case Release(left=left):
            return "let go, it stays" if left else "let go"
        case _:
            return _WORDS[type(decision)]


_WORDS: Mapping[type, str] = {
    Look: "look",
    Create: "CREATE",
    Recreate: "DROP, CREATE",
    Withdraw: "withdraw the intent",
    Tell: "tell the drift",
    InSync: "in order",
    Drop: "DROP",
    HandOver: "hand over",
}


def page() -> str:
    """The page with both tables, for a kind that holds data and for one that doesn't."""
    return "\n".join(
        (
            "# Decisions",
            "",
            "Generated from the functions that decide, by `make generate`. Each pass decides, acts, looks and decides",
            "again, until it is in order or stops with a reason (see [conditions](conditions.md)).",
            "What is seen stands in one row where the answers are the same. While a DROP whose answer was lost may",
            "still be under way, every pass ends with `Deleting` instead.",
            *_section("Resources that stay", UPKEEP, decide),
            *_section("Resources that are deleted", DELETION, decide_deletion),
            "",
        )
    )


def _section(title: str, wishes: Mapping[str, _Wish], asked: Callable[[Subject, View | None], object]) -> Iterator[str]:
    for kind, holds in (("Database", "holds data"), ("Warehouse", "holds no data")):
        yield from ("", f"## {title}: a kind that {holds}", "", _row(("The claim says", "The object is", *wishes)))
        yield _row(["---"] * (len(wishes) + 2))
        for claim_name, claim in CLAIMS.items():
            rows: dict[tuple[str, ...], list[str]] = {}
            for view_name, view in VIEWS.items():
                cells = tuple(told(asked(subject(kind, claim, wish), view)) for wish in wishes.values())
                rows.setdefault(cells, []).append(view_name)
            for cells, views in rows.items():
                yield _row((claim_name, "; ".join(views), *cells))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write(
    root: Annotated[Path, typer.Argument(help="Root of the repository.")] = Path(),
    *,
    check: Annotated[bool, typer.Option(help="Write nothing; fail when the page is stale.")] = False,
) -> None:
    """Write the page about decisions."""
    path, text = root / PAGE, page()
    if path.exists() and path.read_text() == text:
        return
    if check:
        typer.echo(f"stale: {path}; run `make generate`", err=True)
        raise typer.Exit(1)
    path.write_text(text)
    typer.echo(f"wrote {path}")


if __name__ == "__main__":
    typer.run(write)
