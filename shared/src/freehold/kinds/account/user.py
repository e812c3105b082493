"""Users."""

from __future__ import annotations

from typing import Literal

from freehold import sql
from freehold.kinds.account import public_keys, workload_identities
from freehold.kinds.account.public_keys import PublicKey
from freehold.kinds.account.user_values import LoginName, Namespace, SecondaryRoles, check_namespace
from freehold.kinds.account.workload_identities import WorkloadIdentity, WorkloadIdentityCodec
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, prop, ref, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import described, own_parameter
from freehold.kinds.parameters import BOOLEAN, SESSION_PARAMETERS, WORD, known, parameters
from freehold.kinds.property import DoneOn, Reset, Target
from freehold.kinds.resource import Rule, exclusive, only_when
from freehold.kinds.secret_inputs import SecretKeyReference, from_secret, secret
from freehold.kinds.steps import Difference
from freehold.kinds.values import Boolean, Comment, Identifier, Word
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

TYPE = "USER"
SERVICE = "SERVICE"
LEGACY_SERVICE = "LEGACY_SERVICE"

USER_PARAMETERS = {
    **SESSION_PARAMETERS,
    "LOG_EVENT_LEVEL": WORD,
    "ENABLE_UNREDACTED_QUERY_SYNTAX_ERROR": BOOLEAN,
    "ENABLE_UNREDACTED_SECURE_OBJECT_ERROR": BOOLEAN,
    "PREVENT_UNLOAD_TO_INTERNAL_STAGES": BOOLEAN,
}
"""What can be set on users, beside their network policy."""

PRIOR_USE = DoneOn(3002, "PRIOR_USE")
"""Snowflake's answer to a password that the user has already."""
NOT_FOR_TYPE = DoneOn(511503)
"""Its answer to a property that users of the type don't have, to which there is nothing to reset."""

_DESCRIBE = "describe"
_PROVISIONERS = frozenset({"GENERIC_SCIM_PROVISIONER", "OKTA_PROVISIONER", "AAD_PROVISIONER"})
"""Roles that identity providers work with. Source: "SCIM overview" in Snowflake's documentation."""


def _login_name(observation: Observation) -> object:
    return observation.row.get("login_name") or observation.row.get("name", UNKNOWN)


def _type(observation: Observation) -> object:
    return observation.row.get("type", UNKNOWN) or "PERSON"


def _password(observation: Observation) -> object:
    """Whether there is one is all that can be seen."""
    return None if Boolean().read(observation.row.get("has_password")) is False else UNKNOWN


def _describe(target: Target) -> Sql:
    return sql.sql("DESCRIBE USER {name}", name=target.name)


