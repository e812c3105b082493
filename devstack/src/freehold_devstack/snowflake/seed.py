"""Accounts as a test or a seed file describes them, and the catalogs that they start with."""

import hashlib
from pathlib import Path
from typing import Literal

import yaml
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from pydantic import BaseModel, ConfigDict, Field

from freehold_devstack.snowflake.access import SYSTEM_ROLE_GRANTS, SYSTEM_ROLES
from freehold_devstack.snowflake.catalog import ACCOUNT_ID, Catalog, CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import AccountIdentity


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SeedUser(_Model):
    """A user and what it logs in with."""

    login_name: str | None = None
    """What clients log in as; the user's own name by default."""
    password: str | None = None
    rsa_public_key: str | None = None
    """PEM, as `openssl … -pubout` prints it; RSA or EC."""
    rsa_public_key_2: str | None = None
    """The second key of a rotation."""
    default_role: str | None = None
    default_secondary_roles: Literal["ALL", "NONE"] = "ALL"
    disabled: bool = False
    roles: list[str] = []
    """Roles granted to it."""


class SeedRole(_Model):
    """A role beside the system's."""

    comment: str = ""
    owner: str = "USERADMIN"
    granted_to: list[str] = []
    """Roles that it is granted to."""


class SeedAccount(_Model):
    """An account."""

    organization: str = "FREEHOLD"
    name: str = "DEVSTACK"
    locator: str = "FH00001"
    region: str = "AWS_EU_CENTRAL_1"
    edition: Literal["STANDARD", "ENTERPRISE", "BUSINESS_CRITICAL"] = "ENTERPRISE"
    peers: list[str] = []
    """Other accounts of the organization, as ORGANIZATION.ACCOUNT."""
    hints: bool = True
    """Whether errors name the privilege that is missing."""
    users: dict[str, SeedUser] = {}
    roles: dict[str, SeedRole] = {}
    statements: list[str] = []
    """What ACCOUNTADMIN runs at the start: grants, above all."""

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


class Seed(_Model):
    """All accounts of an endpoint."""

    accounts: list[SeedAccount] = Field(default_factory=lambda: [SeedAccount()], min_length=1)

    @classmethod
    def load(cls, path: Path) -> "Seed":
        """Read a YAML or JSON file."""
        return cls.model_validate(yaml.safe_load(path.read_text()))


def hash_password(password: str, user: str) -> str:
    """What is stored of a password."""
    return hashlib.scrypt(password.encode(), salt=user.encode(), n=2**10, r=8, p=1).hex()


def public_key_body(pem: str) -> str:
    """A public key as Snowflake stores it: DER in hexadecimal here, so that fingerprint and key need no PEM."""
    return load_pem_public_key(pem.encode()).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()


def user_properties(name: str, user: SeedUser) -> dict[str, Scalar]:
    """A user's properties by their SQL names."""
    keys = {"RSA_PUBLIC_KEY": user.rsa_public_key, "RSA_PUBLIC_KEY_2": user.rsa_public_key_2}
    return {
        "LOGIN_NAME": (user.login_name or name).upper(),
        "PASSWORD": None if user.password is None else hash_password(user.password, name),
        "DEFAULT_ROLE": user.default_role,
        "DEFAULT_SECONDARY_ROLES": user.default_secondary_roles,
        "DISABLED": user.disabled,
        **{key: None if pem is None else public_key_body(pem) for key, pem in keys.items()},
    }


class _Planter:
    """Fills an empty catalog."""

    def __init__(self, catalog: Catalog, now: int) -> None:
        self._catalog = catalog
        self._now = now
        self._roles: dict[str, int] = {}

    def plant(self, account: SeedAccount) -> None:
        self._add("ACCOUNT", account.name, parent=None)
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
        properties: dict[str, Scalar] | None = None,
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
