from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from tests.unit.kube.script import Script, client_of

from freehold.kube.client import Kube


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def kube(script: Script) -> AsyncIterator[Kube]:
    async with client_of(script.handle) as kube:
        yield kube


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Delays between attempts take no time; answers with those that were asked for."""
    asked: list[float] = []
    sleep = asyncio.sleep

    async def record(delay: float) -> None:
        asked.append(delay)
        await sleep(0)

    monkeypatch.setattr("freehold.kube.client.asyncio.sleep", record)
    return asked


@pytest.fixture
def unused_tcp_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
