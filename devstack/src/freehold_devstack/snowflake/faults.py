"""Faults on demand: what goes wrong with the next statements that match a pattern, or with a whole account."""

import asyncio
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from freehold_devstack.snowflake.errors import UNKNOWN_NUMBER, UNKNOWN_SQLSTATE, SqlError

Action = Literal[
    "error",
    "delay",
    "hang",
    "drop-before",
    "drop-during",
    "drop-after",
    "http",
    "expire-token",
    "lose-session",
]

_OWN_FIELDS: Mapping[Action, frozenset[str]] = {
    "error": frozenset({"number", "sqlstate", "message"}),
    "delay": frozenset({"seconds", "distribution", "spread", "seed"}),
    "drop-during": frozenset({"seconds", "distribution", "spread", "seed"}),
    "http": frozenset({"status", "retry_after"}),
}
_COMMON_FIELDS = frozenset({"match", "account", "user", "role", "action", "times", "skip"})


@dataclass(frozen=True)
class Subject:
    """What faults are matched with: a statement, or a log-in as the text `LOGIN <login name>`."""

    text: str
    account: str
    user: str | None
    role: str | None


class Fault(BaseModel):
    """One fault.

    `error`, `delay` and `hang` are taken once for each statement; the others, which are about the connection, for every
    HTTP attempt, repeats of the driver included.
    """

    model_config = ConfigDict(extra="forbid")

    match: str = ".*"
    """Regular expression that the text has to contain, regardless of case."""
    account: str | None = None
    """Name of the account that it is limited to; `user` and `role` (the primary one) likewise."""
    user: str | None = None
    role: str | None = None
    action: Action
    """error: refuse without executing. delay: execute later. hang: neither execute nor answer until it is aborted or
    its time is up. drop-before, drop-after: cut the connection without, or after, executing. drop-during: cut it, and
    execute later although the client is gone. http: answer with a status instead. expire-token: the session's token
    has expired and must be renewed. lose-session: the session is no longer known."""
    times: int | None = Field(default=1, ge=1)
    """How many matches it hits; None for all until it is cleared."""
    skip: int = Field(default=0, ge=0)
    """How many matches it spares first."""
    number: int = UNKNOWN_NUMBER
    """error: the number."""
    sqlstate: str = UNKNOWN_SQLSTATE
    """error: the SQLSTATE."""
    message: str = "Injected fault."
    """error: the message."""
    seconds: float = Field(default=1, ge=0)
    """delay, drop-during: for how long; the mean, or for lognormal the median, of what is not fixed."""
    distribution: Literal["fixed", "uniform", "exponential", "lognormal"] = "fixed"
    """How the delays of several matches differ."""
    spread: float = Field(default=0, ge=0)
    """uniform: seconds more or less. lognormal: sigma."""
    seed: int = 0
    """Makes the delays the same ones every time."""
    status: Literal[429, 503] = 503
    """http: the status."""
    retry_after: int | None = Field(default=None, ge=0)
    """http: seconds in the header Retry-After."""

    _random: random.Random = PrivateAttr(default_factory=random.Random)

    @field_validator("match")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if idle := self.model_fields_set - _COMMON_FIELDS - _OWN_FIELDS.get(self.action, frozenset()):
            raise ValueError(f"{', '.join(sorted(idle))}: without effect on {self.action}")
        self._random.seed(self.seed)
        return self

    def hits(self, subject: Subject) -> bool:
        """Whether it is about this subject."""
        limits = ((self.account, subject.account), (self.user, subject.user), (self.role, subject.role))
        return all(wanted in {None, found} for wanted, found in limits) and bool(
            re.search(self.match, subject.text, re.IGNORECASE)
        )

    def latency(self) -> float:
        """The next delay, in seconds."""
        match self.distribution:
            case "fixed":
                return self.seconds
            case "uniform":
                return max(0, self._random.uniform(self.seconds - self.spread, self.seconds + self.spread))
            case "exponential":
                return self._random.expovariate(1 / self.seconds) if self.seconds else 0
            case "lognormal":
                return self.seconds * self._random.lognormvariate(0, self.spread)

    async def happen(self) -> None:
        """Let a statement or a log-in suffer it.

        Raises:
            SqlError: The refusal.
        """
        match self.action:
            case "error":
                raise SqlError(self.number, self.sqlstate, self.message)
            case "delay":
                await asyncio.sleep(self.latency())
            case _:
                await asyncio.Event().wait()


class Faults:
    """The faults that are waiting for a match, and the accounts that answer nothing at all."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._frozen: dict[str, asyncio.Event] = {}

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault.model_copy())

    def clear(self) -> None:
        """Forget all faults, and thaw all accounts."""
        self._waiting.clear()
        for account in list(self._frozen):
            self.thaw(account)

    def take(self, subject: Subject, *actions: Action) -> Fault | None:
        """The fault that hits now, if one of these actions is due."""
        for fault in self._waiting:
            if fault.action in actions and fault.hits(subject):
                if fault.skip:
                    fault.skip -= 1
                    continue
                if fault.times is not None:
                    fault.times -= 1
                    if not fault.times:
                        self._waiting.remove(fault)
                return fault
        return None

    def freeze(self, account: str) -> None:
        """Let nothing of an account be answered until it is thawed."""
        self._frozen.setdefault(account, asyncio.Event())

    def thaw(self, account: str) -> None:
        """Answer what has been waiting, and what comes."""
        if (frozen := self._frozen.pop(account, None)) is not None:
            frozen.set()

    async def thawed(self, account: str) -> None:
        """Wait while an account is frozen."""
        if (frozen := self._frozen.get(account)) is not None:
            await frozen.wait()
