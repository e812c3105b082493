"""`freehold claims`: who owns what, why a resource is refused, and giving free what nobody can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freehold.claim_liveness import judge
from freehold.claim_rules import GRACE, Liveness
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, ClaimSpec
from freehold.cli import console
from freehold.cli.cluster import Context, Snapshot, ask
from freehold.cli.console import FAILED, USAGE, Format, Output
from freehold.cli.explanation import Explanation, Subject, explanation
from freehold.cli.kinds import kind_of
from freehold.cli.manifests import ManifestError, load, namespace_of
from freehold.cli.objects import Account, Class, Sought, in_account, seek
from freehold.cli.register import Entry, judged, search, show_entries
from freehold.identity import HASH_LENGTH
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.errors import Conflict

app = typer.Typer(
    name="claims", help="Who owns what, and why a resource is refused; see docs/cli.md.", no_args_is_help=True
)

_HASH = re.compile(rf"[a-z2-7]{{{HASH_LENGTH}}}")


class Proof(StrEnum):
    """How an object came to be its holder's."""

    CREATED = "created"
    ADOPTED = "adopted"
    NONE = "none"


Which = Annotated[str, typer.Argument(metavar="CLAIM", help="Name of the claim, or of its object: DB.SCHEMA.TABLE.")]


@app.command("list")
def list_(
    kind: Annotated[str | None, typer.Option(help="Only of holders of this kind; short names do.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Only of holders in it.")] = None,
    account: Account = None,
    evidence: Annotated[Proof | None, typer.Option(help="Only with this proof of ownership, or with none.")] = None,
    liveness: Annotated[
        list[Liveness] | None,
        typer.Option(help="Only those that are so, told by looking at every holder; may be given several times."),
    ] = None,
    output: Output = Format.TABLE,
    context: Context = None,
) -> None:
    """List claims: whose resource owns which object."""
    holder_kind = _kind(kind).name if kind else None

    def wanted(spec: ClaimSpec) -> bool:
        proof = spec.evidence.how if spec.evidence else Proof.NONE
        return (
            holder_kind in (None, spec.holder.kind)
            and namespace in (None, spec.holder.namespace)
            and in_account(spec.identity, account)
            and evidence in (None, proof)
        )

    async def question(kube: Kube) -> tuple[list[Entry], datetime]:
        store = ClaimStore(kube, get=Snapshot(kube).get)
        found = await search(store, wanted)
        if liveness:
            entries = [each for each in await judged(store, found) if each.liveness in liveness]
        else:
            entries = [Entry(claim) for claim in found]
        return entries, store.now()

    entries, now = ask(question, context)
    show_entries(entries, now, output)
    if not entries:
        raise console.fail("no claim matches")


@app.command()
def show(
    which: Which,
    account: Account = None,
    namespace_class: Class = None,
    output: Output = Format.TABLE,
    context: Context = None,
) -> None:
    """Show one claim whole, and whether it still binds."""
    entry = _entry(_which(which, account, namespace_class), context)
    if output is Format.JSON:
        console.json(entry.document())
    else:
        console.facts(_facts(entry))


@app.command()
def explain(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Kind of a resource; short names do.")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAMESPACE/]NAME", help="The resource.")] = None,
    file: Annotated[
        Path | None, typer.Option("--filename", "-f", help="Manifests in place of a resource; - reads standard input.")
    ] = None,
    output: Output = Format.TABLE,
    context: Context = None,
) -> None:
    """Explain why a resource is refused, or would be: what admission checks, on live reads. Nothing is written."""
    if file is not None and kind is None:
        subjects = _manifests(file)
    elif file is None and kind is not None and name is not None:
        subjects = [_subject(kind, name)]
    else:
        raise console.fail("name a KIND and a [NAMESPACE/]NAME, or a file of manifests with --filename", USAGE)

    async def question(kube: Kube) -> list[Explanation]:
        store = ClaimStore(kube)
        return [await explanation(store, each) for each in subjects]

    explanations = ask(question, context)
    if output is Format.JSON:
        console.json([each.document() for each in explanations])
    else:
        rows = [(str(each.subject), line.verdict, line.why) for each in explanations for line in each.findings]
        console.table(("RESOURCE", "VERDICT", "WHY"), rows)
    raise typer.Exit(0 if all(each.accepted for each in explanations) else FAILED)


