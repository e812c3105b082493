"""A long run that is told to end leaves nothing behind that it has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

RUN = """
import asyncio, sys
from tests.harness.ending import end_on_sigterm

async def run():
    child = await asyncio.create_subprocess_exec("sleep", "600")
    print(child.pid, flush=True)
    try:
        await asyncio.sleep(600)
    finally:
        child.kill()
        await child.wait()

end_on_sigterm()
try:
    asyncio.run(run())
except KeyboardInterrupt:
    sys.exit(3)
"""


BACKGROUND = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, sys.argv)
"""


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_what_a_run_has_begun_ends_with_it_also_in_the_background_of_a_shell(told: signal.Signals) -> None:
    arguments = [sys.executable, "-c", BACKGROUND, "-c", RUN]
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        child = int(run.stdout.readline())
        run.send_signal(told)
        assert run.wait(60) == 3
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
