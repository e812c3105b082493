"""External stages."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, StringConstraints

from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import comment, prop, ref, unsupported
from freehold.kinds.groups import Group, described_property
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.model import Model
from freehold.kinds.property import Reset, set_to
from freehold.kinds.resource import Rule, exclusive, only_when, ruled
from freehold.kinds.stages import (
    DETAIL,
    Directory,
    FileFormatUse,
    adoptable,
    directory,
    directory_rule,
    file_format,
    stage,
)
from freehold.kinds.values import Codec, Identifier

Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class _Url(Codec):
    """A location, with or without a final slash."""

    def matches(self, desired: Any, observed: Any) -> bool:
        return not _elsewhere(observed, desired)


def _elsewhere(old: str, new: str) -> bool:
    return old.rstrip("/") != new.rstrip("/")


def _needs_another(_old: object, new: object) -> bool:
    """Of what can be given another value, and not taken away."""
    return new is None


class ExternalEncryption(Model):
    """How the files are encrypted."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            only_when(
                ("kmsKeyId",),
                "self.type in ['AWS_SSE_KMS', 'GCS_SSE_KMS']",
                "kmsKeyId needs type AWS_SSE_KMS or GCS_SSE_KMS",
            ),
            Rule(
                "(self.type in ['AWS_CSE', 'AZURE_CSE']) == has(self.masterKey)",
                "set masterKey exactly where type is AWS_CSE or AZURE_CSE",
                "masterKey",
            ),
        )
    )

    type: Literal["AWS_CSE", "AWS_SSE_S3", "AWS_SSE_KMS", "GCS_SSE_KMS", "AZURE_CSE", "NONE"] = prop(
        "TYPE", required=True
    )
    """Where and with whose key."""
    master_key: Text | None = unsupported("keys of our own aren't read from Secrets by this release")
    """The key that files are encrypted with before they are sent."""
    kms_key_id: Text | None = prop("KMS_KEY_ID")
    """The key of the cloud's key management; by default the one of the bucket."""


class ExternalDirectory(Directory):
    """The directory table of a stage, which lists its files."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            directory_rule(
                "autoRefresh",
                "refreshOnCreate",
                "notificationIntegration",
                "notificationIntegrationRef",
                "awsSnsTopic",
            ),
            exclusive("notificationIntegration", "notificationIntegrationRef"),
        )
    )

    refresh_on_create: bool | None = prop("REFRESH_ON_CREATE", create_only=True)
    """Whether it is filled at creation. By default it is."""
    auto_refresh: bool | None = prop("AUTO_REFRESH", recreate_when=operator.ne)
    """Whether it is refreshed when the cloud tells of changes. No change leads from one to the other."""
    notification_integration: Name | None = prop("NOTIFICATION_INTEGRATION", recreate_when=operator.ne)
    """Notification integration that tells of changes, on Google Cloud and Azure, as it is stored."""
    notification_integration_ref: Reference | None = ref(
        "QueueNotificationIntegration", instead_of="notification_integration"
    )
    """QueueNotificationIntegration, in place of its name."""
    aws_sns_topic: Text | None = prop("AWS_SNS_TOPIC", recreate_when=operator.ne)
    """ARN of the SNS topic that tells of changes, on Amazon S3."""


class ExternalStageSpec(InSchemaSpec):
    """A place for files in a bucket or container of a cloud."""

    url: Annotated[
        str, StringConstraints(max_length=4096, pattern=r"^(s3|s3gov|s3china|s3compat|gcs|azure)://[^/]")
    ] = prop("URL", show="url", codec=_Url(), recreate_when=_elsewhere, required=True)
    """Where the files are: s3://bucket/path/, gcs://bucket/path/, azure://account.blob.core.windows.net/container/."""
    endpoint: Text | None = prop("ENDPOINT", show="endpoint", recreate_when=operator.ne)
    """Host of a storage that speaks the protocol of S3, for s3compat:// only."""
    aws_access_point_arn: Text | None = prop(
        "AWS_ACCESS_POINT_ARN",
        observe=described_property(DETAIL, "AWS_ACCESS_POINT_ARN", "STAGE_LOCATION"),
        details=(DETAIL,),
        recreate_when=_needs_another,
    )
    """ARN of the access point of S3 that leads to the files. It can be changed, and not be taken away."""
    storage_integration: Name | None = prop(
        "STORAGE_INTEGRATION", show="storage_integration", codec=Identifier(), recreate_when=_needs_another
    )
    """Storage integration that has access to the files. It can be changed, and not be taken away."""
    storage_integration_ref: Reference | None = ref("StorageIntegrationAWS", instead_of="storage_integration")
    """StorageIntegrationAWS, in place of its name."""
    credentials: dict[str, str] | None = unsupported(
        "credentials would have to be read from Secrets: use a storage integration, which needs none"
    )
    """Credentials of the cloud, for a stage without a storage integration."""
    encryption: ExternalEncryption | None = prop(
        "ENCRYPTION", codec=Group(ExternalEncryption), reset=Reset(of=lambda _spec: {"TYPE": "NONE"})
    )
    """How the files are encrypted. Snowflake doesn't tell it afterwards."""
    use_privatelink_endpoint: bool | None = prop(
        "USE_PRIVATELINK_ENDPOINT",
        observe=described_property(DETAIL, "USE_PRIVATELINK_ENDPOINT", "PRIVATELINK"),
        details=(DETAIL,),
        reset=set_to(False),
    )
    """Whether the way to the files is private. A storage integration says that itself."""
    directory: ExternalDirectory | None = directory(ExternalDirectory)
    """The directory table, which lists the files."""
    file_format: FileFormatUse | None = file_format()
    """How the files are read."""
    comment: str | None = comment(reset=set_to(""))
    """A note for people."""


