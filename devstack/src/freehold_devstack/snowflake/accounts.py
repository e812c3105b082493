"""One account of an endpoint: who it is, what it holds and who may log in."""

from freehold_devstack.snowflake.auth.authenticator import Authenticator
from freehold_devstack.snowflake.auth.issuers import Issuers
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.seed import SeedAccount


class UnknownNameError(KeyError):
    """There is no account, user or role of this name."""


class Account:
    """An account that still is empty.

    Args:
        seed: What it is called, and what governs its log-ins.
        issuers: Whose signatures can be checked.
    """

    def __init__(self, seed: SeedAccount, issuers: Issuers) -> None:
        self.identity = seed.identity()
        self.catalog = Catalog()
        self.authenticator = Authenticator(
            self.identity,
            self.catalog,
            integrations=[each.integration() for each in seed.external_oauth],
            issuers=issuers,
            policy=seed.policy,
        )

    def is_called(self, name: str) -> bool:
        """Whether clients mean this account, in whatever case."""
        return name.upper() in self.identity.names

    def clashes(self, other: "Account") -> bool:
        """Whether the two have a name in common."""
        return self.identity.name == other.identity.name or not self.identity.names.isdisjoint(other.identity.names)

    def role(self, name: str) -> CatalogObject:
        """A role by its name.

        Raises:
            UnknownNameError: There is none.
        """
        return self._find("ROLE", name)

    def user(self, name: str) -> CatalogObject:
        """A user by its name; raises as `role`."""
        return self._find("USER", name)

    def _find(self, kind: str, name: str) -> CatalogObject:
        found = self.catalog.find(kind, name)
        if found is None:
            raise UnknownNameError(f"{kind.lower()} {name}")
        return found
