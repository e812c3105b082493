"""All that a session depends on: where to, as whom, with what. Pure: from a ProviderConfig and its Secret's data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from cryptography import x509

from freehold import hosts
from freehold.kinds.account.providerconfig import Credentials, ProviderConfigSpec
from freehold.snowflake.credentials import Credential, Password, key_pair
from freehold.snowflake.errors import ConfigurationError, HostNotAllowed, NotSupported, SecretNotFound

HTTPS_PORT = 443


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """As whom and where to. Equal settings share a session; a changed Secret makes other settings.

    Attributes:
        provider: the ProviderConfig, `<namespace>/<name>`.
        account: as ORGANIZATION-ACCOUNT, or a legacy locator.
        host: host to connect to.
        port: TCP port.
        user: login name.
        role: stored name of the session's role; None for the user's default role.
        warehouse: warehouse of the session, where one is needed.
        credential: what to log in with.
        ca_bundle: trusted root certificates in PEM in place of the public ones.
        account_key: key of the account that a log-in proved before; a log-in that ends elsewhere fails.
    """

    provider: str
    account: str
    host: str
    port: int
    user: str
    role: str | None
    warehouse: str | None
    credential: Credential
    ca_bundle: str | None = None
    account_key: str | None = None

    def acting_as(self, role: str | None) -> Self:
        """The same log-in for another role; None leaves the role as it is."""
        return self if role is None else replace(self, role=role)

    def without_role(self) -> Self:
        """The log-in itself, whatever role acts."""
        return replace(self, role=None)

    def same_login(self, other: Self) -> bool:
        """Whether both differ in nothing but the role."""
        return self.without_role() == other.without_role()


def settings_from(
    spec: ProviderConfigSpec,
    *,
    namespace: str,
    name: str,
    secret: Mapping[str, bytes] | None,
    allowed_hosts: Iterable[str],
    account_key: str | None = None,
) -> ConnectionSettings:
    """The settings that a ProviderConfig describes.

    Args:
        spec: its spec.
        namespace: its namespace, which is its Secret's too.
        name: its name.
        secret: data of the Secret that spec.credentials names; None when there is no such Secret.
        allowed_hosts: what the installation may connect to, as `freehold.hosts.check` reads it.
        account_key: `status.account.key`, once verified.

    Raises:
        ConfigurationError: one of its subclasses; nothing may be sent.
    """
    account = spec.account or f"{spec.organization_name}-{spec.account_name}"
    host = spec.host or _host_of(account, spec.region)
    port = spec.port or HTTPS_PORT
    refusal = hosts.check(host, port, allowed_hosts)
    if refusal:
        raise HostNotAllowed(refusal)
    if spec.user is None:
        raise ConfigurationError("spec.user is missing: write the login name of the user")
    return ConnectionSettings(
        provider=f"{namespace}/{name}",
        account=account,
        host=host,
        port=port,
        user=spec.user,
        role=spec.role,
        warehouse=spec.warehouse,
        credential=_credential(spec, namespace, secret),
        ca_bundle=_checked_bundle(spec.ca_bundle),
        account_key=account_key,
    )


def _host_of(account: str, region: str | None) -> str:
    """The host of an account: "Connecting with a URL" in Snowflake's documentation. Hosts have no underscores."""
    name = f"{account}.{region}" if region else account
    domain = "snowflakecomputing.cn" if region and region.startswith("cn-") else "snowflakecomputing.com"
    return f"{name}.{domain}".lower().replace("_", "-")


def _credential(spec: ProviderConfigSpec, namespace: str, secret: Mapping[str, bytes] | None) -> Credential:
    if spec.authentication_type not in ("KeyPair", "UsernamePassword"):
        raise NotSupported(
            f"spec.authenticationType {spec.authentication_type} isn't supported by this release: "
            "use KeyPair, or UsernamePassword"
        )
    if spec.credentials is None:
        raise ConfigurationError("spec.credentials is missing: name the Secret and the key that hold the credential")
    key = spec.credentials.secret_ref.key
    value = _value(secret, spec.credentials, namespace, key)
    source = f"Secret {namespace}/{spec.credentials.secret_ref.name}, key {key}"
    if spec.authentication_type == "UsernamePassword":
        try:
            return Password(source, _without_line_break(value).decode())
        except UnicodeDecodeError:
            # Without the cause, which would show a part of it.
            raise ConfigurationError(f"{source}: the password is no text in UTF-8: store it as it is typed") from None
    passphrase = None
    if spec.credentials.passphrase_key:
        passphrase = _without_line_break(_value(secret, spec.credentials, namespace, spec.credentials.passphrase_key))
    return key_pair(value, passphrase, source)


def _value(secret: Mapping[str, bytes] | None, credentials: Credentials, namespace: str, key: str) -> bytes:
    name = f"{namespace}/{credentials.secret_ref.name}"
    if secret is None:
        raise SecretNotFound(f"Secret {name} doesn't exist: create it with the key {key}")
    if key not in secret:
        raise SecretNotFound(f"Secret {name} has no key {key}: it has {', '.join(sorted(secret)) or 'none'}")
    if not secret[key].strip():
        raise SecretNotFound(f"Secret {name}: the value of key {key} is empty")
    return secret[key]


def _without_line_break(value: bytes) -> bytes:
    """A text from a Secret without the line break that `echo` and editors leave at its end."""
    return value.removesuffix(b"\n").removesuffix(b"\r")


def _checked_bundle(bundle: str | None) -> str | None:
    if bundle is not None:
        try:
            x509.load_pem_x509_certificates(bundle.encode())
        except ValueError as error:
            raise ConfigurationError("spec.caBundle holds no certificate in PEM form that can be read") from error
    return bundle
