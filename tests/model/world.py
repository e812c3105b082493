"""What outlives a process in the model: the API server, the account, time, and statements that are still under way."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from freehold.claim_liveness import sweep
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.errors import ApiError
from freehold.kube.objects import Key, Object
from freehold.snowflake.driver import Result
from freehold.sql import Sql
from freehold_controllers.reconciler.finalizer import FINALIZER
from freehold_controllers.reconciler.reconcile import Reconciler
from freehold_controllers.runtime.work import Unfinished
from tests.model.account import Account, Wire
from tests.model.cluster import Cluster, Present
from tests.model.objects import Thing, there
from tests.model.statements import Client, Deed, Late, Witness
from tests.model.strangers import act
from tests.model.trouble import Trouble
from tests.model.users import Users
from tests.unit.reconciler.world import LONGEST, Died, services

T = TypeVar("T")


class World:
    """Users, strangers, processes.

    Attributes:
        account: Snowflake.
        kube: the API server.
        users: who work with that.
        monotonic: seconds.
        late: statements under way.
        read_only: the mode of the next process.
    """

    def __init__(self, account: Account, loop: asyncio.AbstractEventLoop) -> None:
        self.account, self.kube, self.late = account, Cluster(), list[Late]()
        self._loop = loop
        self.users = Users(self.kube, self.wait)
        self.monotonic = 0.0
        self.read_only = False
        self.witness = Witness()
        self._quiet = Trouble()
        self.kube.changed = self._changed
        self.restart()

    # --- processes

    def restart(self) -> None:
        """End the process; another one begins, which knows nothing."""
        client = Client(self.account, self.execute, self._now)
        found = services(self.kube, client, self._now, [], read_only=self.read_only)
        paths = (PROVIDER_CONFIG.path, *(kind.resource.path for kind in KINDS.values()))
        copies = {path.kind: Present(self.kube, path) for path in paths}
        for copy in copies.values():
            copy.synced.set()
        self._services = replace(found, reflectors={**found.reflectors, **copies})
        for each in self.users.claims:
            self._services.inventory.note(None, each)
        self._reconcile = Reconciler(self._services)

    def reconcile(self, key: Key, trouble: Trouble | None = None, *, resync: bool = False) -> None:
        """Have the process work on a resource once.

        Args:
            key: the resource.
            trouble: what goes wrong.
            resync: whether it is content with what others have seen before.
        """
        self.kube.fuse = trouble or self._quiet
        try:
            with suppress(Unfinished, ApiError):
                self.wait(self._reconcile(key, -math.inf if resync else math.inf))
        except Died:
            self.restart()
        finally:
            self.kube.fuse = self._quiet

    async def execute(self, wire: Wire, statement: Sql, query_tag: str) -> Result:
        deed, trouble = Deed.read(statement.text, query_tag), self.kube.fuse
        assert isinstance(trouble, Trouble)
        self.witness.asked(statement.text)
        if deed is None:
            trouble.before_statement(writes=False)
            result = await wire.execute(statement, query_tag)
        else:
            carry_out = partial(self._carry_out, wire, statement, query_tag, deed)
            if trouble.before_statement(writes=True):
                meant = there(self.account, deed.thing)
                self.late.append(Late(deed, carry_out, self.monotonic + LONGEST, meant))
                trouble.silence()
            self.witness.statement(deed)
            result = await carry_out()
        trouble.after_statement(writes=deed is not None)
        return result

    async def _carry_out(self, wire: Wire, statement: Sql, query_tag: str, deed: Deed) -> Result:
        result = await wire.execute(statement, query_tag)
        if deed.verb == "CREATE":
            self.witness.created(deed)
        return result

    def sweep(self) -> None:
        """Remove the claims that bind nobody and tell of nothing."""
        for each in [claim.name for claim in self.users.claims]:
            self.wait(sweep(ClaimStore(self.kube), each))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def _changed(self, before: Object | None, after: Object | None) -> None:
        changed = after or before
        assert changed is not None
        if changed.kind == CLAIM.kind:
            self._services.inventory.note(before, after)
            self.witness.claim(before, after)
        elif before and after and FINALIZER in set(before.finalizers) - set(after.finalizers):
            self.witness.released(after)

    # --- strangers and time

    def stranger(self, deed: str, thing: Thing) -> None:
        act(self.account, deed, thing)

    def arrive(self) -> None:
        """Have all that is under way arrive."""
        waiting, self.late = self.late, []
        for each in waiting:
            self.witness.arrives(each)
            with suppress(Exception):
                self.wait(each.carry_out())

    def _now(self) -> float:
        return self.monotonic

    def pass_time(self, seconds: float) -> None:
        if any(each.until < self.monotonic + seconds for each in self.late):
            self.arrive()
        self.monotonic += seconds
        self.kube.advance(timedelta(seconds=seconds))
