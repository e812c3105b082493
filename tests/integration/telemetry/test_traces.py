"""Traces: what was done, for which resource, with which result; never what was said."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE
from tests.integration.telemetry.conftest import World
from tests.integration.telemetry.others import spans


def facts(span: Span) -> Mapping[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


def test_a_resource_is_traced_from_admission_to_each_statement(world: World) -> None:
    def found(service: str, name: str, **wanted: str) -> list[Span]:
        """The spans with these attributes, whose dots are underscores here."""
        return [
            span
            for by, span in spans(world.traces)
            if (by, span.name) == (service, name)
            and wanted.items() <= {key.replace(".", "_"): value for key, value in facts(span).items()}.items()
        ]

    about = {"freehold_kind": "Warehouse", "freehold_name": "traced", "k8s_namespace_name": world.tenant.namespace}
    world.tenant.endpoint.fault("^CREATE WAREHOUSE", "error", number=1003, sqlstate="42000", message="Not today.")
    world.tenant.apply("Warehouse", "traced", spec={"name": "TRACED"})
    world.tenant.reaches("warehouse", "traced", "TerminalError")
    world.tenant.apply("Warehouse", "traced", spec={"name": "TRACED", "comment": "again"})
    world.tenant.ready("warehouse", "traced")

    def created() -> list[Span]:
        return found("freehold-account", "CREATE", freehold_kind="Warehouse", freehold_result="ok")

    until(lambda: bool(created()), DEADLINE, "the statement's span", lambda: str([*spans(world.traces)]))
    reconciles = found("freehold-account", "reconcile", freehold_result="done", **about)
    assert {span.parent_span_id for span in created()} <= {span.span_id for span in reconciles}
    assert found("freehold-webhook", "admission", freehold_operation="CREATE", freehold_result="allowed", **about)
    refused = found("freehold-account", "CREATE", freehold_kind="Warehouse", freehold_result="syntax")
    assert {facts(span)["db.response.status_code"] for span in refused} == {"001003"}
    assert {span.parent_span_id for span in refused} <= {
        span.span_id for span in found("freehold-account", "reconcile", **about)
    }
    for _, span in spans(world.traces):
        assert not span.events
        assert not any(word in str(span) for word in ("TRACED", "Not today"))
