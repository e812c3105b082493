"""All that a session depends on: where to, as whom, with what. Pure: from a ProviderConfig and its Secret's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

from cryptography import x509

from freehold import hosts, login_policy, session_parameters
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.login_policy import LoginPolicy
from freehold.snowflake import secret_values
from freehold.snowflake.credentials import Credential
from freehold.snowflake.errors import ConfigurationError, HostNotAllowed, WorkloadIdentityNotAllowed

_REFUSALS: Mapping[str, type[ConfigurationError]] = {
    each.reason: each for each in (HostNotAllowed, WorkloadIdentityNotAllowed)
}


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy on the way to Snowflake.

    Attributes:
        scheme: how it is spoken to, http or https.
        host: its host.
        port: its port.
        user: whom it knows us as; None where it asks for nobody.
        password: the proof.
        bypass: hosts and domains that are reached without it, separated by commas; empty for none.
    """

    scheme: str
    host: str
    port: int
    user: str | None = None
    password: str = field(default="", repr=False)
    bypass: str = ""

    def bypasses(self, host: str) -> bool:
        """Whether a host is reached directly; a domain stands for all names below it."""
        names = (each.strip().lower().removeprefix(".") for each in self.bypass.split(","))
        return any(name and (host.lower() == name or host.lower().endswith(f".{name}")) for name in names)


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the session of one resource has of its own.

    Attributes:
        warehouse: warehouse of the session; None for that of the log-in.
        namespace: database, or database and schema, that names lie in; none by default.
        statement_timeout: time limit of statements; None for that of the log-in, which is never exceeded.
        most_rows: of a result, where it is cut off; 0 for no limit.
    """

    warehouse: str | None = None
    namespace: tuple[str, ...] = ()
    statement_timeout: timedelta | None = None
    most_rows: int = 0


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """As whom and where to. Equal settings share a session; a changed Secret makes other settings.

    Attributes:
        provider: the ProviderConfig, `<namespace>/<name>`.
        account: as ORGANIZATION-ACCOUNT, or a legacy locator.
        host: host to connect to.
        port: TCP port.
        user: login name; None where the credential alone says who logs in.
        role: stored name of the session's role; None for the user's default role.
        warehouse: warehouse of the session, where one is needed.
        credential: what to log in with.
        ca_bundle: trusted root certificates in PEM in place of the public ones.
        account_key: key of the account that a log-in proved before; a log-in that ends elsewhere fails.
        proxy: what the way leads through.
        domains: below which the host may refer us to others, `.example.com`; to nowhere else.
        login_timeout: time limit of a log-in; None for the usual one.
        statement_timeout: time limit of statements; None for the process's, which is never exceeded.
        query_tag: what is added to the tag of every statement; empty for nothing.
        parameters: further session parameters by name.
        context: what the session has of its own, whoever logs in.
        revision: what the settings were read from, the versions of ProviderConfig and Secret; makes no other settings.
        as_of: monotonic time at which they were read, neither.
    """

    provider: str
    account: str
    host: str
    port: int
    user: str | None
    role: str | None
    warehouse: str | None
    credential: Credential
    ca_bundle: str | None = None
    account_key: str | None = None
    proxy: Proxy | None = None
    domains: tuple[str, ...] = ()
    login_timeout: timedelta | None = None
    statement_timeout: timedelta | None = None
    query_tag: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    context: SessionContext = SessionContext()
    revision: str = field(default="", compare=False)
    as_of: float = field(default=0.0, compare=False)

    def acting_as(self, role: str | None) -> Self:
        """The same log-in for another role; None leaves the role as it is."""
        return self if role is None else replace(self, role=role)

    def within(self, context: SessionContext) -> Self:
        """The same log-in for a session with a context of its own."""
        return replace(self, context=context)

    def without_role(self) -> Self:
        """The log-in itself, whatever role acts, and in which context."""
        return replace(self, role=None, context=SessionContext())

    def same_login(self, other: Self) -> bool:
        """Whether both differ in nothing but role and context."""
        return self.without_role() == other.without_role()


def settings_from(
    spec: ProviderConfigSpec,
    *,
    namespace: str,
    name: str,
    secret: Mapping[str, bytes] | None,
    policy: LoginPolicy,
    account_key: str | None = None,
    revision: str = "",
    as_of: float = 0.0,
) -> ConnectionSettings:
    """The settings that a ProviderConfig describes.

    Args:
        spec: its spec.
        namespace: its namespace, which is its Secret's too.
        name: its name.
        secret: data of the Secret that it refers to; None when there is no such Secret.
        policy: what the installation lets it do.
        account_key: `status.account.key`, once verified.
        revision: as `ConnectionSettings` has it.
        as_of: likewise.

    Raises:
        ConfigurationError: one of its subclasses; nothing may be sent.
    """
    if forbidden := login_policy.check(policy, namespace, spec):
        raise _REFUSALS[forbidden.reason](forbidden.message)
    host, port = login_policy.address(spec)
    values = secret_values.SecretValues(namespace, secret)
    return ConnectionSettings(
        provider=f"{namespace}/{name}",
        account=login_policy.account_name(spec),
        host=host,
        port=port,
        user=spec.user,
        role=spec.role,
        warehouse=spec.warehouse,
        credential=secret_values.credential(spec, values, policy),
        ca_bundle=_checked_bundle(spec.ca_bundle),
        account_key=account_key,
        proxy=_proxy(spec, values),
        domains=tuple(hosts.domains(policy.allowed_hosts)),
        login_timeout=_seconds(spec.login_timeout_seconds),
        statement_timeout=_seconds(spec.request_timeout_seconds),
        query_tag=spec.query_tag or "",
        parameters=_checked_parameters(spec.session_parameters or {}),
        revision=revision,
        as_of=as_of,
    )


def _proxy(spec: ProviderConfigSpec, values: secret_values.SecretValues) -> Proxy | None:
    given = spec.proxy
    if given is None:
        return None
    user, password = None, ""
    if given.credentials_ref:
        user, colon, password = values.text(given.credentials_ref).partition(":")
        if not colon:
            source = values.source(given.credentials_ref)
            raise ConfigurationError(f"{source}: the value isn't USER:PASSWORD, as the proxy needs it")
    return Proxy(given.protocol, given.host, given.port, user, password, given.no_proxy or "")


def _seconds(number: int | None) -> timedelta | None:
    return None if number is None else timedelta(seconds=number)


def _checked_parameters(parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if refused := session_parameters.refused(parameters):
        raise ConfigurationError(
            f"spec.sessionParameters: Freehold sets or relies on {', '.join(refused)}: remove that"
        )
    return tuple(sorted(parameters.items()))


def _checked_bundle(bundle: str | None) -> str | None:
    if bundle is not None:
        try:
            x509.load_pem_x509_certificates(bundle.encode())
        except ValueError as error:
            raise ConfigurationError("spec.caBundle holds no certificate in PEM form that can be read") from error
    return bundle
