"""The client: what is repeated and what isn't, errors, credentials, the server's clock."""

from __future__ import annotations

import asyncio
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException

from freehold.kinds.resource import GroupResource
from freehold.kube import errors
from freehold.kube.client import Kube
from freehold.kube.connection import proxy
from freehold.kube.objects import NAMESPACES, SECRETS, Object
from freehold.kube.transport import ATTEMPTS
from tests.unit.kube.script import Answer, Script, client_of, cut, listed, refuse, reply, secret, watched

pytestmark = pytest.mark.usefixtures("no_waiting")


async def test_objects_of_a_list_say_what_they_are(kube: Kube, script: Script) -> None:
    script.then(listed(secret("a", "1"), version="5", more="token"), listed(secret("b", "2"), version="5"))
    pages = [page async for page in kube.list(SECRETS, label_selector="x=y")]
    assert [str(each.key) for page in pages for each in page.objects] == ["Secret n/a", "Secret n/b"]
    assert [page.resource_version for page in pages] == ["5", "5"]
    assert dict(script.requests[1].query) == {"labelSelector": "x=y", "limit": "500", "continue": "token"}


@pytest.mark.parametrize(
    ("path", "namespace", "expected"),
    [
        (SECRETS, "n", "/api/v1/namespaces/n/secrets/a%2Fb"),
        (NAMESPACES, None, "/api/v1/namespaces/a%2Fb"),
        (GroupResource("g.dev", "v1", "things", "Thing"), "n", "/apis/g.dev/v1/namespaces/n/things/a%2Fb"),
    ],
)
async def test_paths_follow_the_api(
    kube: Kube, script: Script, path: GroupResource, namespace: str | None, expected: str
) -> None:
    script.then(reply(secret("a", "1")))
    await kube.get(path, "a/b", namespace)
    assert script.requests[0].raw_path == expected


async def test_writes_carry_their_options(kube: Kube, script: Script) -> None:
    script.then(*[reply(secret("a", "1"))] * 5)
    await kube.create(SECRETS, secret("a", "1"), "n", dry_run=True, field_manager="me")
    await kube.replace(SECRETS, secret("a", "1"))
    await kube.apply(SECRETS, "a", "n", {}, field_manager="me", subresource="status")
    await kube.patch(SECRETS, "a", "n", {"x": None})
    await kube.delete(SECRETS, "a", "n", uid="u", resource_version="1")
    seen = [(each.method, each.raw_path, each.content_type) for each in script.requests]
    assert seen == [
        ("POST", "/api/v1/namespaces/n/secrets?dryRun=All&fieldManager=me", "application/json"),
        ("PUT", "/api/v1/namespaces/n/secrets/a", "application/json"),
        (
            "PATCH",
            "/api/v1/namespaces/n/secrets/a/status?fieldManager=me&force=true",
            "application/apply-patch+yaml",
        ),
        ("PATCH", "/api/v1/namespaces/n/secrets/a", "application/merge-patch+json"),
        ("DELETE", "/api/v1/namespaces/n/secrets/a", "application/json"),
    ]
    options = json.loads(await script.requests[4].text())
    assert options["preconditions"] == {"uid": "u", "resourceVersion": "1"}


async def test_a_replacement_without_a_version_is_refused(kube: Kube) -> None:
    with pytest.raises(ValueError, match="resourceVersion"):
        await kube.replace(SECRETS, {"metadata": {"name": "a", "namespace": "n"}})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (refuse(401, "Unauthorized"), errors.Unauthorized),
        (refuse(403, "Forbidden"), errors.Forbidden),
        (refuse(404, "NotFound"), errors.NotFound),
        (reply("404 page not found", 404), errors.NotServed),
        (refuse(409, "AlreadyExists"), errors.AlreadyExists),
        (refuse(409, "Conflict"), errors.Conflict),
        (refuse(410, "Expired"), errors.Gone),
        (refuse(422, "Invalid"), errors.Invalid),
        (refuse(429, "TooManyRequests"), errors.TooManyRequests),
        (refuse(500, "InternalError"), errors.Unavailable),
        (cut, errors.Unavailable),
    ],
)
async def test_each_refusal_is_its_own_error(
    kube: Kube, script: Script, answer: Answer, expected: type[errors.ApiError]
) -> None:
    # aiohttp itself repeats what may be repeated, once, when a connection is cut.
    script.then(*[answer] * 2 * ATTEMPTS)
    with pytest.raises(errors.ApiError) as caught:
        await kube.get(SECRETS, "a", "n")
    assert type(caught.value) is expected


