"""The log-in guard: one attempt at a time for each user of an account, and none with what was refused until it changes.

Repeated failures lock a user, for everybody. A credential is known by what it was read from, the versions of the
ProviderConfig and its Secret: nothing that is derived from the secret itself leaves the process, for what identifies a
password also serves to guess it. So a Secret that was only touched counts as changed, which is how people have it
tried again at once.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from pydantic import TypeAdapter, ValidationError

from freehold.snowflake import metrics
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CredentialsRefused, NotTried
from freehold.snowflake.settings import ConnectionSettings
from freehold.turns import LocalTurns, Turns

QUIET = timedelta(minutes=30)
"""How long what was refused isn't tried again: it may have been mended in Snowflake, of which nothing tells us."""

PATIENCE = timedelta(minutes=2)
"""How long a log-in waits for others of the same user."""

_KEPT = 50
"""Refusals that are kept at most: of so many ProviderConfigs with one user, or of so many attempts within `QUIET`."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused log-in, as it is told to other processes.

    Attributes:
        revision: of the settings.
        at: when.
        message: for people.
        number: the server's number.
        error_class: of the error.
    """

    revision: str
    at: datetime
    message: str
    number: int | None
    error_class: ErrorClass

    @property
    def error(self) -> CredentialsRefused:
        return CredentialsRefused(self.message, number=self.number, error_class=self.error_class)


_NOTE = TypeAdapter(tuple[Refusal, ...])


class Guard:
    """Lets log-ins begin."""

    def __init__(self, turns: Turns | None = None) -> None:
        """
        Args:
            turns: taken with whoever logs in as the same users; by default among the tasks of this process.
        """
        self._turns = turns or LocalTurns()
        # Also what no note tells: the API server may not have taken it, or somebody may have deleted it.
        self._refused: dict[str, tuple[Refusal, ...]] = {}

    @asynccontextmanager
    async def attempt(self, settings: ConnectionSettings) -> AsyncIterator[None]:
        """Log in within this context: it waits until nobody else does so, and remembers what was refused.

        Raises:
            CredentialsRefused: the same was refused before, and isn't to be tried again yet.
            NotTried: others were at it for too long.
        """
        name = _name(settings)
        heed = partial(self._heed, name, settings)
        heed("")
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    turn = await stack.enter_async_context(self._turns.turn(name, heed))
            except TimeoutError:
                raise NotTried(
                    f"other log-ins to account {settings.account} as the same user take too long: this one waits for "
                    "its turn",
                    error_class=ErrorClass.TRANSIENT,
                ) from None
            try:
                yield
            except CredentialsRefused as error:
                turn.note = self._remember(name, settings, error)
                raise

    async def check(self, settings: ConnectionSettings) -> None:
        """Make sure that nobody knows these settings to be refused.

        Raises:
            CredentialsRefused: somebody does, and they aren't to be tried again yet.
        """
        name = _name(settings)
        self._heed(name, settings, await self._turns.note(name))

    def _heed(self, name: str, settings: ConnectionSettings, note: str) -> None:
        known = dict.fromkeys((*self._refused.pop(name, ()), *_refusals(note)))
        recent = tuple(each for each in known if self._turns.now - each.at < QUIET)
        if recent:
            self._refused[name] = recent
        for each in recent:
            if each.revision == settings.revision:
                metrics.WITHHELD_LOGINS.inc()
                raise each.error

    def _remember(self, name: str, settings: ConnectionSettings, error: CredentialsRefused) -> str:
        """Keep a refusal in mind; answers with the note that tells others of it."""
        new = Refusal(settings.revision, self._turns.now, error.message, error.number, error.error_class)
        self._refused[name] = (*self._refused.get(name, ()), new)[-_KEPT:]
        return _NOTE.dump_json(self._refused[name]).decode()


def _name(settings: ConnectionSettings) -> str:
    """What stands for a user of an account; where the credential alone says who it is, for the ProviderConfig."""
    who = settings.user.upper() if settings.user else settings.provider
    user = json.dumps([settings.host.lower(), settings.account.upper(), who]).encode()
    return "login-" + base64.b32encode(hashlib.sha256(user).digest()).decode().lower().rstrip("=")


def _refusals(note: str) -> tuple[Refusal, ...]:
    """What a note tells; where another version has written it in another form, nothing."""
    try:
        return _NOTE.validate_json(note) if note else ()
    except ValidationError:
        return ()
