"""SQLStatement: SQL that people write, run once; for what no kind stands for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints

from freehold import script
from freehold.bodies import InvalidBody
from freehold.identity import Identity, Name, Slot, digest
from freehold.kinds.common import Name as StoredName
from freehold.kinds.common import ObjectName, SnowflakeSpec, Status
from freehold.kinds.fields import unsupported
from freehold.kinds.kind import Domain
from freehold.kinds.model import Model
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import (
    AGE,
    MESSAGE,
    PROVIDER,
    READY,
    REASON,
    SNOWFLAKE_GROUP,
    SYNCED,
    VERSION,
    Column,
    GroupResource,
    Resource,
    Rule,
)
from freehold.kinds.utility.declaration import Utility
from freehold.kube.objects import Object
from freehold.recreation import FORCE_NEW_ANNOTATION
from freehold.script import Policy

Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]

OUTCOME = "freehold.dev/statement-outcome"
"""Annotation of a SQLStatement: the answer to what became of the statement that its condition asks about."""


class Expectation(Model):
    """What a column holds."""

    column: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    """Name of the column, in whatever case."""
    value: Annotated[str, StringConstraints(max_length=4096)]
    """Its value as text, in whatever case. Empty stands for NULL, too."""


class Context(Model):
    """Where names that aren't qualified lie, and what runs the statements."""

    database: StoredName | None = None
    """Database of the session."""
    schema_: StoredName | None = Field(default=None, alias="schema")
    """Schema of the session, in that database."""
    warehouse: StoredName | None = None
    """Warehouse of the session; by default the ProviderConfig's."""


class SecretParameter(Model):
    """A value from a Secret."""

    name: ObjectName
    """Name of the Secret."""
    key: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Key in it."""


class SQLStatementSpec(SnowflakeSpec):
    """SQL that is run once, with a way to undo it and to see whether its effect is there; for what no kind makes."""

    execute: Text
    """The statements, run in their order, each once. Another text is refused once they have run, unless the annotation
    freehold.dev/force-new orders to run `revert` and then that."""
    revert: Text | None = None
    """Statements that undo it: run when the resource is deleted, or before another text. Without them nothing is
    undone. They may change at any time."""
    observe: Text | None = None
    """One statement that only reads, and has rows while the effect is there. It decides whether anything is run."""
    observe_expect: Annotated[list[Expectation], Field(max_length=100)] | None = None
    """What one of these rows must hold, all of it; by default any row will do."""
    update: Text | None = None
    """Statements that are run when `observe` has rows, but none of them holds what is expected. Without them that is
    only told."""
    idempotent: bool = False
    """Whether the statements may be run twice. Only then are they when it isn't known whether they have run, and when
    their effect has disappeared without vanishedPolicy saying so."""
    dangerous_allow_destructive: bool = False
    """Needed for statements in `execute` and `update` that may lose something: DROP, TRUNCATE, DELETE, REMOVE,
    CREATE OR REPLACE, INSERT OVERWRITE, EXECUTE IMMEDIATE."""
    context: Context | None = None
    """Database, schema and warehouse of the session."""
    timeout_seconds: int | None = Field(default=None, ge=1, le=540)
    """Time limit of each statement; by default the installation's, 60. What takes longer is a task's work."""
    secret_parameters: list[SecretParameter] | None = unsupported(
        "bind variables aren't sent yet, and a value in a text would stand in Snowflake's history: leave it "
        "out, and send what holds a secret by hand"
    )
    """Values from Secrets for the statements."""


class ObserveResult(Model):
    """What `observe` showed."""

    row_count: int
    """Rows; at most 10000 are counted."""
    matched: bool
    """Whether the effect is there."""


class SQLStatementStatus(Status):
    """What has been run. The statements themselves, and what they answer, are told nowhere."""

    account: str | None = None
    """The account that they run in, as ORGANIZATION.ACCOUNT."""
    execute_hash: str | None = None
    """Hash of the text that has run."""
    statements_run: str | None = None
    """How many of its statements have run, as in `2 of 3`."""
    observe_result: ObserveResult | None = None
    """What `observe` showed last."""
    plan: list[str] | None = None
    """What would be run if the controllers didn't run in mode ReadOnly."""


def limit_of(spec: SQLStatementSpec) -> timedelta | None:
    """How long each statement may run; None for as long as any."""
    return timedelta(seconds=spec.timeout_seconds) if spec.timeout_seconds else None


def text_hash(spec: SQLStatementSpec) -> str:
    """Hash of the text that a spec wants run, as the annotation freehold.dev/force-new has to name it."""
    return digest(spec.execute)


