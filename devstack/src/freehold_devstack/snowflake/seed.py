"""Accounts as a test or a seed file describes them, and the catalogs that they start with."""

import base64
import datetime
from collections.abc import Iterable
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal, Self

import yaml
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.access import SYSTEM_ROLE_GRANTS, SYSTEM_ROLES
from freehold_devstack.snowflake.auth.access_token import TOKENS, hash_secret
from freehold_devstack.snowflake.auth.oauth import ExternalOAuth
from freehold_devstack.snowflake.auth.password import hash_password
from freehold_devstack.snowflake.auth.policies import LoginPolicy, Method, NetworkPolicyEvaluation
from freehold_devstack.snowflake.auth.workload_identity import PROPERTY as WORKLOAD_IDENTITY
from freehold_devstack.snowflake.catalog import ACCOUNT_ID, Catalog, CatalogObject, Grant, Value
from freehold_devstack.snowflake.context import AccountIdentity
from freehold_devstack.snowflake.issuer import Client
from freehold_devstack.snowflake.objects.user import TYPE as USER


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SeedAccessToken(_Model):
    """A programmatic access token."""

    secret: str
    role_restriction: str | None = None
    expires_at: datetime.datetime | None = None
    disabled: bool = False

    def stored(self) -> dict[str, Value]:
        return {
            "SECRET": hash_secret(self.secret),
            "ROLE_RESTRICTION": self.role_restriction,
            "EXPIRES_AT": None if self.expires_at is None else int(self.expires_at.timestamp() * 1000),
            "DISABLED": self.disabled,
        }


class SeedWorkloadIdentity(_Model):
    """A workload that logs in with the identity tokens of an OIDC issuer."""

    issuer: str
    subject: str
    audiences: list[str] = []
    """What `aud` may say; by default what Snowflake's drivers ask for."""

    def stored(self) -> dict[str, Value]:
        audiences = {"OIDC_AUDIENCE_LIST": tuple(self.audiences)} if self.audiences else {}
        return {"TYPE": "OIDC", "ISSUER": self.issuer, "SUBJECT": self.subject, **audiences}


class _Policies(_Model):
    """What stands in for authentication policies and network policies."""

    authentication_methods: list[Method] | None = None
    """The ways to log in that are admitted; without it all are."""
    allowed_ip_list: list[str] | None = None
    """Networks to log in from, e.g. 127.0.0.0/8; without it there is no network policy."""

    @field_validator("allowed_ip_list")
    @classmethod
    def _check_networks(cls, networks: list[str] | None) -> list[str] | None:
        for network in networks or ():
            ip_network(network)
        return networks


class SeedUser(_Policies):
    """A user and what it logs in with. Its policies come before the account's."""

    login_name: str | None = None
    """What clients log in as; the user's own name by default."""
    email: str | None = None
    password: str | None = None
    access_tokens: dict[str, SeedAccessToken] = {}
    workload_identity: SeedWorkloadIdentity | None = None
    rsa_public_key: str | None = None
    """PEM, as `openssl … -pubout` prints it; RSA or EC."""
    rsa_public_key_2: str | None = None
    """The second key of a rotation."""
    default_role: str | None = None
    default_secondary_roles: Literal["ALL", "NONE"] = "ALL"
    disabled: bool = False
    roles: list[str] = []
    """Roles granted to it."""

    @field_validator("rsa_public_key", "rsa_public_key_2")
    @classmethod
    def _check_key(cls, pem: str | None) -> str | None:
        if pem is not None:
            public_key_body(pem)
        return pem


class SeedRole(_Model):
    """A role beside the system's."""

    comment: str = ""
    owner: str = "USERADMIN"
    granted_to: list[str] = []
    """Roles that it is granted to."""


class SeedExternalOAuth(_Model):
    """A security integration of the type EXTERNAL_OAUTH, in Snowflake's words and with its defaults."""

    issuer: str
    audience_list: list[str] = Field(min_length=1)
    token_user_mapping_claim: list[str] = ["sub"]
    snowflake_user_mapping_attribute: Literal["LOGIN_NAME", "EMAIL_ADDRESS"] = "LOGIN_NAME"
    any_role_mode: Literal["DISABLE", "ENABLE"] = "DISABLE"
    blocked_roles_list: list[str] = ["ACCOUNTADMIN", "ORGADMIN", "SECURITYADMIN"]
    scope_mapping_attribute: Literal["scp", "scope"] = "scp"
    scope_delimiter: str = Field(default=",", min_length=1, max_length=1)

    def integration(self) -> ExternalOAuth:
        return ExternalOAuth(
            issuer=self.issuer,
            audiences=frozenset(self.audience_list),
            user_claims=tuple(self.token_user_mapping_claim),
            user_attribute="LOGIN_NAME" if self.snowflake_user_mapping_attribute == "LOGIN_NAME" else "EMAIL",
            any_role=self.any_role_mode == "ENABLE",
            blocked_roles=frozenset(self.blocked_roles_list),
            scope_claim=self.scope_mapping_attribute,
            scope_delimiter=self.scope_delimiter,
        )


