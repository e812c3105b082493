"""With this folder on PYTHONPATH, a process of Freehold has the kinds in it, too: it finds them as it does its own."""

from __future__ import annotations

from pathlib import Path

from freehold.kinds import account

account.__path__.append(str(Path(__file__).parent))
