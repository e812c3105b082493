"""The Secrets that resources name, each watched on its own: no other Secret is ever read."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from freehold.kinds.account.authentication import secret_name
from freehold.kube.errors import ApiError, Forbidden
from freehold.kube.objects import SECRETS, Key, Object
from freehold.kube.reflector import Reflector
from freehold.snowflake.errors import SecretNotFound
from freehold_controllers.reconciler.following import Following
from freehold_controllers.runtime.process import Process
from freehold_controllers.runtime.watches import Wake, Watch

BINDING = "freehold-secrets"
"""Name of the RoleBinding by which a namespace lets its Secrets be read, and of the ClusterRole that it binds."""

_PATIENCE = 10.0
"""Seconds that the first answer about a Secret may take."""

Name = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A Secret as it is now.

    Attributes:
        version: its resourceVersion.
        data: values by key; None when there is no such Secret.
        head: its metadata alone; None likewise.
    """

    version: str | None
    data: Mapping[str, bytes] | None = field(repr=False)
    head: Object | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class _Watched:
    reflector: Reflector
    refused: asyncio.Event


class Secrets:
    """Named Secrets, live from the first time that each is asked for."""

    def __init__(self, process: Process, following: Following) -> None:
        """
        Args:
            process: runs the watches.
            following: knows whom a change wakes.
        """
        self._process = process
        self._following = following
        self._watched: dict[Name, _Watched] = {}

    async def read(self, asker: Key, namespace: str, name: str) -> Secret:
        """A Secret; whoever asks is woken when it changes.

        Raises:
            SecretNotFound: Freehold may not read it.
            ApiError: there is no answer.
        """
        self._following.follow(asker, Key(SECRETS.kind, namespace, name))
        watched = self._watched.get((namespace, name)) or self._watch(namespace, name)
        await _answer(watched)
        failure = watched.reflector.failure
        if isinstance(failure, Forbidden):
            raise SecretNotFound(
                f"Freehold may not read Secret {namespace}/{name}: bind the ClusterRole {BINDING} to the "
                f"service accounts of its controllers by a RoleBinding {BINDING} in namespace {namespace}"
            )
        if not watched.reflector.synced.is_set():
            raise failure or ApiError(0, "", f"Secret {namespace}/{name}: the API server doesn't answer")
        found = watched.reflector.store.get((namespace, name))
        if found is None:
            return Secret(None, None)
        return Secret(found.resource_version, _decoded(found), Object({"metadata": found.metadata}))

    def _watch(self, namespace: str, name: str) -> _Watched:
        self._unwatch_unused()
        refused = asyncio.Event()
        topic = Object({"kind": SECRETS.kind, "metadata": {"namespace": namespace, "name": name}})

        def fails(failure: ApiError | None) -> Iterable[Wake]:
            refused.set() if failure else refused.clear()
            return self._following.wakes(topic, None)

        watch = Watch(
            SECRETS,
            wakes=self._following.wakes,
            fails=fails,
            namespace=namespace,
            field_selector=f"metadata.name={name}",
        )
        self._watched[namespace, name] = watched = _Watched(self._process.watch(watch), refused)
        return watched

    def _unwatch_unused(self) -> None:
        for each in list(self._watched):
            if not self._following.followed(Key(SECRETS.kind, *each)):
                self._process.unwatch(self._watched.pop(each).reflector)


def secret_of(config: Object) -> str:
    """Name of the Secret that a ProviderConfig logs in with; empty where it needs none."""
    return secret_name(config.spec)


async def _answer(watched: _Watched) -> None:
    """Wait until the Secret was listed or refused for the first time."""
    if watched.reflector.synced.is_set():
        return
    waiting = [asyncio.create_task(each.wait()) for each in (watched.reflector.synced, watched.refused)]
    await asyncio.wait(waiting, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()


def _decoded(found: Object) -> dict[str, bytes]:
    return {key: base64.b64decode(value) for key, value in (found.raw.get("data") or {}).items()}
