"""What a resource takes from Secrets: it must be there before anything is sent, and is put into its spec."""

from __future__ import annotations

from dataclasses import replace

from freehold.kinds.references import secrets_of, with_secrets
from freehold.kinds.secret_inputs import SecretInput, SecretKeyReference, secret_input
from freehold.snowflake.errors import ConfigurationError
from freehold.snowflake.secret_values import SecretValues
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.references import unresolved
from freehold_controllers.reconciler.secret import Secrets


async def resolved(managed: Managed, secrets: Secrets) -> Managed:
    """The resource with values in place of its references to Secrets. It is woken when one of them changes.

    Args:
        managed: the resource.
        secrets: reads Secrets.

    Raises:
        Stopped: a Secret or a key isn't there, or can't be used; what was applied before stays as it is.
        ApiError: there is no answer.
    """
    values = {each: await _value(managed, secrets, each) for each in secrets_of(managed.spec)}
    if not values:
        return managed
    try:
        return replace(managed, spec=with_secrets(managed.spec, values))
    except ValueError as error:
        raise unresolved(str(error)) from None


async def _value(managed: Managed, secrets: Secrets, reference: SecretKeyReference) -> SecretInput:
    namespace = managed.object.namespace
    try:
        found = await secrets.read(managed.key, namespace, reference.name)
        text = SecretValues(namespace, found.data).text(reference)
    except ConfigurationError as error:
        raise unresolved(str(error)) from None
    return secret_input(reference, text, found.head.uid if found.head else "")
