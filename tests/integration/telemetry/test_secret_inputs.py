"""Values that resources take from Secrets reach Snowflake, and nobody else.

Which fields take them follows from the declarations of the kinds.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from freehold.cli.plan.command import CHANGES
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model, model_in
from freehold.kinds.property import Property
from freehold.kinds.registry import KINDS
from freehold.kinds.spec_fields import properties
from freehold_devstack.processes import until
from tests.integration.controllers.tenant import API, DEADLINE
from tests.integration.telemetry.conftest import PASSWORD, World
from tests.integration.telemetry.leaks import canary, left, references, search

AT_ONCE = 1.0
"""Seconds from the change of a Secret to the statement with its value."""

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Input:
    """A field that refers to a key of a Secret.

    Attributes:
        name: where it is in a manifest.
        facts: what the declaration says of it.
    """

    name: str
    facts: Property

    def spec(self, reference: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
        """A spec with a reference in this place."""
        *groups, last = self.name.split(".")
        found = spec = copy.deepcopy(spec)
        for group in groups:
            spec = spec.setdefault(group, {})
        spec[last] = reference
        return found


def facts(model: type[Model], place: str) -> Property:
    """What a declaration says of a place in a model."""
    name, _, inside = place.partition(".")
    if inside:
        (annotation,) = (info.annotation for each, info in model.model_fields.items() if (info.alias or each) == name)
        inner = model_in(annotation)
        assert inner is not None
        return facts(inner, inside)
    return next(each.facts for each in properties(model) if each.name == name)


INPUTS = [(kind, Input(place, facts(kind.spec, place))) for kind in KINDS.values() for place in references(kind.spec)]
"""All fields of all kinds that refer to a key of a Secret."""

_KEY = {"name": "access-key", "key": "password"}
_STAGE = {"databaseName": "CANARY", "schemaName": "PUBLIC", "url": "s3://b/"}
BESIDE: Mapping[str, dict[str, Any]] = {
    "credentials.awsKeyId": {**_STAGE, "credentials": {"awsSecretKey": _KEY}},
    "credentials.awsSecretKey": {**_STAGE, "credentials": {"awsKeyId": _KEY}},
    "credentials.awsToken": {**_STAGE, "credentials": {"awsKeyId": _KEY, "awsSecretKey": _KEY}},
    "credentials.azureSasToken": {**_STAGE, "url": "azure://a.blob.core.windows.net/c"},
    "encryption.masterKey": {**_STAGE, "encryption": {"type": "AWS_CSE"}},
}
"""What a spec needs beside some of them, by their places."""

sent = pytest.mark.parametrize(
    ("kind", "input_"),
    [pytest.param(kind, each, id=f"{kind.name}-{each.name}") for kind, each in INPUTS if each.facts.secret],
)
"""For those that are sent as they are."""

checked = pytest.mark.parametrize(
    ("kind", "input_"),
    [pytest.param(kind, each, id=f"{kind.name}-{each.name}") for kind, each in INPUTS if each.facts.instead_of],
)
"""For those that stand for a text of the manifest, which is checked before anything is sent."""


def manifest(world: World, kind: Kind, name: str, object_name: str, **spec: Any) -> str:
    metadata = {"name": name, "namespace": world.tenant.namespace}
    return json.dumps(
        {"apiVersion": API, "kind": kind.name, "metadata": metadata, "spec": {"name": object_name, **spec}}
    )


def write(world: World, text: str) -> str:
    """Apply a manifest; answers with what kubectl says."""
    applied = world.tenant.kubectl("apply", "--server-side", "--filename=-", input=text, check=False)
    return applied.stdout + applied.stderr


def plan(world: World, folder: Path, text: str) -> str:
    """What `freehold plan` says of a manifest, without an account and with one."""
    tenant, file = world.tenant, folder / "manifest.json"
    file.write_text(text)
    hosts = f"--allowed-hosts={tenant.endpoint.host}:{tenant.endpoint.port}"
    environment = {**os.environ, "KUBECONFIG": str(tenant.control_plane.kubeconfig)}
    runs = [
        subprocess.run(
            [BIN / "freehold", "plan", option, "-f", file],
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for option in ("--offline", hosts)
    ]
    assert [each.returncode for each in runs] == [0, CHANGES], runs
    assert all("'***'" in each.stdout for each in runs)
    return "".join(each.stdout for each in runs)


def plant(world: World, input_: Input, name: str, value: str) -> dict[str, Any]:
    """Have a Secret hold a value; answers with what a spec says to take it."""
    world.tenant.secret(name, value)
    world.tenant.secret(_KEY["name"], "beside")
    return input_.spec({"name": name, "key": "password"}, BESIDE.get(input_.name, {}))


def test_every_reference_to_a_secret_is_tried() -> None:
    assert INPUTS
    for kind, each in INPUTS:
        assert each.facts.secret != bool(each.facts.instead_of), f"{kind.name}.{each.name}"


@sent
def test_nothing_tells_the_value_of_a_secret(world: World, tmp_path: Path, kind: Kind, input_: Input) -> None:
    tenant, secret, name = world.tenant, canary(), f"told-{input_.name.lower()}"
    taken = plant(world, input_, name, secret)
    text = manifest(world, kind, name, name.upper(), **taken)
    answers = plan(world, tmp_path, text)
    quoted = f"unexpected '{secret}' near '{secret[:10]}'"
    tenant.endpoint.fault(
        f"^CREATE {kind.object_type}", "error", number=1003, sqlstate="42000", message=quoted, times=None
    )
    answers += write(world, text)
    (message,) = tenant.reaches(kind.name, name, "TerminalError")
    assert "unexpected '***' near '***'" in message
    tenant.endpoint.clear_faults()
    rotated = canary()
    plant(world, input_, name, rotated)
    tenant.ready(kind.name, name)
    refusal = write(world, manifest(world, kind, "rival", name.upper(), **taken))
    assert "denied the request" in refusal
    answers += refusal
    planted = dict.fromkeys((secret, rotated), f"{kind.name}'s {input_.name}")
    planted[PASSWORD] = "what the plan logs in with"
    search(dict(left(world)) | {"what people are answered": answers.encode()}, planted)


@checked
def test_nothing_tells_what_a_secret_holds_by_mistake(world: World, kind: Kind, input_: Input) -> None:
    tenant, secret, name = world.tenant, canary(), f"mistaken-{input_.name.lower()}"
    before = tenant.endpoint.sequence
    answer = write(world, manifest(world, kind, name, name.upper(), **plant(world, input_, name, secret)))
    (message,) = tenant.reaches(kind.name, name, "DependencyNotReady", "ReferencesResolved")
    assert f"Secret {name}, key password" in message
    assert not tenant.endpoint.statements(f"^CREATE {kind.object_type}", since=before)
    told = dict(left(world)) | {"what people are answered": answer.encode()}
    search(told, {secret: f"{kind.name}'s {input_.name}"})


@sent
def test_a_new_value_is_sent_at_once_in_one_statement(world: World, kind: Kind, input_: Input) -> None:
    # A name without a keyword: the endpoint hides what may be a secret after one.
    tenant, secret, name = world.tenant, canary(), f"rotated-{INPUTS.index((kind, input_))}"
    taken = plant(world, input_, name, canary())
    write(world, manifest(world, kind, name, name.upper(), **taken))
    tenant.ready(kind.name, name)
    before = tenant.endpoint.sequence
    plant(world, input_, name, secret)
    written = time.time()

    def changes() -> list[str]:
        return [each.text for each in tenant.endpoint.since(before) if not each.reads and each.kind == "statement"]

    until(lambda: bool(changes()), DEADLINE, "the new value to be sent", tenant.describe)
    (change,) = tenant.endpoint.statements(f"^ALTER {kind.object_type}", since=before)
    assert f"{input_.facts.sql} =" in change.text
    assert change.time / 1000 - written < AT_ONCE
    tenant.ready(kind.name, name)
    # Labelled, the Secret holds what it held.
    tenant.kubectl("label", "secret", name, "team=data")
    write(world, manifest(world, kind, name, name.upper(), comment="after", **taken))
    until(lambda: len(changes()) > 1, DEADLINE, "the comment to be sent", tenant.describe)
    assert sum(f"{input_.facts.sql} =" in each for each in changes()) == 1
    search(dict(left(world)), {secret: f"{kind.name}'s {input_.name}"})


def test_what_people_write_as_sql_is_not_told_again(world: World) -> None:
    tenant, secret = world.tenant, canary()
    quoted = f"unexpected '{secret}'"
    tenant.endpoint.fault(
        "^CREATE WAREHOUSE WRITTEN", "error", number=1003, sqlstate="42000", message=quoted, times=None
    )
    tenant.apply("SQLStatement", "written", spec={"execute": f"CREATE WAREHOUSE WRITTEN COMMENT = '{secret}'"})
    (message,) = tenant.reaches("SQLStatement", "written", "TerminalError")
    tenant.endpoint.clear_faults()
    assert "001003" in message
    search(dict(left(world)), {secret: "SQLStatement's execute"})


@pytest.mark.parametrize("kind", ["FunctionSQL", "MaskingPolicy"])
def test_what_snowflake_quotes_of_a_text_is_not_told_again(world: World, kind: str) -> None:
    tenant, secret = world.tenant, canary()
    signature = {"signature": [{"name": "V", "type": "VARCHAR"}]} if kind == "MaskingPolicy" else {"returns": "VARCHAR"}
    quoted = f"unexpected ''{secret}'' near 'LOWER('{secret}')'"
    tenant.endpoint.fault("^CREATE .*QUOTED", "error", number=1003, sqlstate="42000", message=quoted, times=None)
    parents = {"databaseName": "CANARY", "schemaName": "PUBLIC"}
    text = manifest(world, KINDS[kind], "quoted", "QUOTED", **parents, **signature, body=f"LOWER('{secret}')")
    answer = write(world, text)
    (message,) = tenant.reaches(kind, "quoted", "TerminalError")
    tenant.endpoint.clear_faults()
    assert "001003" in message
    search(dict(left(world)) | {"what people are answered": answer.encode()}, {secret: f"{kind}'s body"})