_INTEGRATED = "has(self.storageIntegration) || has(self.storageIntegrationRef)"

EXTERNAL_STAGE = stage(
    spec=ExternalStageSpec,
    # A DROP leaves the files where they are.
    holds_data=False,
    short_names=("xstg",),
    rules=(
        *IN_SCHEMA_RULES,
        exclusive("storageIntegration", "storageIntegrationRef", "credentials"),
        Rule(
            f"!({_INTEGRATED}) || !has(self.usePrivatelinkEndpoint)",
            "a storage integration says itself whether the way is private: leave usePrivatelinkEndpoint out",
            "usePrivatelinkEndpoint",
        ),
        Rule(
            "self.url.startsWith('s3compat://') == has(self.endpoint)",
            "set endpoint exactly where url begins with s3compat://",
            "endpoint",
        ),
        Rule(
            f"!self.url.startsWith('s3compat://') || (!({_INTEGRATED}) && !has(self.encryption))",
            "a stage at s3compat:// takes neither a storage integration nor encryption",
            "url",
        ),
        Rule(
            "!self.url.startsWith('gcs://') || !has(self.credentials)",
            "a stage at gcs:// takes no credentials: use a storage integration",
            "credentials",
        ),
        Rule(
            "!has(self.encryption) || self.encryption.type == 'NONE' || "
            "(self.encryption.type.startsWith('AWS_') && self.url.startsWith('s3')) || "
            "(self.encryption.type.startsWith('GCS_') && self.url.startsWith('gcs')) || "
            "(self.encryption.type.startsWith('AZURE_') && self.url.startsWith('azure'))",
            "encryption is of another cloud than url",
            "encryption",
        ),
        Rule(
            "!has(self.directory) || !has(self.directory.awsSnsTopic) || self.url.startsWith('s3')",
            "awsSnsTopic needs a url at Amazon S3",
            "directory",
        ),
        Rule(
            "!has(self.directory) || !(has(self.directory.notificationIntegration) || "
            "has(self.directory.notificationIntegrationRef)) || self.url.startsWith('gcs') || "
            "self.url.startsWith('azure')",
            "a notification integration needs a url at Google Cloud or Azure; at Amazon S3 use awsSnsTopic",
            "directory",
        ),
    ),
    # Snowflake takes what leads to the files as a whole.
    companions=dict.fromkeys(("storageIntegration", "encryption", "awsAccessPointArn"), ("url",)),
    adoptable=adoptable("EXTERNAL", "InternalStage"),
)
