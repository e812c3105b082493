"""The limits of accounts, as the ProviderConfigs that were verified for them set them; a change holds at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pydantic import ValidationError

from freehold.kinds.account.providerconfig import Budget
from freehold.kube.objects import Key, Object
from freehold.snowflake.budget import Budgets, strictest


class AccountLimits:
    """Which ProviderConfigs there are for an account, and what they say of its budget."""

    def __init__(self, budgets: Budgets) -> None:
        """
        Args:
            budgets: are told.
        """
        self._budgets = budgets
        self._given: defaultdict[str, dict[Key, Budget | None]] = defaultdict(dict)

    def note(self, before: Object | None, after: Object | None) -> None:
        """Take a change of a ProviderConfig in."""
        was, now = _account(before), _account(after)
        if before is not None and was is not None:
            self._given[was].pop(before.key, None)
        if after is not None and now is not None:
            self._given[now][after.key] = _budget(after)
        # Not before: an account without any for a moment would lose its line, and begin another beside it.
        for account in filter(None, {was, now}):
            self._tell(account)

    def _tell(self, account: str) -> None:
        given = self._given[account]
        self._budgets.limit(account, strictest(given.values()) if given else None)
        if not given:
            del self._given[account]


def _account(config: Object | None) -> str | None:
    """Key of the account that a ProviderConfig was verified for."""
    proven: Mapping[str, str] = (config.status.get("account") if config is not None else None) or {}
    return proven.get("key")


def _budget(config: Object) -> Budget | None:
    """What a ProviderConfig says; nothing where it can't be read, and so isn't used for anything."""
    try:
        return Budget.model_validate(config.spec.get("budget") or {})
    except ValidationError:
        return None