async def test_what_was_not_handled_is_asked_again_after_the_time_that_the_server_names(
    kube: Kube, script: Script, no_waiting: list[float]
) -> None:
    busy = {"Retry-After": "7"}
    script.then(refuse(429, "TooManyRequests", busy), refuse(503, "ServiceUnavailable", busy), reply(secret("a", "1")))
    await kube.create(SECRETS, secret("a", "1"), "n")
    assert no_waiting == [7.0, 7.0]


async def test_a_server_that_asks_for_minutes_is_the_callers_to_wait_for(kube: Kube, script: Script) -> None:
    script.then(refuse(429, "TooManyRequests", {"Retry-After": "120"}))
    with pytest.raises(errors.TooManyRequests) as caught:
        await kube.get(SECRETS, "a", "n")
    assert caught.value.retry_after == 120


@pytest.mark.parametrize("answer", [cut, refuse(500, "InternalError")])
async def test_a_read_is_repeated_and_a_write_of_unknown_outcome_is_not(
    kube: Kube, script: Script, answer: Answer
) -> None:
    script.then(answer)
    with pytest.raises(errors.Unavailable):
        await kube.create(SECRETS, secret("a", "1"), "n")
    script.then(answer, reply(secret("a", "1")))
    await kube.get(SECRETS, "a", "n")
    assert script.asked == ["POST", "GET", "GET"]


async def test_a_refused_connection_is_tried_again_even_for_writes(unused_tcp_port: int) -> None:
    async def nowhere(configuration: Configuration) -> None:
        configuration.host = f"http://127.0.0.1:{unused_tcp_port}"

    async with Kube(nowhere) as kube:
        with pytest.raises(errors.Unavailable) as caught:
            await kube.create(SECRETS, secret("a", "1"), "n")
    assert caught.value.unsent


async def test_a_rotated_token_is_read_again_after_one_refusal() -> None:
    tokens = ["Bearer old", "Bearer new"]
    seen: list[str] = []

    def load(configuration: Configuration) -> None:
        configuration.api_key["BearerToken"] = tokens.pop(0)

    async def only_new(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers["Authorization"])
        answer = reply(secret("a", "1")) if seen[-1] == "Bearer new" else refuse(401, "Unauthorized")
        return await answer(request)

    async with client_of(only_new, load) as kube:
        await kube.get(SECRETS, "a", "n")
        await asyncio.gather(*(kube.get(SECRETS, "a", "n") for _ in range(5)))
    assert seen == ["Bearer old"] + ["Bearer new"] * 6


