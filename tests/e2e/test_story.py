"""The demo's story on the cluster tier: the same steps, with the same expectations."""

import pytest

from freehold_devstack.demo.stage import Stage
from freehold_devstack.demo.story import STORY, Step


@pytest.fixture(scope="module")
def told() -> list[Step]:
    """The steps that have succeeded so far."""
    return []


@pytest.mark.parametrize("step", STORY, ids=lambda step: step.__name__)
def test_story(stage: Stage, told: list[Step], step: Step) -> None:
    if tuple(told) != STORY[: STORY.index(step)]:
        pytest.skip("an earlier step has failed")
    stage.play(step)
    told.append(step)
