"""Whatever is sent to the webhook, it gives a well-formed answer or calls the request a bad one, and goes on."""

from __future__ import annotations

import io
import os
import random
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from freehold.claim_store import ClaimStore
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.resolve import live
from freehold_devstack.pki import Authority
from freehold_webhook.admission import Admission
from freehold_webhook.certificates import Certificates
from freehold_webhook.review import LONGEST
from freehold_webhook.server import Server
from tests.harness.declarations import ALL_KINDS
from tests.harness.memory import MemoryKube

CASES = int(os.environ.get("FUZZ_CASES", "2000"))
SEED = os.environ.get("FUZZ_SEED", "0")
PATIENCE = 30.0
"""Seconds for an answer, however busy the machine is; what takes longer hangs."""

IN_SCHEMA = {"databaseName": "D", "schemaRef": {"name": "s", "namespace": "n"}, "name": "X"}
SPECS: dict[str, dict[str, Any]] = {
    "ProviderConfig": {"account": "A-B", "authenticationType": "KeyPair", "host": "x.snowflakecomputing.com"},
    "Database": {"name": "D", "transient": True, "dataRetentionTimeInDays": 1},
    "Schema": {"name": "S", "databaseRef": {"name": "d"}},
    "Warehouse": {"name": "W", "warehouseSize": "SMALL", "autoSuspend": 60, "tables": ["A.B.C"]},
    "AccountRole": {"name": "R", "comment": "of mine"},
    "Table": IN_SCHEMA,
    "Function": {**IN_SCHEMA, "arguments": [{"name": "N", "type": "OBJECT(a NUMBER(3,1), b ARRAY(INT))"}]},
    "MaskingPolicy": {**IN_SCHEMA, "body": "CASE WHEN CURRENT_ROLE() IN ('R', $$S$$) THEN val ELSE '*' END -- ;"},
    "Task": {**IN_SCHEMA, "schedule": "USING CRON 0 9-17/2 * JAN MON,5L Europe/Berlin", "after": ["D.S.T"]},
    "Grant": {"privileges": ["SELECT", "INSERT"], "schemaRef": {"name": "s"}, "tableName": "T", "roleName": "R"},
    "RoleAssignment": {"roleName": "ACCOUNTADMIN", "userName": "U"},
    "Ownership": {"tableName": '"d"."s".T', "roleName": "R"},
    "PolicyAttachment": {"policyName": "P", "userName": "U"},
}
TEXTS = (
    "", "\0", "a\0b", "\x1b[2J", "\ufffe", "\u202e", "\U0001f600" * 300, '"', "''", ";--", "a.b.c", "*", "é" * 256,
    "x" * 5_000, "\r\nHTTP/1.1 200 OK", "../..", "CREATE", "DELETE", "admission.k8s.io/v1beta1", "freehold.dev",
    "ProviderConfig", "'", "$$", "/*", "val COMMENT = 'x'", "(" * 2_000, "MAP(" * 60,
    "USING CRON " + "*/1," * 500 + " * * * * UTC", "2026-11-30T12:00:00Z",
)  # fmt: skip
BYTES = (
    b"[" * 2_000, b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\xff", b"\xc3", b"\x00", b'"', b"{", b"]", b",",
    b"1e999", b"NaN",
)  # fmt: skip


def request(rng: random.Random) -> dict[str, Any]:
    """A review as an API server sends them, often of resources that there are."""
    kind = rng.choice(list(SPECS))
    path = PROVIDER_CONFIG.path if kind == "ProviderConfig" else ALL_KINDS[kind].resource.path

    def resource() -> dict[str, Any]:
        metadata = {"name": rng.choice("dsx"), "namespace": "n", "uid": "1", "labels": {}, "annotations": {}}
        return {
            "apiVersion": path.api_version,
            "kind": kind,
            "metadata": metadata,
            "spec": orjson.loads(orjson.dumps(SPECS[kind])),
        }

    operation = rng.choice(["CREATE", "UPDATE"])
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "kind": {"group": path.group, "version": path.version, "kind": kind},
            "resource": {"group": path.group, "version": path.version, "resource": path.plural},
            "operation": operation,
            "namespace": "n",
            "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
            "dryRun": rng.random() < 0.2,
            "object": resource(),
            "oldObject": resource() if operation == "UPDATE" else None,
        },
    }


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key or index) of everything in a tree."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from places(tree[key])