@app.command()
def release(
    which: Which,
    account: Account = None,
    namespace_class: Class = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for the object's name.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Even though its holder lives, or may.")] = False,
    context: Context = None,
) -> None:
    """Release a claim whose holder is gone. The object stays as it is, and is nobody's: the next owner adopts it."""
    entry = _entry(_which(which, account, namespace_class), context)
    if entry.liveness is not Liveness.FREE and not force:
        raise console.fail(_bound(entry))
    console.facts(_facts(entry))
    for each in _losses(entry):
        console.warning(each)
    fqn = console.printable(entry.claim.spec.identity.fqn)
    if not yes and typer.prompt(f"Type {fqn} to release it") != fqn:
        raise console.fail("that is another name: nothing is released")

    async def deletion(kube: Kube) -> None:
        # As it was read: whoever has taken it in the meantime, or written into it, keeps it.
        await ClaimStore(kube).delete(entry.claim)

    try:
        ask(deletion, context, passing=Conflict)
    except Conflict as error:
        raise console.fail("the claim was taken or changed meanwhile: nothing is released, look at it again") from error
    console.out.print(f"released {fqn}", markup=False)


def _kind(word: str) -> Kind:
    found = kind_of(word)
    if found is None:
        raise console.fail(f"there is no kind {word!r}: it is one of {', '.join(KINDS)}", USAGE)
    return found


def _which(text: str, account: str | None, namespace_class: str | None) -> str | Sought:
    """The name of a claim, or what its object is found by."""
    return text if _HASH.fullmatch(text) else seek(text, account, namespace_class)


def _entry(wanted: str | Sought, context: str | None) -> Entry:
    """The one claim that is meant, judged on live reads."""

    async def question(kube: Kube) -> Entry:
        store = ClaimStore(kube)
        claim = await _the(store, wanted)
        return Entry(claim, await judge(store, claim))

    return ask(question, context)


async def _the(store: ClaimStore, wanted: str | Sought) -> Claim:
    if isinstance(wanted, str):
        claim = await store.read(wanted)
        found = [claim] if claim else []
    else:
        found = await search(store, lambda spec: wanted.is_(spec.identity))
    if not found:
        raise console.fail("there is no such claim: freehold claims list shows those there are")
    if len(found) > 1:
        objects = (claim.spec.identity for claim in found)
        listed = ", ".join(f"{each.namespace_class} {each.fqn} in {each.account.name}" for each in objects)
        remedy = "say which by --account, --class or argument types"
        raise console.fail(f"several claims are of that name, {remedy}: {listed}", USAGE)
    return found[0]


def _manifests(file: Path) -> list[Subject]:
    try:
        found = load([file])
    except ManifestError as error:
        raise console.fail(str(error), USAGE) from error
    if not found:
        raise console.fail(f"{file}: no manifest is of a kind that has an object ({', '.join(KINDS)})", USAGE)
    return [
        Subject(
            KINDS[each["kind"]],
            namespace_of(each),
            each["metadata"]["name"],
            each.get("spec") or {},
            each["metadata"].get("annotations") or {},
        )
        for each in found
    ]


def _subject(kind: str, place: str) -> Subject:
    namespace, _, name = place.rpartition("/")
    return Subject(_kind(kind), namespace or "default", name)


def _facts(entry: Entry) -> list[tuple[str, str]]:
    """All that a claim says, for people."""
    spec = entry.claim.spec
    identity, evidence, mark = spec.identity, spec.evidence, spec.mark
    facts = [
        ("claim", entry.claim.name),
        ("object", identity.fqn),
        ("class", identity.namespace_class),
        ("account", f"{identity.account.name} ({identity.account.key})"),
        ("holder", str(spec.holder)),
        ("held since", str(entry.claim.held_since)),
        ("liveness", entry.liveness.value if entry.liveness else ""),
        ("evidence", f"{evidence.how} at {evidence.time} by role {evidence.role}" if evidence else "none"),
    ]
    if evidence:
        facts.append(("created on", str(evidence.created_on)))
    if mark:
        unknown = f", outcome unknown since {mark.since}" if mark.since else ""
        facts.append(("attempts", f"{mark.attempt}, the last one {mark.outcome}{unknown}"))
    if spec.intent:
        facts.append(("intent", f"{spec.intent.statement} of the object created on {spec.intent.created_on}"))
    return facts


def _bound(entry: Entry) -> str:
    """Why a claim isn't released."""
    holder = entry.claim.spec.holder
    if entry.liveness is Liveness.LIVE:
        return (
            f"the claim is live: delete {holder}, whose deletionPolicy says what becomes of the object, or say "
            f"--force. Where that resource is gone already, try again {GRACE.seconds} s after the claim was taken: "
            "until then it may be on its way"
        )
    return (
        f"it isn't known whether {holder} still stands for the object: see to it that you may read that resource, its "
        "ProviderConfig and its parents, or say --force"
    )


def _losses(entry: Entry) -> Iterator[str]:
    """What is lost with a claim."""
    spec = entry.claim.spec
    if entry.liveness is not Liveness.FREE:
        yield f"{spec.holder} loses the object, and has to adopt it to have it back"
    if spec.evidence:
        yield "the proof of ownership goes: the object stays in Snowflake, and whoever applies it next has to adopt it"
    if spec.unsettled:
        yield "a statement about the object is under way, or its outcome isn't known: look at the object yourself"
