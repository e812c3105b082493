"""Sessions: whom a client logged in as, what is current for it, and the tokens that prove it."""

import itertools
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.errors import LoginError

Secondary = Literal["ALL", "NONE"] | tuple[int, ...]
"""Which secondary roles are active: all that the user holds (looked up anew by each statement), none, or these."""


@dataclass
class Session:
    """What a statement finds already set.

    Attributes:
        user: Id of the user; None for a statement that was injected from outside any session.
        role: Id of the primary role.
        roles: Ids of the only roles that may be active, where the credentials name them; None without such a limit.
        database, schema, warehouse: Ids of the current objects.
        parameters: Only those parameters that are set on the session.
        active_at: When its client was last heard, in seconds since 1970.
        address: The client's IP address.
        authenticator: The driver's word for the way in which it has logged in.
    """

    id: int
    account: str
    user: int | None
    role: int
    secondary: Secondary = "ALL"
    roles: frozenset[int] | None = None
    database: int | None = None
    schema: int | None = None
    warehouse: int | None = None
    parameters: dict[str, Scalar] = field(default_factory=dict)
    active_at: float = 0
    address: str = "127.0.0.1"
    authenticator: str = ""


@dataclass
class TokenPair:
    """The tokens of one session, and when its session token ends, in seconds since 1970."""

    session: Session
    token: str
    token_ends: float
    master: str


class SessionStore:
    """Issues, renews and checks tokens. Sessions do not outlive the process.

    Args:
        clock: Seconds since 1970.
        validity: Seconds that a session token lives.
        master_validity: Seconds that a master token lives without a word from its client: the idle timeout.
    """

    _SHAPE = "ver:1-hint:"

    def __init__(self, clock: Callable[[], float], *, validity: float = 3600, master_validity: float = 14400) -> None:
        self._clock = clock
        self.validity = validity
        self.master_validity = master_validity
        self._ids = itertools.count(secrets.randbelow(1_000_000) * 1000 + 1)
        self._by_token: dict[str, TokenPair] = {}
        self._by_master: dict[str, TokenPair] = {}
        self._by_id: OrderedDict[int, list[TokenPair]] = OrderedDict()

    def next_id(self) -> int:
        return next(self._ids)

    def open(self, session: Session) -> TokenPair:
        """Issue the tokens of a session that has just logged in."""
        pair = TokenPair(session, self._token(session), self._clock() + self.validity, self._token(session))
        self._by_token[pair.token] = self._by_master[pair.master] = pair
        self._by_id.setdefault(session.id, []).append(pair)
        self._heard(session)
        self._forget_idle()
        return pair

    def session(self, token: str) -> Session:
        """The session that a token belongs to, which is thereby active.

        Raises:
            LoginError: 390104 for what is no token of ours, 390111 when its session has ended, 390112 when it expired.
        """
        pair = self._by_token.get(token)
        if pair is None:
            if token.startswith(self._SHAPE):
                raise errors.session_lost()
            raise LoginError(390104, "User must login again to access the service.")
        now = self._clock()
        if pair.token_ends <= now or self._idle(pair, now):
            raise errors.session_expired()
        self._heard(pair.session)
        return pair.session

    def by_id(self, session_id: int) -> Session:
        """A session by its id.

        Raises:
            KeyError: There is none, or it has ended.
        """
        return self._by_id[session_id][-1].session

    def renew(self, master: str) -> TokenPair:
        """Exchange a master token for new tokens of the same session; the old ones end at once.

        Raises:
            LoginError: 390113 when the master token is unknown, 390114 when it expired.
        """
        pair = self._by_master.get(master)
        if pair is None:
            raise LoginError(390113, "Master token not found.")
        if self._idle(pair, self._clock()):
            raise LoginError(390114, "Authentication token has expired. The user must authenticate again.")
        pair.token_ends = self._clock()
        del self._by_master[master]
        return self.open(pair.session)

    def expire(self, session: Session) -> None:
        """Let the token of a session expire before its time; it can still be renewed."""
        for pair in self._by_id.get(session.id, []):
            pair.token_ends = self._clock()

    def end(self, session: Session) -> None:
        """End a session, if it hasn't ended: none of its tokens is of any use from now on."""
        for pair in self._by_id.pop(session.id, []):
            self._by_token.pop(pair.token)
            self._by_master.pop(pair.master, None)

    def _heard(self, session: Session) -> None:
        """Note that the client is there; those that were heard last come last."""
        session.active_at = self._clock()
        self._by_id.move_to_end(session.id)

    def _forget_idle(self) -> None:
        """End the sessions whose master tokens have been of no use for as long as they lived."""
        forgotten = self._clock() - 2 * self.master_validity
        while (session := next(iter(self._by_id.values()))[0].session).active_at < forgotten:
            self.end(session)

    def _idle(self, pair: TokenPair, now: float) -> bool:
        return pair.session.active_at + self.master_validity <= now

    def _token(self, session: Session) -> str:
        return f"{self._SHAPE}{session.id}-{secrets.token_urlsafe(48)}"
