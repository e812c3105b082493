"""Which fields of a status are sensitive, how one is found, and how its value is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freehold import exports
from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.fields import own_name, prop
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.registry import KINDS
from freehold.kinds.utility.declaration import KUBERNETES
from freehold.kinds.utility.fieldexport import FIELD_EXPORT, FieldExportSpec


class LoginSpec(SnowflakeSpec):
    """Someone who logs in."""

    name: Name = own_name()
    password: str | None = prop("PASSWORD", secret=True)
    email: str | None = prop("EMAIL", show="email")


LOGIN = Kind(LoginSpec, Domain.ACCOUNT, "LOGIN", Level.ACCOUNT, holds_data=False, sensitive=frozenset({"url", "owner"}))
WAREHOUSE = KINDS["Warehouse"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".status.showOutput.url", ".status.showOutput.url"),
        (".status.showOutput.url.inside", ".status.showOutput.url"),
        (".status.showOutput.urlId", None),
        (".status.showOutput", ".status.showOutput.email"),
        (".status.showOutput.email", ".status.showOutput.email"),
        (".status.showOutput.comment", None),
        (".status.trackedParameters.password", ".status.trackedParameters.password"),
        (".status.trackedParameters", ".status.trackedParameters.password"),
        (".status.trackedParameters.email", None),
        (".status.lastAppliedSpecHash", ".status.lastAppliedSpecHash"),
        (".status.fullyQualifiedName", None),
    ],
)
def test_a_path_is_sensitive_in_both_directions_by_whole_segments(path: str, found: str | None) -> None:
    assert exports.sensitive(LOGIN, exports.segments(path)) == found


def test_a_group_of_secrets_is_told_as_one() -> None:
    stage = KINDS["ExternalStage"]
    assert exports.sensitive(stage, ("trackedParameters",)) == ".status.trackedParameters.credentials"


def test_what_others_must_trust_is_sensitive() -> None:
    integration = KINDS["StorageIntegrationAWS"]
    for name in integration.outputs:
        assert exports.sensitive(integration, ("outputs", name)) == f".status.outputs.{name}"
    assert exports.sensitive(integration, ("outputs",))
    assert exports.sensitive(WAREHOUSE, ("outputs",)) is None


@pytest.mark.parametrize("column", ["config", "definition", "condition"])
def test_what_a_task_runs_is_sensitive(column: str) -> None:
    assert exports.sensitive(KINDS["Task"], ("showOutput", column))


def test_a_kind_without_anything_sensitive_may_be_shown_whole() -> None:
    assert exports.sensitive(WAREHOUSE, ("showOutput",)) is None
    assert exports.sensitive(replace(WAREHOUSE, sensitive=frozenset({"size"})), ("showOutput",))


@pytest.mark.parametrize("path", [".spec.name", "status.x", ".status.", ".status.a..b", ".status.a[0]", ""])
def test_a_path_leads_into_the_status(path: str) -> None:
    with pytest.raises(ValueError, match="no path into a status"):
        exports.segments(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is: é", "as it is: é"),
        (True, "true"),
        (12345678901234567890, "12345678901234567890"),
        (10000000, "10000000"),
        ({"b": "é", "a": [1, None]}, '{"a":[1,null],"b":"é"}'),
        ("", ""),
    ],
)
def test_a_value_is_the_same_text_each_time(value: object, text: str) -> None:
    assert exports.text_of(value) == text


def test_a_value_is_found_by_its_path() -> None:
    status = {"showOutput": {"size": "Small"}, "empty": None}
    assert exports.value_at(status, ("showOutput", "size")) == "Small"
    assert exports.value_at(status, ("showOutput", "size", "deeper")) is None
    assert exports.value_at(status, ("empty",)) is None
    assert exports.value_at(status, ("missing", "x")) is None


def _spec(kind: str, path: str, target: str) -> FieldExportSpec:
    return FieldExportSpec.model_validate(
        {
            "from": {"resource": {"kind": kind, "name": "x"}, "path": path},
            "to": {"kind": target, "name": "y", "key": "k"},
        }
    )


def test_a_sensitive_field_goes_to_secrets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freehold.kinds.utility.fieldexport.KINDS", {"Login": LOGIN})
    assert FIELD_EXPORT.faults(_spec("Login", ".status.showOutput.url", "Secret")) == ()
    assert FIELD_EXPORT.faults(_spec("Login", ".status.showOutput.comment", "ConfigMap")) == ()
    (fault,) = FIELD_EXPORT.faults(_spec("Login", ".status.showOutput.url", "ConfigMap"))
    assert fault == ("spec.from.path: .status.showOutput.url of a Login is sensitive: set spec.to.kind to Secret")
    (fault,) = FIELD_EXPORT.faults(_spec("Login", ".status.showOutput", "ConfigMap"))
    assert "shows .status.showOutput.email, which is sensitive" in fault
    (fault,) = FIELD_EXPORT.faults(_spec("SQLStatement", ".status.x", "Secret"))
    assert "this release has no kind SQLStatement" in fault


def test_a_key_is_the_identity_whoever_exports_to_it() -> None:
    one, other = _spec("Warehouse", ".status.account", "ConfigMap"), _spec("Database", ".status.account", "ConfigMap")
    assert FIELD_EXPORT.identities(one, "n", KUBERNETES) == FIELD_EXPORT.identities(other, "n", KUBERNETES)
    assert FIELD_EXPORT.identities(one, "n", KUBERNETES) != FIELD_EXPORT.identities(one, "m", KUBERNETES)
    (secret,) = FIELD_EXPORT.identities(_spec("Warehouse", ".status.account", "Secret"), "n", KUBERNETES)
    assert secret.fqn == 'KEY "k" OF SECRET "n"."y"'
    assert secret not in FIELD_EXPORT.identities(one, "n", KUBERNETES)
