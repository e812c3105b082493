"""The cluster that a command asks: how it is reached, and what to do when it gives no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import typer
from kubernetes_asyncio.config import ConfigException
from pydantic import ValidationError

from freehold.cli import console
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, Forbidden, NotServed, Unauthorized
from freehold.kube.objects import Object

T = TypeVar("T")

Context = Annotated[str | None, typer.Option(help="Context of the kubeconfig; by default its current one.")]

_REMEDIES: tuple[tuple[type[ApiError], str], ...] = (
    (
        Forbidden,
        "ask who runs the cluster for that right; the ClusterRole freehold-claims-view lets claims be read",
    ),
    (Unauthorized, "log in to the cluster again"),
    (
        NotServed,
        "Freehold isn't installed here: install it, or name another --context",
    ),
    (ApiError, "see whether kubectl reaches it, and name another --context or $KUBECONFIG if it is the wrong one"),
)


def ask(
    question: Callable[[Kube], Coroutine[Any, Any, T]],
    context: str | None,
    *,
    passing: type[ApiError] | tuple[()] = (),
    code: int = console.USAGE,
) -> T:
    """Ask the cluster.

    Args:
        question: what is asked.
        context: of the kubeconfig; None for its current one.
        passing: an error that is raised as it is.
        code: exit code where there is no answer.

    Raises:
        Exit: there is no answer, and the person has been told why.
    """

    async def session() -> T:
        async with Kube.from_environment(context) as kube:
            return await question(kube)

    try:
        return asyncio.run(session())
    except passing:
        raise
    except ConfigException as error:
        raise console.fail(f"{error}: set $KUBECONFIG, or name a --context that it has", code) from error
    except ApiError as error:
        remedy = next(remedy for kind, remedy in _REMEDIES if isinstance(error, kind))
        raise console.fail(f"{error}: {remedy}", code) from error
    except ValidationError as error:
        raise console.fail(
            "this release can't read the claims of a newer one: use that of the cluster", code
        ) from error


class Snapshot:
    """Resources as of one moment or another of a command: each type is listed once a namespace, instead of one GET a
    resource. Good enough to show, never to decide."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._lists: dict[tuple[GroupResource, str], asyncio.Task[dict[str, Object]]] = {}

    async def get(self, path: GroupResource, namespace: str, name: str) -> Object | None:
        """As `freehold.resolve.Get` says."""
        key = path, namespace
        if key not in self._lists:
            self._lists[key] = asyncio.create_task(self._list(*key))
        return (await self._lists[key]).get(name)

    async def _list(self, path: GroupResource, namespace: str) -> dict[str, Object]:
        return {each.name: each async for page in self._kube.list(path, namespace) for each in page.objects}
