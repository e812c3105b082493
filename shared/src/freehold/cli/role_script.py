"""`freehold role-script`: the Snowflake statements that make the role which Freehold works as."""

from __future__ import annotations

from typing import Annotated

import typer

from freehold import role_script as script
from freehold.cli import console
from freehold.cli.kinds import kind_of
from freehold.identifiers import InvalidName, check, split, split_in_database
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS


def role_script(
    role: Annotated[str, typer.Option(help="The role's stored name.")] = "FREEHOLD",
    user: Annotated[str | None, typer.Option(help="Stored name of the user that Freehold logs in as.")] = None,
    absence: Annotated[
        script.Absence,
        typer.Option(help="How the role proves that an object is gone; the script says what each costs."),
    ] = script.Absence.RESOLVE_ALL,
    kind: Annotated[list[str] | None, typer.Option(help="A kind that it is to work on; by default all.")] = None,
    database: Annotated[
        list[str] | None, typer.Option(help="A database of another role that it is to create schemas in.")
    ] = None,
    schema: Annotated[
        list[str] | None, typer.Option(help="A schema of another role, as DATABASE.SCHEMA, that it is to create in.")
    ] = None,
) -> None:
    """Print the script that makes the role which Freehold works as, with the least privileges that do."""
    try:
        named = check(role)
        databases = [split(each)[0] for each in database or ()]
        schemas = [split_in_database(each) for each in schema or ()]
    except InvalidName as error:
        raise console.fail(str(error), console.USAGE) from error
    statements = script.grants(
        [_kind(each) for each in kind] if kind else KINDS.values(),
        named,
        absence,
        databases=databases,
        schemas=[(outer, inner) for outer, inner in schemas],
    )
    for line in script.text(statements, named, absence, user):
        console.out.print(line, markup=False)


def _kind(word: str) -> Kind:
    found = kind_of(word)
    if found is None:
        raise console.fail(f"there is no kind {word!r}: freehold kinds lists them", console.USAGE)
    return found