_ACCOUNT_NAME = "^[A-Z][A-Z0-9_]*$"


class SeedAccount(_Policies):
    """An account."""

    organization: str = Field(default="FREEHOLD", pattern=_ACCOUNT_NAME)
    name: str = Field(default="DEVSTACK", pattern=_ACCOUNT_NAME)
    locator: str = Field(default="FH00001", pattern=_ACCOUNT_NAME)
    region: str = "AWS_EU_CENTRAL_1"
    edition: Literal["STANDARD", "ENTERPRISE", "BUSINESS_CRITICAL"] = "ENTERPRISE"
    peers: list[str] = []
    """Other accounts of the organization, as ORGANIZATION.ACCOUNT."""
    hints: bool = True
    """Whether errors name the privilege that is missing."""
    bundles: dict[str, bool] = {}
    """Behaviour change bundles that are switched on or off, e.g. 2026_08."""
    pat_network_policy_evaluation: NetworkPolicyEvaluation = "ENFORCED_REQUIRED"
    """What log-ins by programmatic access token have to do with network policies."""
    external_oauth: list[SeedExternalOAuth] = []
    users: dict[str, SeedUser] = {}
    roles: dict[str, SeedRole] = {}
    statements: list[str] = []
    """What ACCOUNTADMIN runs at the start: grants, above all."""

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        named = {role for user in self.users.values() for role in user.roles}
        named.update(each for role in self.roles.values() for each in (role.owner, *role.granted_to))
        if unknown := named - self.roles.keys() - set(SYSTEM_ROLES):
            raise ValueError(f"no such role: {', '.join(sorted(unknown))}")
        return self

    def identity(self) -> AccountIdentity:
        return AccountIdentity(
            organization=self.organization,
            name=self.name,
            locator=self.locator,
            region=self.region,
            edition=self.edition,
            peers=frozenset(self.peers),
            hints=self.hints,
        )

    def policy(self, user: str) -> LoginPolicy:
        """What governs the log-ins of a user, whether or not the seed has it."""
        own: _Policies = self.users.get(user, _Policies())
        methods = self.authentication_methods if own.authentication_methods is None else own.authentication_methods
        networks = self.allowed_ip_list if own.allowed_ip_list is None else own.allowed_ip_list
        return LoginPolicy(
            methods=frozenset({"ALL"}) if methods is None else frozenset(methods),
            admits=None if networks is None else partial(_is_in, networks),
            access_tokens=self.pat_network_policy_evaluation,
        )


class SeedClient(_Model):
    """Who may fetch tokens from the test issuer."""

    secret: str
    claims: dict[str, str | list[str]] = {}
    """What its tokens say besides issuer, times and scopes: `sub` and `aud` above all."""
    scopes: list[str] = []


class SeedIssuer(_Model):
    """The test issuer that the endpoint itself serves, below /issuer."""

    url: str
    """What its tokens say as `iss`."""
    clients: dict[str, SeedClient] = {}

    def clients_by_id(self) -> dict[str, Client]:
        return {name: Client(each.secret, each.claims, tuple(each.scopes)) for name, each in self.clients.items()}


class SeedKeySet(_Model):
    """The keys of an issuer, as it publishes them (RFC 7517)."""

    keys: list[dict[str, object]]

    @field_validator("keys")
    @classmethod
    def _check_keys(cls, keys: list[dict[str, object]]) -> list[dict[str, object]]:
        for key in keys:
            jws.read_jwk(key)
        return keys


