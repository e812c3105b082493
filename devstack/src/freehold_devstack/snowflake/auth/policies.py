"""What may forbid a log-in although the credentials are good: authentication policies and network policies."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from freehold_devstack.snowflake.auth import login as words
from freehold_devstack.snowflake.auth.login import Login
from freehold_devstack.snowflake.errors import LoginError

Method = Literal["ALL", "KEYPAIR", "OAUTH", "PASSWORD", "PROGRAMMATIC_ACCESS_TOKEN", "WORKLOAD_IDENTITY"]
"""How an authentication policy calls the ways to log in, as far as drivers without a browser have them."""

NetworkPolicyEvaluation = Literal["ENFORCED_REQUIRED", "ENFORCED_NOT_REQUIRED", "NOT_ENFORCED"]
"""Whether log-ins by programmatic access token need a network policy, and whether they are held to it."""

METHODS: dict[str, Method] = {
    words.PASSWORD: "PASSWORD",
    words.KEY_PAIR: "KEYPAIR",
    words.ACCESS_TOKEN: "PROGRAMMATIC_ACCESS_TOKEN",
    words.OAUTH: "OAUTH",
    words.WORKLOAD_IDENTITY: "WORKLOAD_IDENTITY",
}
"""The driver's words to the policy's."""


@dataclass(frozen=True)
class LoginPolicy:
    """What governs the log-ins of one user.

    Attributes:
        methods: The ways that are admitted.
        admits: Tells whether a client at an address is let in; None without a network policy.
    """

    methods: frozenset[Method] = frozenset({"ALL"})
    admits: Callable[[str], bool] | None = None
    access_tokens: NetworkPolicyEvaluation = field(default="ENFORCED_REQUIRED")

    def check(self, login: Login) -> None:
        """Admit a log-in.

        Raises:
            LoginError: 390202 by the authentication policy, 390420 by the network policy, 390432 for an access token
                without one.
        """
        method = METHODS[login.authenticator]
        if self.methods.isdisjoint({"ALL", method}):
            raise LoginError(390202, "Authentication attempt rejected by the current authentication policy.")
        by_token = login.authenticator == words.ACCESS_TOKEN
        if self.admits is None and by_token and self.access_tokens == "ENFORCED_REQUIRED":
            raise LoginError(390432, "Fail : Network policy is required.")
        self.check_address(login.authenticator, login.address)

    def check_address(self, authenticator: str, address: str) -> None:
        """Admit a request from an address, in a session that was logged in to in this way.

        Raises:
            LoginError: 390420 by the network policy.
        """
        if self.admits is None or (authenticator == words.ACCESS_TOKEN and self.access_tokens == "NOT_ENFORCED"):
            return
        if not self.admits(address):
            raise LoginError(
                390420, f"IP {address} is not allowed to access Snowflake. Contact your local security administrator."
            )
