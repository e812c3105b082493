"""The process `freehold-account`."""

from __future__ import annotations

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Domain
from freehold_controllers.account.providerconfig import ProviderConfigs
from freehold_controllers.controller import start


def main() -> None:
    """Entry point."""
    start(Domain.ACCOUNT, {PROVIDER_CONFIG.path: ProviderConfigs}, sweeps=True)