def junk(rng: random.Random) -> Any:
    """A value of any type."""
    nested: Any = "x"
    for _ in range(rng.choice([1, 3, 40])):
        nested = [nested] if rng.random() < 0.5 else {"x": nested}
    numbers = (0, -1, 1.5, 2**63, True, False, None)
    return rng.choice([rng.choice(TEXTS), rng.choice(TEXTS), rng.choice(numbers), [], {}, nested])


def replace(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = junk(rng)


def remove(_rng: random.Random, container: Any, key: Any) -> None:
    del container[key]


def add(rng: random.Random, container: Any, key: Any) -> None:
    """Something unknown, or something known in another place."""
    if isinstance(container, dict):
        container[rng.choice(["name", "spec", "deletionTimestamp", "paused", "useRole", *TEXTS])] = junk(rng)
    else:
        container.insert(key, junk(rng))


def enlarge(rng: random.Random, container: Any, key: Any) -> None:
    """As much as the API server takes, in one text or in very many."""
    size = 3 * 2**20
    container[key] = "x" * size if rng.random() < 0.5 else {f"field{i}": i for i in range(size // 20)}


CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (replace, replace, replace, remove, add)


def body(rng: random.Random) -> bytes:
    """What is sent: a review with some changes to its tree, to its bytes, or none."""
    tree = request(rng)
    changes = [rng.choice(CHANGES) for _ in range(rng.choice([0, 1, 1, 2, 5]))]
    for change in (*changes, enlarge) if rng.random() < 0.01 else changes:
        if found := list(places(tree)):
            change(rng, *rng.choice(found))
    sent = bytearray(orjson.dumps(tree))
    if rng.random() < 0.2:
        for _ in range(rng.randint(1, 3)):
            position = rng.randrange(len(sent))
            sent[position : position + rng.randint(0, 2)] = rng.choice(BYTES)
    return bytes(sent[: rng.randrange(len(sent))] if rng.random() < 0.03 else sent)


def check(status: int, text: bytes, sent: bytes) -> None:
    """An answer is HTTP 400, or an AdmissionReview that answers this request and tells of no fault of ours."""
    if status == 400:
        return
    assert status == 200
    answer = orjson.loads(text)
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = answer["response"]
    assert response["uid"] == orjson.loads(sent)["request"]["uid"]
    said = [*response.get("warnings", ()), *([] if response["allowed"] else [response["status"]["message"]])]
    for each in said:
        assert each.isprintable()
        assert 0 < len(each.encode()) <= LONGEST
        assert "internal error" not in each


@pytest.fixture
def kube() -> MemoryKube:
    kube = MemoryKube()
    spec = {"authenticationType": "KeyPair", "allowedRoles": ["*"]}
    account = {"key": "R.A", "name": "O.A"}
    kube.put(PROVIDER_CONFIG.path, "default", "n", spec=spec, status={"account": account})
    kube.put(ALL_KINDS["Database"].resource.path, "d", "n", spec=SPECS["Database"])
    kube.put(ALL_KINDS["Schema"].resource.path, "s", "n", spec=SPECS["Schema"])
    return kube


@pytest.mark.usefixtures("all_kinds")
async def test_every_request_is_answered_or_called_a_bad_one(kube: MemoryKube, tmp_path: Path) -> None:
    authority = Authority()
    authority.issue("webhook", names=["127.0.0.1"]).write(tmp_path, "tls")
    trust = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    server = Server(Admission(ClaimStore(kube), live(kube), allowed_hosts=[".snowflakecomputing.com"]), strict=False)
    statuses = set()
    async with (
        server.serve(0, Certificates(tmp_path), host="127.0.0.1") as port,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as client,
    ):
        for case in range(CASES):
            sent = body(random.Random(f"{SEED}/{case}"))  # noqa: S311  # to be repeated, not a secret
            try:
                timeout = aiohttp.ClientTimeout(PATIENCE)
                async with client.post(
                    f"https://127.0.0.1:{port}/validate", data=io.BytesIO(sent), timeout=timeout
                ) as response:
                    check(response.status, await response.read(), sent)
                    statuses.add(response.status)
            except Exception as error:
                raise AssertionError(f"case {case} of seed {SEED}: {sent[:2000]!r}") from error
    assert statuses == {200, 400}
