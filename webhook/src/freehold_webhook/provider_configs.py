"""The decision about a ProviderConfig: whether it may lead where it does."""

from __future__ import annotations

from pydantic import ValidationError

from freehold import confirmation, login_policy, permissions
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.kube.objects import Object
from freehold.login_policy import LoginPolicy
from freehold_webhook.review import ALLOWED, Cause, Verdict, denied


def decide(policy: LoginPolicy, namespace: str, new: Object, old: Object | None) -> Verdict:
    """Decide about a ProviderConfig that is created or updated.

    Args:
        policy: what the installation allows.
        namespace: of the ProviderConfig.
        new: as it is to be.
        old: as it was; None when it is created.

    Raises:
        ValidationError: this release can't read it.
    """
    spec = new.parsed(ProviderConfigSpec)
    if forbidden := login_policy.check(policy, namespace, spec):
        if old is None or forbidden != _forbidden_before(policy, namespace, old):
            return denied(Cause(forbidden.reason), forbidden.message)
        # It was so before: whoever mends it step by step must not be held up.
        return ALLOWED.warn(forbidden.message, *permissions.advice(spec))
    unread = filter(None, (confirmation.fault(new.annotations),))
    return ALLOWED.warn(*permissions.advice(spec), *unread)


def _forbidden_before(policy: LoginPolicy, namespace: str, old: Object) -> login_policy.Forbidden | None:
    try:
        return login_policy.check(policy, namespace, old.parsed(ProviderConfigSpec))
    except ValidationError:
        return None
