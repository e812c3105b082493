from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from freehold.kube.client import Kube
from tests.unit.kube.script import Script, client_of


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
        if delay:
            asked.append(delay)
        await sleep(0)

    monkeypatch.setattr("freehold.kube.transport.asyncio.sleep", record)
    return asked