class Seed(_Model):
    """All accounts of an endpoint, and the issuers that they may trust."""

    accounts: list[SeedAccount] = Field(default_factory=lambda: [SeedAccount()], min_length=1)
    issuers: dict[str, SeedKeySet] = {}
    """Issuers elsewhere, by their URLs."""
    issuer: SeedIssuer | None = None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a YAML or JSON file.

        Raises:
            ValueError: It is neither, or something in it makes no sense; says where.
        """
        try:
            return cls.model_validate(yaml.safe_load(path.read_text()))
        except yaml.YAMLError as error:
            raise ValueError(f"{path} is not YAML: {error}") from error
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
            raise ValueError("\n".join((f"{path} is no seed", *wrong))) from error


def _is_in(networks: Iterable[str], address: str) -> bool:
    return any(ip_address(address) in ip_network(network) for network in networks)


def public_key_body(pem: str) -> str:
    """A public key as Snowflake takes it: without the lines around it.

    Raises:
        ValueError: It is no key, or one that no token is signed with.
    """
    der = load_pem_public_key(pem.encode()).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    jws.read_der(der)
    return base64.b64encode(der).decode()


def user_properties(name: str, user: SeedUser) -> dict[str, Value]:
    """A user's properties by their SQL names."""
    keys = {"RSA_PUBLIC_KEY": user.rsa_public_key, "RSA_PUBLIC_KEY_2": user.rsa_public_key_2}
    defaults: dict[str, Value] = {prop.name: prop.default for prop in USER.properties}
    return defaults | {
        "DISPLAY_NAME": name,
        "LOGIN_NAME": (user.login_name or name).upper(),
        "EMAIL": user.email,
        "PASSWORD": None if user.password is None else hash_password(user.password),
        "DEFAULT_ROLE": user.default_role,
        "DEFAULT_SECONDARY_ROLES": ("ALL",) if user.default_secondary_roles == "ALL" else (),
        "DISABLED": user.disabled,
        WORKLOAD_IDENTITY: None if user.workload_identity is None else user.workload_identity.stored(),
        TOKENS: {name: token.stored() for name, token in user.access_tokens.items()},
        **{key: None if pem is None else public_key_body(pem) for key, pem in keys.items()},
    }


class _Planter:
    """Fills an empty catalog."""

    def __init__(self, catalog: Catalog, now: int) -> None:
        self._catalog = catalog
        self._now = now
        self._roles: dict[str, int] = {}

    def plant(self, account: SeedAccount) -> None:
        known: dict[str, Value] = {
            "LOCATOR": account.locator,
            "REGION": account.region,
            "EDITION": account.edition,
            "BUNDLES": dict(account.bundles),
        }
        self._add("ACCOUNT", account.name, parent=None, properties=known)
        for name, privileges in SYSTEM_ROLES.items():
            self._role(name, owner=None, comment="")
            for privilege in privileges:
                self._grant(privilege, ACCOUNT_ID, self._roles[name], by=None)
        for granted, grantee in SYSTEM_ROLE_GRANTS:
            self._grant("USAGE", self._roles[granted], self._roles[grantee], by=None)
        for name, role in account.roles.items():
            self._role(name, owner=self._roles[role.owner], comment=role.comment)
        for name, role in account.roles.items():
            for grantee in role.granted_to:
                self._grant("USAGE", self._roles[name], self._roles[grantee], by=self._roles[role.owner])
        for name, user in account.users.items():
            planted = self._add("USER", name, owner=self._roles["USERADMIN"], properties=user_properties(name, user))
            for granted in user.roles:
                self._grant("USAGE", self._roles[granted], planted.id, by=self._roles["USERADMIN"])

    def _role(self, name: str, *, owner: int | None, comment: str) -> None:
        self._roles[name] = self._add("ROLE", name, owner=owner, properties={"COMMENT": comment}).id

    def _grant(self, privilege: str, on: int, to: int, *, by: int | None) -> None:
        self._catalog.grant(Grant(privilege, on, to, by, self._now))

    def _add(
        self,
        kind: str,
        name: str,
        *,
        parent: int | None = ACCOUNT_ID,
        owner: int | None = None,
        properties: dict[str, Value] | None = None,
    ) -> CatalogObject:
        return self._catalog.add(
            CatalogObject(
                id=self._catalog.next_id,
                kind=kind,
                namespace=kind,
                name=name,
                parent=parent,
                owner=owner,
                created_on=self._now,
                properties=properties or {},
            )
        )


def plant(catalog: Catalog, account: SeedAccount, now: int) -> None:
    """Give an empty catalog the account, its system roles, and the roles and users of the seed."""
    _Planter(catalog, now).plant(account)
