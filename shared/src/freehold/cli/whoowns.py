"""`freehold whoowns`: whose resource owns an object in Snowflake."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from freehold.claim_store import ClaimStore
from freehold.cli import console
from freehold.cli.cluster import Context, ask
from freehold.cli.console import Format, Output
from freehold.cli.objects import Account, Class, Sought, seek
from freehold.cli.register import Entry, judged, search, show_entries
from freehold.kube.client import Kube


def whoowns(
    name: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT",
            help="'DB.SCHEMA.TABLE'; bare parts mean upper case, as in SQL. A function: 'DB.S.F(INT)'.",
        ),
    ],
    account: Account = None,
    namespace_class: Class = None,
    output: Output = Format.TABLE,
    context: Context = None,
) -> None:
    """Tell whose resource owns an object, in every account and class that has one of that name."""
    wanted = seek(name, account, namespace_class)

    async def question(kube: Kube) -> tuple[list[Entry], datetime]:
        store = ClaimStore(kube)
        found = await search(store, lambda spec: wanted.is_nearly(spec.identity))
        return await judged(store, found), store.now()

    near, now = ask(question, context)
    entries = [each for each in near if wanted.is_(each.claim.spec.identity)]
    show_entries(entries, now, output)
    if not entries:
        raise console.fail(_nobody(wanted, near))
    if len(entries) > 1:
        console.warning(f"{len(entries)} objects have that name: narrow by --account, --class or argument types")
    raise typer.Exit


def _nobody(wanted: Sought, near: Sequence[Entry]) -> str:
    spellings = ", ".join(dict.fromkeys(each.claim.spec.identity.fqn for each in near))
    hint = f"; but there is {spellings}: put in double quotes what isn't stored in upper case" if near else ""
    return f"no resource of this cluster owns {wanted.name}{hint}"
