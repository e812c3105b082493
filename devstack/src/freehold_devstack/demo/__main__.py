"""`python -m freehold_devstack.demo`: tell the story; with KEEP=1, stop before its end and leave everything running."""

import os
import sys

from freehold_devstack.demo.screen import Screen
from freehold_devstack.demo.stage import opened
from freehold_devstack.demo.story import ENDING, STORY
from freehold_devstack.errors import DevstackError

NAME = "demo"


def tell(screen: Screen, *, keep: bool) -> None:
    """Set the stage and go through the steps.

    Args:
        screen: where it is shown.
        keep: whether to leave out the ending, and everything running.

    Raises:
        DevstackError: the stage could not be set, or a step saw something else than it should.
    """
    with opened(screen, NAME, keep=keep) as stage:
        for step in STORY:
            if not (keep and step in ENDING):
                stage.play(step)
        screen.summary()


def main() -> None:
    """Tell it; ends with exit code 1 where it took another turn than it should."""
    screen = Screen()
    try:
        tell(screen, keep=os.environ.get("KEEP", "0") not in ("", "0"))
    except DevstackError as error:
        screen.failure(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
