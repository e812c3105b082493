"""`freehold.dev/reconcile-now`: a new value has all of the object looked at once, whatever is known of it."""

from __future__ import annotations

from tests.unit.reconciler.world import Fuse, World


async def test_a_new_value_is_answered_by_one_deep_look() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    depths: list[str] = []
    observe = world.snowflake.observe

    async def noting(*args: object, **kwargs: object) -> object:
        depths.append(str(args[3]))
        return await observe(*args, **kwargs)  # type: ignore[arg-type]

    world.snowflake.observe = noting  # type: ignore[method-assign,assignment]
    process = world.process()
    process._deep_at[world.key] = float("inf")
    seen: list[list[str]] = []
    for value in (None, "1", "1", "2", "2"):
        world.annotate(**({"reconcile_now": value} if value else {}))
        await process(world.key)
        seen.append(depths.copy())
        depths.clear()
    assert seen == [["shallow"], ["deep"], ["shallow"], ["deep"], ["shallow"]]
    assert world.kube.objects[world.place]["status"]["lastHandledReconcileNow"] == "2"