class UserSpec(SnowflakeSpec):
    """A user: a person or a program that logs in. What it may do comes with roles (AccountRoleAssignment)."""

    name: Name = own_name()
    """The user's name as it is stored: case kept, never folded, one part whatever dots it has."""
    password: SecretKeyReference | None = secret("PASSWORD", observe=_password, done_on=PRIOR_USE)
    """Where the password is. It is set again when the Secret's value changes, or when the user has none."""
    login_name: str | None = prop("LOGIN_NAME", observe=_login_name, codec=LoginName(), min_length=1, max_length=255)
    """What the user logs in with, by default its name. Case doesn't matter; no two users have the same."""
    display_name: str | None = prop("DISPLAY_NAME", show="display_name", codec=Comment(), max_length=255)
    """Name that is shown to people. Removed, it is empty."""
    first_name: str | None = prop("FIRST_NAME", show="first_name", codec=Comment(), max_length=255)
    """First name of a person."""
    middle_name: str | None = prop(
        "MIDDLE_NAME",
        observe=described(_DESCRIBE, "MIDDLE_NAME"),
        codec=Comment(),
        details=(_DESCRIBE,),
        max_length=255,
    )
    """Middle name of a person."""
    last_name: str | None = prop("LAST_NAME", show="last_name", codec=Comment(), max_length=255)
    """Last name of a person."""
    email: str | None = prop("EMAIL", show="email", codec=Comment(), max_length=255)
    """Address for notifications, once the user has verified it."""
    must_change_password: bool | None = prop(
        "MUST_CHANGE_PASSWORD", own_statement=True, reset=Reset(done_on=NOT_FOR_TYPE)
    )
    """Whether the password has to be changed at the next log-in. Sent when the manifest changes: Snowflake takes it
    back by itself once that is done."""
    disabled: bool | None = prop("DISABLED", show="disabled")
    """Whether the user can't log in. Setting it ends sessions and running queries."""
    days_to_expiry: int | None = prop("DAYS_TO_EXPIRY", ge=0, le=365_000)
    """Days until the user expires, counted from when the manifest says so first or anew. 0 means never."""
    mins_to_unlock: int | None = prop("MINS_TO_UNLOCK", ge=0)
    """Minutes until a lock ends, counted likewise."""
    default_warehouse: Name | None = prop("DEFAULT_WAREHOUSE", show="default_warehouse", codec=Identifier())
    """Warehouse of a new session. Snowflake doesn't check it, and it grants nothing."""
    default_warehouse_ref: Reference | None = ref("Warehouse", instead_of="default_warehouse", by_name=True)
    """Warehouse to use, in place of its name. It isn't waited for."""
    default_namespace: str | None = prop(
        "DEFAULT_NAMESPACE",
        show="default_namespace",
        codec=Namespace(),
        check=check_namespace,
        min_length=1,
        max_length=1024,
    )
    """Database of a new session, or DATABASE.SCHEMA. Snowflake doesn't check it, and it grants nothing."""
    default_role: Name | None = prop("DEFAULT_ROLE", show="default_role", codec=Identifier())
    """Role of a new session. Snowflake doesn't check it: an AccountRoleAssignment gives the user the role."""
    default_role_ref: Reference | None = ref("AccountRole", instead_of="default_role", by_name=True)
    """AccountRole to use, in place of its name. It isn't waited for."""
    default_secondary_roles: Literal["ALL", "NONE"] | None = prop(
        "DEFAULT_SECONDARY_ROLES", show="default_secondary_roles", codec=SecondaryRoles()
    )
    """Whether all other roles of the user are active, too, in a new session."""
    mins_to_bypass_mfa: int | None = prop("MINS_TO_BYPASS_MFA", ge=0, le=1440, alias="minsToBypassMFA")
    """Minutes for which no second factor is asked for, counted from when the manifest says so first or anew."""
    disable_mfa: bool | None = prop(
        "DISABLE_MFA", create=False, own_statement=True, reset=Reset(done_on=NOT_FOR_TYPE), alias="disableMFA"
    )
    """Take the second factor from a person, who enrols anew. Sent when the manifest changes; Snowflake doesn't tell
    what it is."""
    rsa_public_key: SecretKeyReference | None = from_secret(instead_of="rsa_public_key_value")
    """Where the public key for key-pair authentication is."""
    rsa_public_key_value: str | None = prop(
        "RSA_PUBLIC_KEY",
        observe=described(_DESCRIBE, "RSA_PUBLIC_KEY"),
        codec=PublicKey(),
        check=public_keys.check,
        details=(_DESCRIBE,),
        secret=True,
        max_length=16_384,
    )
    """The public key itself, in PEM form or its body alone. It is no secret."""
    rsa_public_key2: SecretKeyReference | None = from_secret(instead_of="rsa_public_key2_value")
    """Where the second public key is, which serves beside the first one while keys are rotated."""
    rsa_public_key2_value: str | None = prop(
        "RSA_PUBLIC_KEY_2",
        observe=described(_DESCRIBE, "RSA_PUBLIC_KEY_2"),
        codec=PublicKey(),
        check=public_keys.check,
        details=(_DESCRIBE,),
        secret=True,
        max_length=16_384,
    )
    """The second public key itself."""
    type: Literal["PERSON", "SERVICE", "LEGACY_SERVICE"] | None = prop(
        "TYPE", observe=_type, codec=Word(quoted=False), own_statement=True
    )
    """What the user is; by default a PERSON. A program is a SERVICE, which has no password."""
    workload_identity: WorkloadIdentity | None = prop(
        "WORKLOAD_IDENTITY",
        observe=workload_identities.observed,
        codec=WorkloadIdentityCodec(),
        details=(workload_identities.DETAIL,),
    )
    """Workload that logs in as this user without a secret; of a SERVICE or LEGACY_SERVICE."""
    comment: str | None = comment()
    """A note for people."""
    network_policy: Name | None = prop(
        "NETWORK_POLICY",
        observe=own_parameter("NETWORK_POLICY", TYPE),
        codec=Identifier(),
        own_statement=True,
        shared=True,
    )
    """Network policy of the user alone, in place of the account's."""
    network_policy_ref: Reference | None = ref("NetworkPolicy", instead_of="network_policy")
    """NetworkPolicy to use, in place of its name."""
    parameters: dict[str, str] | None = parameters(USER_PARAMETERS, level=TYPE)
    """Parameters by name, for example STATEMENT_TIMEOUT_IN_SECONDS: "600". All others are left alone."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _adoptable(observation: Observation) -> str | None:
    # Accounts that have no such column have no such users.
    type_, owner = str(observation.row.get("type") or "PERSON"), observation.owner
    if type_ not in ("PERSON", SERVICE, LEGACY_SERVICE):
        return f"it is one of Snowflake's own users, of type {type_}"
    if owner in _PROVISIONERS:
        return f"an identity provider manages it, as role {owner}"
    return None


def _locks_out(difference: Difference, fingerprint: str | None) -> bool:
    """Whether who logs in couldn't any more. Of a password nothing can be told."""
    match difference.field.name:
        case "disabled":
            return difference.desired is True
        case "loginName":
            return True
        case "workloadIdentity":
            return fingerprint is None
        case "rsaPublicKeyValue" | "rsaPublicKey2Value":
            key = difference.observed
            return isinstance(key, str) and public_keys.fingerprint(key) == fingerprint
    return False


