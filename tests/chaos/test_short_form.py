"""The crash test in short, as a part of all tests: the deaths around what changes the account."""

from __future__ import annotations

from freehold.kinds.registry import KINDS
from tests.chaos.gate import Death
from tests.chaos.shard import Shard, stories
from tests.chaos.story import Story
from tests.chaos.world import World

_TOLD = frozenset(
    {
        "Warehouse create plain",
        "Warehouse create taken",
        "Schema update plain",
        "AccountRole delete plain",
        "Warehouse delete taken",
        "Warehouse delete blind",
    }
)
_KINDS = tuple(KINDS[name] for name in sorted({story.partition(" ")[0] for story in _TOLD}))
_LANES = 8


def _changes_the_account(_story: Story, death: Death) -> bool:
    return death.request.statement and death.request.writes


async def test_who_follows_a_process_that_died_around_a_change_of_the_account_ends_as_if_it_had_lived() -> None:
    shard = Shard([each for each in stories(_KINDS) if str(each) in _TOLD], _changes_the_account, lambda *_: None)
    async with World(_LANES) as world:
        await shard.run(world)
    assert len(shard.tallies) == len(_TOLD)
    assert all(tally.runs for tally in shard.tallies)
    violations = [f"{tally.story}: {death}\n{what}" for tally in shard.tallies for death, what in tally.violations]
    assert not violations, "\n\n".join(violations)
