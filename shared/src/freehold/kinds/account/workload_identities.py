"""Workload identities of users: who a workload is in the words of the cloud that attests it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import ConfigDict, Field, StringConstraints

from freehold import sql
from freehold.kinds.model import Model
from freehold.kinds.property import Target
from freehold.kinds.resource import Rule, ruled
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

DETAIL = "workloads"
"""Name of the query that tells of them."""

_Text = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


def _needs(types: tuple[str, ...], field: str) -> Rule:
    return Rule(f"!(self.type in {[*types]}) || has(self.{field})", f"type {' and '.join(types)} needs {field}", field)


def _only(field: str, types: tuple[str, ...]) -> Rule:
    return Rule(f"self.type in {[*types]} || !has(self.{field})", f"{field} goes with type {' or '.join(types)}", field)


class WorkloadIdentity(Model):
    """Who a workload is that logs in without a secret."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            _needs(("AWS",), "arn"),
            _needs(("AZURE", "OIDC"), "issuer"),
            _needs(("AZURE", "OIDC", "GCP"), "subject"),
            _only("arn", ("AWS",)),
            _only("issuer", ("AWS", "AZURE", "OIDC")),
            _only("subject", ("AZURE", "OIDC", "GCP")),
            _only("oidcAudienceList", ("OIDC",)),
        )
    )

    type: Literal["AWS", "AZURE", "GCP", "OIDC"]
    """Who attests the workload."""
    arn: _Text | None = None
    """AWS: ARN of the user or role."""
    issuer: Annotated[str, StringConstraints(pattern="^https://", max_length=1024)] | None = None
    """AZURE and OIDC: URL of the issuer; AWS: the same where it isn't AWS itself."""
    subject: _Text | None = None
    """AZURE, GCP and OIDC: the workload's id, for example system:serviceaccount:NAMESPACE:NAME."""
    oidc_audience_list: list[_Text] | None = Field(default=None, max_length=100)
    """OIDC: audiences that its tokens may have; by default snowflakecomputing.com."""

    def __str__(self) -> str:
        return WorkloadIdentityCodec().render(self).text


class WorkloadIdentityCodec(Codec):
    """Compared by what Snowflake prints: nothing of what the spec leaves out, and of an ARN the parts."""

    def render(self, value: WorkloadIdentity) -> Sql:
        return sql.sql("({all})", all=sql.join(_options(value)))

    def read(self, raw: object) -> Any:
        return raw

    def matches(self, desired: WorkloadIdentity, observed: Any) -> bool:
        if not isinstance(observed, Mapping):
            return False
        return all(_comparable(observed.get(key)) == _comparable(value) for key, value in _printed(desired).items())


def query(target: Target) -> Sql:
    """The query that tells of a user's."""
    return sql.sql("SHOW USER WORKLOAD IDENTITY AUTHENTICATION METHODS FOR USER {name}", name=target.name)


def observed(observation: Observation) -> object:
    """What is told of the one that WORKLOAD_IDENTITY sets, which is called DEFAULT; None where there is none."""
    rows = (observation.details or {}).get(DETAIL)
    if rows is None:
        return UNKNOWN
    row = next((each for each in rows if each["name"] == "DEFAULT"), None)
    if row is None:
        return None
    # The information has a `type` of its own, of the sort of an AWS identity.
    return {**orjson.loads(str(row["additional_info"] or "{}")), "type": row["type"]}


def _options(value: WorkloadIdentity) -> Iterator[Sql]:
    yield sql.sql("TYPE = {type}", type=sql.words(value.type))
    for keyword, text in (("ARN", value.arn), ("ISSUER", value.issuer), ("SUBJECT", value.subject)):
        if text is not None:
            yield sql.sql("{keyword} = {text}", keyword=sql.words(keyword), text=sql.literal(text))
    if value.oidc_audience_list is not None:
        listed = sql.join(map(sql.literal, value.oidc_audience_list), ", ")
        yield sql.sql("OIDC_AUDIENCE_LIST = ({all})", all=listed)


def _printed(value: WorkloadIdentity) -> dict[str, object]:
    """What Snowflake prints of an identity, as far as the spec says it."""
    if value.arn is not None:
        _, partition, _, _, account, resource = (*value.arn.split(":", 5), *[""] * 5)[:6]
        arn = {"awsPartition": partition, "awsAccount": account, "iamRole": resource.partition("/")[2]}
    else:
        arn = {}
    said = {"issuer": value.issuer, "subject": value.subject, "audienceList": value.oidc_audience_list, **arn}
    return {"type": value.type, **{key: each for key, each in said.items() if each is not None}}


def _comparable(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, list) else value
