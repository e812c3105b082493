"""What is suspended for a change: it runs again, wherever the process dies, and whatever the change is answered."""

from __future__ import annotations

from contextlib import suppress

import pytest

from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.sql import Sql
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import MemorySnowflake, World, each_death

BUSY = SnowflakeError("is being changed", number=1, sqlstate="55000", error_class=ErrorClass.TRANSIENT)


class Running(MemorySnowflake):
    """A warehouse that runs, or stands still."""

    async def answer(self, statement: Sql) -> Result:
        told = statement.text.partition('ALTER WAREHOUSE "W" ')[2]
        if not told.startswith(("SUSPEND", "RESUME", "SET WAREHOUSE_TYPE")):
            return await super().answer(statement)
        self.before(statement.text)
        if told.startswith("SET"):
            self.rows["W"]["type"] = "SNOWPARK-OPTIMIZED"
        else:
            self.rows["W"]["state"] = "SUSPENDED" if told == "SUSPEND" else "STARTED"
        self._note(told.split()[0], statement.text, "ok")
        self.fuse.after()
        return Result((), "query")


async def changed(world: World, state: str) -> None:
    """Have the type of a warehouse changed that is in a state."""
    world.snowflake = Running(world.fuse)
    await world.settle()
    world.snowflake.rows["W"] |= {"type": "STANDARD", "state": state}
    world.edit(warehouseType="SNOWPARK-OPTIMIZED")
    await world.settle()


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_while_something_stands_still_leaves_it_running(done: bool) -> None:
    async def story(world: World) -> None:
        await changed(world, "STARTED")
        assert world.snowflake.rows["W"]["type"] == "SNOWPARK-OPTIMIZED"
        assert world.snowflake.rows["W"]["state"] == "STARTED"
        assert not any(claim.get("suspended") for claim in world.claims)

    assert await each_death(story, done=done) > 15


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_what_others_have_suspended_is_never_resumed(done: bool) -> None:
    async def story(world: World) -> None:
        await changed(world, "SUSPENDED")
        assert world.snowflake.rows["W"]["state"] == "SUSPENDED"
        assert not world.answers("RESUME")

    assert await each_death(story, done=done) > 15


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_after_a_refused_change_it_runs_again_wherever_the_process_dies(done: bool) -> None:
    async def story(world: World) -> None:
        world.snowflake = Running(world.fuse)
        await world.settle()
        world.snowflake.rows["W"] |= {"type": "STANDARD", "state": "STARTED"}
        world.edit(warehouseType="SNOWPARK-OPTIMIZED")
        world.snowflake.refuse('ALTER WAREHOUSE "W" SET', BUSY, times=1)
        with suppress(Unfinished):
            await world.settle()
        assert world.snowflake.rows["W"]["state"] == "STARTED"

    assert await each_death(story, done=done) > 15
