from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import aiohttp
import pytest

from freehold import logs
from freehold.metrics import serve_health


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


def written(form: logs.Format) -> str:
    stream = io.StringIO()
    logs.configure("info", form, stream)
    log = logging.getLogger("test")
    with logs.about(kind="Database", resource="d"):
        log.debug("not kept")
        log.info("done in %d s", 3, extra={"rows": 2})
    log.info("about nothing")
    return stream.getvalue()


@pytest.mark.usefixtures("root")
def test_json_records_carry_what_they_are_about() -> None:
    first, second = [json.loads(line) for line in written(logs.Format.JSON).splitlines()]
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "info",
        "logger": "test",
        "message": "done in 3 s",
        "kind": "Database",
        "resource": "d",
        "rows": 2,
    }
    assert "kind" not in second


@pytest.mark.usefixtures("root")
def test_text_records_carry_what_they_are_about() -> None:
    first, second = written(logs.Format.TEXT).splitlines()
    assert first.endswith(" INFO    test: done in 3 s rows=2 kind=Database resource=d")
    assert second.endswith(" test: about nothing")


async def test_probes_say_what_is_wrong_and_metrics_are_served() -> None:
    wrong = {"ready": "not listed yet: secrets"}
    async with (
        serve_health(0, alive=lambda: None, ready=lambda: wrong.get("ready"), host="127.0.0.1") as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
    ):

        async def get(path: str) -> tuple[int, str]:
            async with session.get(path) as response:
                return response.status, await response.text()

        assert await get("/healthz") == (200, "ok\n")
        assert await get("/readyz") == (503, "not listed yet: secrets\n")
        wrong.clear()
        assert await get("/readyz") == (200, "ok\n")
        status, text = await get("/metrics")
        assert (status, "freehold_kubernetes_requests_total" in text) == (200, True)
