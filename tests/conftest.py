"""What all tests have in common."""

from __future__ import annotations

import hypothesis

# The machines that run the tests are shared: how long an example takes tells of their other users.
hypothesis.settings.register_profile("freehold", deadline=None)
hypothesis.settings.load_profile("freehold")
