"""What tags and network policies may say beyond what single fields tell: the rules of Snowflake that span fields."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import planning
from freehold.kinds.registry import KINDS
from freehold.validation import faults

IN_SCHEMA = {"databaseName": "DB", "schemaName": "S", "name": "T"}
POLICY = {"name": "NP"}

BASES: dict[str, dict[str, Any]] = {
    "Tag": IN_SCHEMA,
    "NetworkPolicy": POLICY,
    "TableConstraint": {"tableName": "D.S.T", "name": "PK", "type": "PRIMARY KEY", "columns": ["A"]},
    "TagAssociation": {"tagName": "D.S.T", "tagValue": "v"},
    "MaskingPolicyApplication": {"tableName": "D.S.T", "columnName": "C", "policyName": "D.S.P"},
}

FAULTS = [
    ("Tag", {"allowedValues": ["a", "a"]}, "spec.allowedValues: 'a' is listed twice"),
    ("Tag", {"onConflict": "ALLOWED_VALUES_SEQUENCE"}, "spec.onConflict: ALLOWED_VALUES_SEQUENCE needs values"),
    ("Tag", {"onConflict": "c", "allowedValues": ["a"]}, "spec.onConflict: 'c' isn't among allowedValues"),
    ("Tag", {"onConflict": "c"}, None),
    ("Tag", {"maskingPolicies": ["P"]}, "spec.maskingPolicies[0]: a fully-qualified name has three parts"),
    ("TableConstraint", {"properties": {"enforced": True}}, "spec.properties.enforced: Snowflake leaves out"),
    ("TableConstraint", {"properties": {"validate": True}}, "spec.properties.validate: Snowflake leaves out"),
    ("TableConstraint", {"properties": {"enable": False, "rely": True}}, None),
    ("TagAssociation", {"objectType": "SCHEMA", "objectName": "S"}, "spec.objectName: a schema is named by DATABASE"),
    ("TagAssociation", {"objectType": "TABLE", "objectName": "T"}, "spec.objectName: a fully-qualified name has three"),
    ("TagAssociation", {"objectType": "FUNCTION", "objectName": "D.S.F"}, "spec.objectName: a function is named with"),
    ("MaskingPolicyApplication", {"usingColumns": ["D", "C"]}, "spec.usingColumns: the first column is the masked one"),
    ("NetworkPolicy", {"blockedIPList": ["192.0.2.1"]}, "spec.allowedIPList: a policy that allows nothing"),
    ("NetworkPolicy", {"managementPolicies": {"observeOnly": True}}, None),
    ("NetworkPolicy", {"allowedIPList": []}, None),
    ("NetworkPolicy", {"allowedNetworkRuleRefs": [{"name": "office"}]}, None),
    ("NetworkPolicy", {"allowedIPList": ["2001:db8::1"]}, "spec.allowedIPList[0]: '2001:db8::1' is neither an IPv4"),
    ("NetworkPolicy", {"allowedIPList": ["192.0.2.0/40"]}, "spec.allowedIPList[0]: '192.0.2.0/40' is neither an IPv4"),
    (
        "NetworkPolicy",
        {"allowedIPList": [], "blockedIPList": ["0.0.0.0/0"]},
        "spec.blockedIPList[0]: 0.0.0.0/0 is every",
    ),
    ("NetworkPolicy", {"allowedIPList": ["0.0.0.0/0"]}, None),
    ("NetworkPolicy", {"allowedNetworkRuleList": ["R"]}, "spec.allowedNetworkRuleList[0]: a fully-qualified name has"),
]


@pytest.mark.parametrize(("kind", "fields", "fault"), FAULTS, ids=str)
def test_what_no_statement_can_hold_is_told_with_its_field(
    kind: str, fields: dict[str, Any], fault: str | None
) -> None:
    declared = KINDS[kind]
    found = faults(declared, declared.spec.model_validate({**BASES[kind], **fields}))
    assert [each.startswith(fault or "") for each in found] == ([True] if fault else [])


@pytest.mark.parametrize(("allowed", "warned"), [([], True), (["192.0.2.1"], False)])
def test_a_policy_that_lets_nobody_in_earns_a_warning(allowed: list[str], warned: bool) -> None:
    kind = KINDS["NetworkPolicy"]
    spec = kind.spec.model_validate({**POLICY, "allowedIPList": allowed})
    assert bool(planning.advice(kind, spec)) is warned
