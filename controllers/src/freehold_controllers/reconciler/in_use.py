"""What a ProviderConfig logs in with stays until nothing needs it: its Secret, and the RoleBinding by which it is read.

When a whole namespace is deleted, both would otherwise be gone before the objects that need the log-in to be dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG, ProviderConfigStatus
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.errors import Forbidden, NotFound
from freehold.kube.objects import ROLE_BINDINGS, SECRETS, Object
from freehold_controllers.reconciler import finalizer, status
from freehold_controllers.reconciler.secret import BINDING, Secret, secret_of


class NotHeld(Exception):
    """Something can't be held, or can't be let go; for people."""


class InUse:
    """Holds and releases for all ProviderConfigs, one at a time: of two that go together the second must find the first
    one gone, or neither would release what they share.

    That is so within a process, and one process alone is active in the account domain.
    """

    def __init__(self, kube: Kube, manager: str, installation: str) -> None:
        """
        Args:
            kube: client.
            manager: field manager.
            installation: namespace of the installation. The RoleBinding there comes and goes with the chart, and when
                that goes nobody is left to release it.
        """
        self._kube = kube
        self._manager = manager
        self._installation = installation
        self._one_at_a_time = asyncio.Lock()

    async def hold(self, config: Object, secret: Secret) -> tuple[Object, Secret]:
        """Hold what a ProviderConfig logs in with, and release the Secret that it logged in with earlier.

        Returns:
            Both as they are now.

        Raises:
            NotHeld: the rights or the RoleBinding are missing; all works without, until the namespace is deleted.
            ApiError: the API server doesn't let us.
        """
        async with self._one_at_a_time:
            wanted = secret.head.name if secret.head else None
            before = status_of(config).held_secret
            if before not in (None, wanted):
                config = await self._release_secret(config, before)
            if secret.head is None:
                return config, secret
            await self._hold_binding(config.namespace)
            # Its name before itself: a crash in between leaves nothing that is held and not known to be.
            config = await self._remember(config, wanted)
            return config, await self._hold_secret(secret, secret.head)

    async def let_go(self, config: Object) -> None:
        """Release all that a ProviderConfig holds, and at last the ProviderConfig itself, by which we come back here
        after a crash.

        Raises:
            NotHeld: the rights to release the Secret are missing.
            ApiError: the API server doesn't let us.
        """
        async with self._one_at_a_time:
            if held := status_of(config).held_secret:
                config = await self._release_secret(config, held)
            # After the Secret: without the RoleBinding we can't release that.
            if not any(map(secret_of, await self._others(config))):
                await self._release_binding(config.namespace)
            await finalizer.remove(self._kube, PROVIDER_CONFIG.path, config, self._manager)

    async def _hold_binding(self, namespace: str) -> None:
        if namespace == self._installation:
            return
        try:
            binding = await self._kube.get(ROLE_BINDINGS, BINDING, namespace)
            if binding.deleting and finalizer.IN_USE not in binding.finalizers:
                raise NotHeld(f"RoleBinding {BINDING} is being deleted")
            await finalizer.add(self._kube, ROLE_BINDINGS, binding, self._manager, finalizer.IN_USE)
        except NotFound as error:
            raise NotHeld(f"there is no RoleBinding {BINDING}") from error
        except Forbidden as error:
            raise NotHeld(f"Freehold may not change RoleBinding {BINDING}: {error.message}") from error

    async def _hold_secret(self, secret: Secret, head: Object) -> Secret:
        if head.deleting and finalizer.IN_USE not in head.finalizers:
            raise NotHeld(f"Secret {head.name} is being deleted")
        try:
            held = await finalizer.add(self._kube, SECRETS, head, self._manager, finalizer.IN_USE)
        except Forbidden as error:
            raise NotHeld(f"Freehold may not change Secret {head.name}: {error.message}") from error
        # The version is our own doing, and the values are still those that were read.
        return Secret(held.resource_version, secret.data, head)

    async def _release_secret(self, config: Object, name: str) -> Object:
        if name not in map(secret_of, await self._others(config)):
            try:
                await self._release(SECRETS, name, config.namespace)
            except Forbidden as error:
                raise NotHeld(
                    f"Freehold may not release Secret {name}: bind ClusterRole {BINDING} again by a RoleBinding "
                    f"{BINDING}, or remove the Secret's finalizer {finalizer.IN_USE} by hand"
                ) from error
        return await self._remember(config, None)

    async def _release_binding(self, namespace: str) -> None:
        try:
            await self._release(ROLE_BINDINGS, BINDING, namespace)
        except Forbidden:
            # The right comes by the RoleBinding itself: without it there is nothing to release.
            return

    async def _release(self, path: GroupResource, name: str, namespace: str) -> None:
        try:
            found = await self._kube.get(path, name, namespace)
            await finalizer.remove(self._kube, path, found, self._manager, finalizer.IN_USE)
        except NotFound:
            return

    async def _others(self, config: Object) -> Sequence[Object]:
        """The other ProviderConfigs of the namespace, on a live read: what is released is not held again in time."""
        pages = self._kube.list(PROVIDER_CONFIG.path, config.namespace)
        return [each async for page in pages for each in page.objects if each.name != config.name]

    async def _remember(self, config: Object, name: str | None) -> Object:
        new = status_of(config).model_copy(update={"held_secret": name})
        return await status.write(self._kube, PROVIDER_CONFIG.path, config, new, self._manager)


def status_of(config: Object) -> ProviderConfigStatus:
    """The status of a ProviderConfig; empty where it can't be read."""
    try:
        return ProviderConfigStatus.model_validate(config.status)
    except ValueError:
        return ProviderConfigStatus()
