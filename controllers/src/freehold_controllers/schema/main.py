"""The process `freehold-schema`."""

from __future__ import annotations

from freehold.kinds.kind import Domain
from freehold_controllers.controller import start


def main() -> None:
    """Entry point."""
    start(Domain.SCHEMA)
