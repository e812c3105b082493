"""What can go wrong in the devstack: each error says what happened and what the person can do about it."""

import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("devstack")
"""What to type for `devstack`, which is on PATH only where the virtual environment is."""


class DevstackError(Exception):
    """Something that the devstack needs is absent or has failed.

    Args:
        cause: what happened.
        remedy: what the reader can do about it.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause}\n{remedy}")


class MissingPrerequisiteError(DevstackError):
    """A program or a right is missing, and could not be obtained without the user."""


class BuildError(DevstackError):
    """A build of a binary or an image has failed."""


class StartError(DevstackError):
    """A part did not come up in time, or ended at once."""


class NotRunningError(DevstackError):
    """No instance of that name is running."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no devstack named {name!r} is running", f"`{COMMAND} up` starts one; `{COMMAND} status` lists them"
        )


class AlreadyRunningError(DevstackError):
    """An instance of that name is running already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a devstack named {name!r} is running already",
            f"`{COMMAND} down --name {name}` ends it, or choose another name",
        )


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, for an error message; empty where there is no log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""