def _advice(spec: UserSpec) -> tuple[str, ...]:
    if spec.type != LEGACY_SERVICE:
        return ()
    remedy = "have this one log in by a key pair or a workload identity"
    return (f"Snowflake turns users of type LEGACY_SERVICE into SERVICE, which have no password: {remedy}",)


def _not_of(type_: str, *fields: str) -> Rule:
    condition = f"!(has(self.type) && self.type == '{type_}')"
    return only_when(fields, condition, f"users of type {type_} have none of {', '.join(fields)}")


_OF_PERSONS = ("firstName", "middleName", "lastName", "minsToBypassMFA", "disableMFA")

USER = Kind(
    spec=UserSpec,
    domain=Domain.ACCOUNT,
    object_type=TYPE,
    level=Level.ACCOUNT,
    holds_data=True,
    short_names=("usr",),
    parameters=True,
    separator=" ",
    rules=(
        _not_of(SERVICE, "password", "mustChangePassword", *_OF_PERSONS),
        _not_of(LEGACY_SERVICE, *_OF_PERSONS),
        only_when(
            ("workloadIdentity",),
            f"has(self.type) && self.type in ['{SERVICE}', '{LEGACY_SERVICE}']",
            f"workloadIdentity needs type {SERVICE} or {LEGACY_SERVICE}",
        ),
        only_when(
            ("mustChangePassword",),
            "!self.mustChangePassword || has(self.password)",
            "mustChangePassword true needs a password: name the Secret that holds the first one",
        ),
        exclusive("rsaPublicKey", "rsaPublicKeyValue"),
        exclusive("rsaPublicKey2", "rsaPublicKey2Value"),
        exclusive("defaultRole", "defaultRoleRef"),
        exclusive("defaultWarehouse", "defaultWarehouseRef"),
        exclusive("networkPolicy", "networkPolicyRef"),
        Rule(
            "!has(self.parameters) || !('NETWORK_POLICY' in self.parameters)",
            "the network policy of a user is set by networkPolicy, not among the parameters",
            "parameters",
        ),
        known("parameters", USER_PARAMETERS),
    ),
    volatile=frozenset(
        {
            "days_to_expiry",
            "mins_to_unlock",
            "mins_to_bypass_mfa",
            "snowflake_lock",
            "last_success_login",
            "locked_until_time",
        }
    ),
    always_shown=frozenset({"login_name", "owner"}),
    details={_DESCRIBE: _describe, workload_identities.DETAIL: workload_identities.query},
    # What the old type allows goes before the new type comes, and what needs the new one waits for it.
    discriminator="type",
    adoptable=_adoptable,
    also_unique=("loginName",),
    locks_out=_locks_out,
    advice=_advice,
)