def objects(spec: SQLStatementSpec) -> tuple[Slot, ...]:
    """What a spec names beside the statements, for the allow-lists of its ProviderConfig."""
    context = spec.context or Context()
    if context.database is None:
        return ()
    if context.schema_ is None:
        return (Slot(("DATABASE", Name((context.database,)))),)
    return (Slot(("SCHEMA", Name((context.database, context.schema_)))),)


def changed_text(spec: SQLStatementSpec) -> str:
    """Why another text than the one that has run isn't run, and what to do."""
    return (
        "spec.execute isn't the text whose statements have run: change it back, or set the annotation "
        f"{FORCE_NEW_ANNOTATION}: {text_hash(spec)} to have spec.revert run, where it is set, and then this text"
    )


def _refused_change(old: Object, new: Object) -> str | None:
    """The status is good enough here: the controller goes by the claim."""
    before, after = old.parsed(SQLStatementSpec), new.parsed(SQLStatementSpec)
    has_run = old.status.get("executeHash") == text_hash(before)
    ordered = new.annotations.get(FORCE_NEW_ANNOTATION) == text_hash(after)
    same = text_hash(before) == text_hash(after)
    return None if same or not has_run or ordered else changed_text(after)


def identity(account: str, namespace: str, name: str) -> Identity:
    """What a resource claims: that it has run, which nobody else asks for."""
    return Identity(account, "SQLSTATEMENT", Name((namespace, name)))


def _faults(spec: SQLStatementSpec) -> tuple[str, ...]:
    return tuple(_found(spec))


def _found(spec: SQLStatementSpec) -> Iterator[str]:
    for field, text, allowed in (
        ("execute", spec.execute, spec.dangerous_allow_destructive),
        ("update", spec.update, spec.dangerous_allow_destructive),
        ("revert", spec.revert, True),
    ):
        if text is not None:
            yield from (f"spec.{field}: {each}" for each in script.faults(text, allow_destructive=allowed))
    if spec.observe is not None:
        yield from (f"spec.observe: {each}" for each in script.reading_faults(spec.observe))


def _refusals(spec: SQLStatementSpec, policy: Policy) -> tuple[str, ...]:
    texts = (("execute", spec.execute), ("update", spec.update), ("revert", spec.revert))
    return tuple(f"spec.{field}: {each}" for field, text in texts if text for each in policy.refusals(text))


def _advice(spec: SQLStatementSpec) -> tuple[str, ...]:
    return tuple(_told(spec))


def _told(spec: SQLStatementSpec) -> Iterator[str]:
    try:
        found = script.statements(spec.execute)
    except InvalidBody:
        return
    for number, each in enumerate(found, 1):
        if each.words[:1] == ("CREATE",) and (kind := _kind_of(each.words[1:])):
            yield f"spec.execute: statement {number} makes what a {kind} stands for: declare one, or two fight over it"
    if len(found) > 1 and not spec.idempotent:
        yield (
            "spec.execute: of several statements the first ones stay when a later one fails: one statement a resource "
            "is easier to mend"
        )


_MODIFIERS = frozenset({"TRANSIENT", "TEMPORARY", "TEMP", "LOCAL", "GLOBAL", "SECURE", "OR", "REPLACE", "ALTER"})


def _kind_of(words: tuple[str, ...]) -> str | None:
    """The kind whose objects a CREATE makes."""
    stripped = [word for word in words[:6] if word not in _MODIFIERS]
    for kind in sorted(KINDS.values(), key=lambda each: -len(each.object_type)):
        words_of_type = kind.object_type.split()
        if kind.slots is None and stripped[: len(words_of_type)] == words_of_type:
            return kind.name
    return None


SQL_STATEMENT = Utility(
    resource=Resource(
        path=GroupResource(SNOWFLAKE_GROUP, VERSION, "sqlstatements", "SQLStatement"),
        spec=SQLStatementSpec,
        status=SQLStatementStatus,
        short_names=("sqlstmt",),
        columns=(
            READY,
            SYNCED,
            Column("RUN", ".status.statementsRun"),
            PROVIDER,
            REASON,
            MESSAGE,
            AGE,
        ),
        rules=(
            Rule("!has(self.observeExpect) || has(self.observe)", "observeExpect needs observe", "observeExpect"),
            Rule("!has(self.update) || has(self.observe)", "update needs observe, to tell when to run it", "update"),
            Rule(
                "!has(self.context) || !has(self.context.schema) || has(self.context.database)",
                "context.schema needs context.database",
                "context",
            ),
            Rule(
                "!self.managementPolicies.observeOnly || has(self.observe)",
                "managementPolicies.observeOnly needs observe",
                "observe",
            ),
        ),
        categories=("freehold", "snowflake"),
    ),
    domain=Domain.SCHEMA,
    faults=_faults,
    refusals=_refusals,
    names=objects,
    refused_change=_refused_change,
    advice=_advice,
    privileged=True,
)
