"""The limits of accounts, as the ProviderConfigs that were verified for them set them; a change holds at once."""

from __future__ import annotations

from collections import defaultdict

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
        for each in filter(None, (before, after)):
            if account := (each.status.get("account") or {}).get("key"):
                self._given[account].pop(each.key, None)
                if each is after:
                    self._given[account][each.key] = _budget(each)
                self._tell(account)

    def _tell(self, account: str) -> None:
        given = self._given[account]
        self._budgets.limit(account, strictest(given.values()) if given else None)
        if not given:
            del self._given[account]


def _budget(config: Object) -> Budget | None:
    """What a ProviderConfig says; nothing where it can't be read, and so isn't used for anything."""
    try:
        return Budget.model_validate(config.spec.get("budget") or {})
    except ValidationError:
        return None
