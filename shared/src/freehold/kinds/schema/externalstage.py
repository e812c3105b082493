"""External stages."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, StringConstraints

from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import comment, prop, ref
from freehold.kinds.groups import Group, described_property
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.model import Model
from freehold.kinds.property import Reset, set_to
from freehold.kinds.resource import Rule, exactly_one, exclusive, only_when, ruled
from freehold.kinds.secret_inputs import SecretKeyReference, secret
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
from freehold.observation import UNKNOWN, Observation

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


def _credentials(observation: Observation) -> object:
    """Whether there are any is all that can be seen."""
    return None if observation.row.get("has_credentials") == "N" else UNKNOWN


class Credentials(Model):
    """How Snowflake logs in to the cloud."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            Rule(
                "has(self.awsKeyId) == has(self.awsSecretKey)", "awsKeyId and awsSecretKey go together", "awsSecretKey"
            ),
            Rule("!has(self.awsToken) || has(self.awsKeyId)", "awsToken needs awsKeyId and awsSecretKey", "awsToken"),
            exactly_one("awsKeyId", "awsRole", "azureSasToken"),
        )
    )

    aws_key_id: SecretKeyReference | None = secret("AWS_KEY_ID")
    """Key of a Secret that holds the id of an access key of AWS."""
    aws_secret_key: SecretKeyReference | None = secret("AWS_SECRET_KEY")
    """Key of a Secret that holds the secret part of it."""
    aws_token: SecretKeyReference | None = secret("AWS_TOKEN")
    """Key of a Secret that holds the session token that belongs to it, where it is temporary."""
    aws_role: Text | None = prop("AWS_ROLE")
    """ARN of a role that Snowflake takes on."""
    azure_sas_token: SecretKeyReference | None = secret("AZURE_SAS_TOKEN")
    """Key of a Secret that holds a shared access signature of Azure."""


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
    master_key: SecretKeyReference | None = secret("MASTER_KEY")
    """Key of a Secret that holds the key, in Base64, that files are encrypted with before they are sent."""
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
    credentials: Credentials | None = prop(
        "CREDENTIALS",
        codec=Group(Credentials),
        observe=_credentials,
        recreate_when=_needs_another,
        secret=True,
        on_change=True,
    )
    """Credentials of the cloud, for a stage without a storage integration, which would need none. They can be changed,
    and not be taken away."""
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
            "!has(self.credentials) || (has(self.credentials.azureSasToken) == self.url.startsWith('azure') && "
            "(!self.url.startsWith('s3compat://') || "
            "(has(self.credentials.awsKeyId) && !has(self.credentials.awsToken))))",
            "credentials are of another cloud than url: azureSasToken at Azure, the others at Amazon S3, and awsKeyId "
            "with awsSecretKey alone at s3compat://",
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
    companions=dict.fromkeys(("storageIntegration", "credentials", "encryption", "awsAccessPointArn"), ("url",)),
    adoptable=adoptable("EXTERNAL", "InternalStage"),
)
