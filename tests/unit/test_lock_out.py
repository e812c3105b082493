"""What would keep Freehold from logging in is neither altered nor dropped, in whichever mode it runs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from freehold import planning
from freehold.kinds.account.public_keys import fingerprint
from freehold.kinds.registry import KINDS
from freehold.lifecycle import lock_out
from freehold.observation import Observation
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import SETTINGS, Fuse, World

USER = KINDS["User"]
TARGET = USER.target(("W",))


def _key() -> str:
    public = rsa.generate_private_key(65537, 2048).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


OURS, NEXT = _key(), _key()
BODY = "".join(OURS.splitlines()[1:-1])
DESCRIBED = {"RSA_PUBLIC_KEY": BODY, "RSA_PUBLIC_KEY_2": None}
ROW = {"name": "W", "disabled": "false", "login_name": "W", "comment": "", "type": "SERVICE"}


@pytest.mark.parametrize(
    ("wanted", "user", "key", "locks"),
    [
        ({"disabled": True}, "W", None, True),
        ({"disabled": True}, "OTHER", None, False),
        ({"disabled": True}, "", None, False),
        ({"loginName": "X"}, "W", None, True),
        ({"rsaPublicKeyValue": NEXT}, "W", fingerprint(BODY), True),
        ({"rsaPublicKeyValue": NEXT}, "W", "SHA256:another", False),
        ({"rsaPublicKeyValue": NEXT}, "W", None, False),
        ({"rsaPublicKey2Value": NEXT}, "W", fingerprint(BODY), False),
        ({"comment": "ours"}, "W", None, False),
    ],
    ids=[
        *("disabled", "another is", "nobody is", "login name"),
        *("our key", "another key", "no key", "our second key", "comment"),
    ],
)
def test_what_shuts_out_the_user_that_logs_in_is_refused(
    wanted: dict[str, Any], user: str, key: str | None, locks: bool
) -> None:
    spec = USER.spec.model_validate({"name": "W", **wanted})
    rows = tuple({"property": name, "value": value} for name, value in DESCRIBED.items())
    seen = Observation(ROW, {}, dict.fromkeys(planning.details(USER, spec, ()), rows))
    differences = planning.differences(USER, spec, seen, ())
    assert differences
    assert (lock_out.by_update(USER, TARGET, differences, user, key) is not None) is locks


def test_only_the_user_that_somebody_logs_in_as_is_kept_from_being_dropped() -> None:
    assert lock_out.by_drop(USER, TARGET, {"W"}) is not None
    assert lock_out.by_drop(USER, TARGET, {"OTHER", None}) is None
    assert lock_out.by_drop(KINDS["Warehouse"], KINDS["Warehouse"].target(("W",)), {"W"}) is None


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_pass_sends_and_plans_nothing_that_shuts_freehold_out(
    monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    world = World(Fuse(0, done=False), "User")
    await world.settle()
    world.snowflake.rows["W"] |= {"disabled": "false"}
    sent = list(world.snowflake.texts)

    async def login(*_: Any, **__: Any) -> Login:
        return Login(SETTINGS, "R", world.account, user="W")

    monkeypatch.setattr("tests.unit.reconciler.world.Access.login", login)
    world.read_only = read_only
    world.edit(disabled=True)
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.reason == "DestructiveChange"
    assert "would lock itself out" in world.message
    assert world.snowflake.texts == sent
