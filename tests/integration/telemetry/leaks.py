"""What is planted where it is secret, and looked for in all that leaves the processes."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator, Mapping

from freehold.kinds.model import Model, model_in
from freehold.kinds.secret_inputs import SecretKeyReference
from tests.integration.telemetry.conftest import World


def canary() -> str:
    """A secret that nobody else has; as a password it fits Snowflake's own policy."""
    return f"Ab1{secrets.token_hex(12)}"


def forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it is, and what base64 of anything that holds it has in any case."""
    yield secret
    for lead in range(3):
        yield base64.b64encode(bytes(lead) + secret)[4 if lead else 0 : -4]


def references(model: type[Model], place: str = "") -> Iterator[str]:
    """Where a manifest refers to a key of a Secret."""
    for attribute, info in model.model_fields.items():
        name = f"{place}{info.alias or attribute}"
        inner = model_in(info.annotation)
        if inner is SecretKeyReference:
            yield name
        elif inner is not None:
            yield from references(inner, f"{name}.")


def left(world: World) -> Iterator[tuple[str, bytes]]:
    """All that has left the processes, by where it went."""
    tenant = world.tenant
    for controller in world.controllers:
        yield controller.log.name, controller.log.read_bytes()
        yield f"metrics of {controller.log.name}", controller.metrics().encode()
    yield "the webhook's log", world.webhook.log.read_bytes()
    for kind in ("events.events.k8s.io", "leases", "claims", "freehold"):
        listed = json.loads(tenant.control_plane.kubectl("get", kind, "--all-namespaces", "--output=json").stdout)
        for each in listed["items"] if kind == "freehold" else ():
            # People have written that themselves.
            each["spec"] = {}
        yield kind, json.dumps(listed).encode()
    yield "traces", b"".join(world.traces)
    yield "query tags", "".join(entry.query_tag for entry in tenant.endpoint.since()).encode()


def search(told: Mapping[str, bytes], planted: Mapping[str, str]) -> None:
    """Make sure that nothing of what was told, by where, has a secret, of which is given whose it is."""
    for secret, whose in planted.items():
        for form in forms(secret.encode()):
            for where, text in told.items():
                found = text.find(form)
                assert found < 0, f"{whose} is in {where}: {text[max(0, found - 300) : found + 100]!r}"
