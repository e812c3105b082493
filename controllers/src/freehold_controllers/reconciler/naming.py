"""From a resource to what it stands for, as far as its ProviderConfig lets it: names, permissions, account."""

from __future__ import annotations

from collections.abc import Mapping

from freehold import permissions
from freehold.identifiers import InvalidName
from freehold.identity import Identity
from freehold.kube.objects import NAMESPACES
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.resolve import Provider, Resolved, Unresolved, resolve
from freehold_controllers.reconciler import references
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.reconciler.services import Services


async def resolved(services: Services, managed: Managed) -> Resolved:
    """What a resource stands for.

    Raises:
        Stopped: something that its names depend on isn't there, or it asks for what it may not have.
    """
    get = services.get_for(managed.key)
    try:
        outcome = await resolve(managed.kind, managed.object.namespace, managed.spec, get)
    except InvalidName as error:
        raise Stopped(Stop(Reason.VALIDATION_FAILED, str(error))) from error
    # First, since not even the absence is told of what may not be referred to.
    if outcome.provider is not None:
        await _require_permission(services, managed, outcome.provider, outcome)
    if isinstance(outcome, Unresolved):
        raise references.unresolved(str(outcome))
    return outcome


async def _require_permission(
    services: Services, managed: Managed, provider: Provider, outcome: Resolved | Unresolved
) -> None:
    """What admission asks, too; it may be off, and the ProviderConfig may have changed since."""
    namespace = managed.object.namespace
    labels: Mapping[str, str] = {}
    if provider.spec.allowed_namespace_selector is not None:
        found = await services.get_for(managed.key)(NAMESPACES, "", namespace)
        labels = found.labels if found else {}
    names = outcome.names if isinstance(outcome, Resolved) else ()
    if denied := permissions.check(
        provider.spec,
        (provider.namespace, provider.name),
        permissions.Usage.of(managed.kind, namespace, labels, managed.spec, names),
        allowed_privileged_roles=services.allowed_privileged_roles,
    ):
        raise Stopped(Stop(Reason(denied.reason), denied.message))


def identities(found: Resolved, login: Login) -> tuple[Identity, ...]:
    """What a resource stands for in the account that statements go to.

    Raises:
        Stopped: the ProviderConfig has changed since the log-in.
    """
    provider = f"ProviderConfig {found.provider.namespace}/{found.provider.name}"
    if not found.identities:
        message = f"{provider} has no proven account any more"
        raise Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, passing=True))
    (account,) = {each.account for each in found.identities}
    if account != login.account.key:
        message = f"{provider} leads to {account} now, the log-in to {login.account.key}"
        raise Stopped(Stop(Reason.ACCOUNT_CHANGED, message, soon=True))
    return found.identities