async def test_what_netrc_says_of_a_host_is_not_our_token(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("default login somebody password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    script.then(reply(secret("a", "1")))

    def load(configuration: Configuration) -> None:
        configuration.api_key["BearerToken"] = "Bearer token"

    async with client_of(script.handle, load) as kube:
        await kube.get(SECRETS, "a", "n")
    assert script.requests[0].headers["Authorization"] == "Bearer token"


@pytest.mark.parametrize(
    ("configured", "bypass", "expected"),
    [
        (None, "example.org", "http://environment.invalid"),
        (None, "example.com", None),
        ("http://kubeconfig.invalid", "example.org", "http://kubeconfig.invalid"),
        ("http://kubeconfig.invalid", "example.com", "http://kubeconfig.invalid"),
    ],
)
def test_the_proxy_is_the_kubeconfigs_else_the_environments(
    monkeypatch: pytest.MonkeyPatch, configured: str | None, bypass: str, expected: str | None
) -> None:
    monkeypatch.setenv("https_proxy", "http://environment.invalid")
    monkeypatch.setenv("no_proxy", bypass)
    configuration = Configuration()
    configuration.host, configuration.proxy = "https://api.example.com:6443", configured
    assert proxy(configuration) == expected


async def test_requests_go_through_the_proxy(script: Script) -> None:
    script.then(reply(secret("a", "1")))

    def behind(configuration: Configuration) -> None:
        configuration.proxy, configuration.host = configuration.host, "http://api.invalid"

    async with client_of(script.handle, behind) as kube:
        await kube.get(SECRETS, "a", "n")
    assert script.requests[0].headers["Host"] == "api.invalid"


async def test_a_kubeconfig_that_is_not_there_is_an_error_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}"
    with pytest.raises(ConfigException, match=re.escape(f"there is no kubeconfig {missing}")):
        async with Kube.from_kubeconfig(missing):
            pass
    assert not caplog.records


async def test_credentials_that_are_missing_for_a_moment_are_read_again(no_waiting: list[float]) -> None:
    loads = 0

    def load(configuration: Configuration) -> None:
        nonlocal loads
        loads += 1
        if loads == 2:
            raise ConfigException("Token file exists but empty.")
        configuration.api_key["BearerToken"] = f"Bearer {loads}"

    async def only_new(request: web.Request) -> web.StreamResponse:
        fresh = request.headers["Authorization"] == "Bearer 3"
        return await (reply(secret("a", "1")) if fresh else refuse(401, "Unauthorized"))(request)

    async with client_of(only_new, load) as kube:
        await kube.create(SECRETS, secret("a", "1"), "n")
    assert (loads, len(no_waiting)) == (3, 1)


async def test_the_servers_clock_is_read_off_its_answers(kube: Kube, script: Script) -> None:
    with pytest.raises(RuntimeError):
        _ = kube.server_time
    script.then(reply(secret("a", "1"), headers={"Date": "Tue, 01 Jan 2030 00:00:00 GMT"}))
    await kube.get(SECRETS, "a", "n")
    passed = kube.server_time - datetime(2030, 1, 1, tzinfo=UTC)
    assert 0 <= passed.total_seconds() < 10


async def test_warnings_of_the_server_are_logged(kube: Kube, script: Script, caplog: pytest.LogCaptureFixture) -> None:
    script.then(reply(secret("a", "1"), headers={"Warning": '299 - "unknown field \\"status.x\\""'}))
    await kube.patch(SECRETS, "a", "n", {})
    assert "unknown field" in caplog.text


async def test_a_watch_yields_events_until_the_server_ends_it(kube: Kube, script: Script) -> None:
    script.then(watched(("ADDED", secret("a", "1")), ("BOOKMARK", secret("", "9")), ("NOVELTY", secret("a", "10"))))
    events = [event async for event in kube.watch(SECRETS, resource_version="0")]
    assert [(each.type, each.object.resource_version) for each in events] == [
        ("ADDED", "1"),
        ("BOOKMARK", "9"),
        ("NOVELTY", "10"),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (watched(("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})), errors.Gone),
        (refuse(410, "Expired"), errors.Gone),
        (watched(("ADDED", secret("a", "1")), tail=b'{"type": "ADD'), errors.Unavailable),
        (watched(hold=True), errors.Unavailable),
        (cut, errors.Unavailable),
    ],
    ids=["ERROR event", "HTTP 410", "torn line", "silence", "cut"],
)
async def test_a_broken_watch_is_an_error(
    kube: Kube, script: Script, answer: Answer, expected: type[errors.ApiError]
) -> None:
    script.then(answer)
    with pytest.raises(errors.ApiError) as caught:
        async for _ in kube.watch(SECRETS, resource_version="0", silence=0.2):
            pass
    assert type(caught.value) is expected


def test_an_object_without_optional_parts_reads_as_empty() -> None:
    bare = Object({"kind": "Thing", "metadata": {"name": "a"}})
    assert (bare.namespace, bare.generation, bare.labels, bare.finalizers, bare.status) == ("", 0, {}, (), {})
    assert bare.created is None
    assert not bare.deleting
    assert str(bare.key) == "Thing a"


def test_times_of_an_object_are_aware() -> None:
    assert Object({"metadata": {"creationTimestamp": "2030-01-01T00:00:00Z"}}).created == datetime(
        2030, 1, 1, tzinfo=UTC
    )
