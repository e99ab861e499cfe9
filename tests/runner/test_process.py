"""The one place that starts programs."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from runner.capture.environment import base_environment
from runner.isolation.halt import Stop
from runner.isolation.process import CannotStart, Command, run
from tests.runner.test_modes import is_alive


def python(folder: Path, code: str, wall_s: float = 20.0, grace_s: float = 2.0) -> Command:
    return Command(
        argv=(sys.executable, "-c", code),
        cwd=folder,
        env=base_environment(folder, folder),
        wall_s=wall_s,
        grace_s=grace_s,
        popcorn=True,
    )


async def test_streams_status_and_log(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "print('out'); print('err', file=sys.stderr)\n"
        "os.write(int(os.environ['POPCORN_FD']), b'a: 1\\nb : x: y\\nno colon\\na: 2\\nlast: 3')\n"
        "sys.exit(5)\n"
    )
    finished = await run(python(tmp_path, code))
    assert (finished.exit_code, finished.stopped) == (5, None)
    assert (finished.stdout, finished.stderr) == ("out\n", "err\n")
    assert finished.log == {"a": "2", "b": "x: y", "last": "3"}


async def test_output_is_seen_while_the_program_runs(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    code = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    seen = bytearray()

    def on_stdout(chunk: bytes) -> None:
        seen.extend(chunk)
        cancel.set()

    finished = await run(python(tmp_path, code), cancel=cancel, on_stdout=on_stdout)
    assert bytes(seen) == b"begun\n"
    assert finished.stopped is Stop.CANCELLED


async def test_sigterm_comes_first_and_leaves_time_to_write(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    print('wrote the report', flush=True); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "time.sleep(600)\n"
    )
    finished = await run(python(tmp_path, code, wall_s=0.5))
    assert finished.stopped is Stop.TIME_LIMIT
    assert finished.stdout == "wrote the report\n"


STUBBORN_FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time\\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\ntime.sleep(600)"], close_fds=False)
print(child.pid, flush=True)
time.sleep(600)
"""


async def test_who_ignores_sigterm_is_killed_with_its_children(tmp_path: Path) -> None:
    finished = await run(python(tmp_path, STUBBORN_FAMILY, wall_s=0.5, grace_s=0.2))
    assert finished.stopped is Stop.TIME_LIMIT
    assert finished.exit_code == -9
    assert not is_alive(int(finished.stdout))


async def test_a_cancelled_task_leaves_no_process(tmp_path: Path) -> None:
    begun = asyncio.Event()
    out = bytearray()

    def on_stdout(chunk: bytes) -> None:
        out.extend(chunk)
        begun.set()

    task = asyncio.create_task(run(python(tmp_path, STUBBORN_FAMILY), on_stdout=on_stdout))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(int(out))


async def test_megabytes_on_every_pipe_do_not_block(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "fd = int(os.environ['POPCORN_FD'])\n"
        "for n in range(300):\n"
        "    os.write(fd, b'k%d: ' % n + b'v' * 20000 + b'\\n')\n"
        "    os.write(1, b'x' * 20000)\n"
        "os.write(fd, b'check: pass\\n')\n"
    )
    finished = await run(python(tmp_path, code))
    assert finished.exit_code == 0
    assert finished.log["check"] == "pass"
    assert sum(len(value) for value in finished.log.values()) < 70_000
    assert len(finished.stdout) < 70_000
    assert "bytes left out" in finished.stdout


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_no_descriptor_is_lost(tmp_path: Path) -> None:
    before = descriptors()
    for _ in range(3):
        await run(python(tmp_path, "pass"))
    with pytest.raises(CannotStart):
        await run(Command(argv=("/no/such",), cwd=tmp_path, env={}, wall_s=1.0, popcorn=True))
    assert descriptors() == before


async def test_a_program_that_is_absent_is_named(tmp_path: Path) -> None:
    command = Command(argv=("/no/such/ncu", "-x"), cwd=tmp_path, env={}, wall_s=1.0)
    with pytest.raises(CannotStart, match=r"/no/such/ncu cannot be started: No such file"):
        await run(command)


async def test_a_daemon_with_the_pipe_does_not_hold_the_runner(tmp_path: Path) -> None:
    code = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '50'], start_new_session=True, close_fds=False)\n"
        "print(child.pid, flush=True)\n"
    )
    finished = await run(python(tmp_path, code))
    assert finished.exit_code == 0
    daemon = int(finished.stdout)
    assert is_alive(daemon)  # it left the process group; run did not wait for its end
    os.kill(daemon, signal.SIGKILL)
