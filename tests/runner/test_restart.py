"""The real `ncubot runner` process: start, token, signals, kills in the middle."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientSession

from runner_client.wire import Ended, JobState, Mode
from tests.runner.api import Api
from tests.runner.processes import of_jobs
from tests.runner.test_modes import is_alive
from tests.standin.problem import job, replaying
from tests.standin.tools import Tools

PROGRAM = (sys.executable, "-c", "from cli.main import main; main()", "runner")
HANG = replaying("partial-hang-terminated")


@dataclass(frozen=True, slots=True)
class Running:
    process: asyncio.subprocess.Process
    api: Api


def arguments(tools: Tools, data: Path, *more: str) -> tuple[str, ...]:
    where = ("--host", "127.0.0.1", "--port", "0", "--data", str(data), "--gpu", "H200")
    return (*where, "--ncu", str(tools.ncu), "--nvcc", str(tools.nvcc), *more)


@asynccontextmanager
async def started(tools: Tools, data: Path, *more: str, token: str = "") -> AsyncIterator[Running]:
    """Start a runner and wait for its address."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *arguments(tools, data, *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ
        | {
            "NCUBOT_RUNNER_TOKEN": token,
            "NCUBOT_RUNNER_READ_ONLY": tools.variable,
            "NCUBOT_RUNNER_SELF_TEST": "false",
        },
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    assert line.startswith("listening on http://127.0.0.1:")
    try:
        async with ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
            yield Running(process, Api(session, line.split()[-1] + "/v1"))
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def test_it_serves_with_the_token_of_its_environment(tools: Tools, tmp_path: Path) -> None:
    async with started(tools, tmp_path / "data", token="t0ken") as runner:
        assert (await runner.api.health()).gpu == "H200"
        status, _ = await runner.api.call("GET", "/health", Authorization="Bearer other")
        assert status == 401
        assert b"t0ken" not in _command_line(runner.process.pid)


async def test_a_kill_in_the_middle_loses_no_job(tools: Tools, tmp_path: Path) -> None:
    data = tmp_path / "data"
    done, hangs, waiting = job(mode=Mode.TEST), job(HANG), job(mode=Mode.TEST)
    async with started(tools, data) as runner:
        await runner.api.run(done)
        await runner.api.post(hangs)
        await runner.api.post(waiting)
        before = await runner.api.until_kernel(hangs.id)
        programs = of_jobs(data / "work")
        assert programs
        runner.process.kill()
        await runner.process.wait()
    torn = data / "jobs" / hangs.id / "events.jsonl"
    torn.write_bytes(torn.read_bytes() + b'{"event":"capt')
    async with started(tools, data) as runner:
        api = runner.api
        assert not any(is_alive(program) for program in programs)
        assert (await api.status(done.id)).state is JobState.ENDED
        assert (await api.post(hangs))[0] == 200
        after = await api.events(hangs.id, len(before), wait=10)
        assert after[0].number == len(before) + 1
        await api.until_kernel(hangs.id)
        await api.call("DELETE", f"/jobs/{hangs.id}")
        assert (await api.result(waiting.id)).failure is None
        every = await api.events(hangs.id)
        assert [event.number for event in every] == list(range(1, len(every) + 1))
        assert isinstance(every[-1], Ended)


async def test_a_result_without_its_last_event_gets_it(tools: Tools, tmp_path: Path) -> None:
    data = tmp_path / "data"
    spec = job(mode=Mode.TEST)
    async with started(tools, data) as runner:
        await runner.api.run(spec)
    log = data / "jobs" / spec.id / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    async with started(tools, data) as runner:
        events = await runner.api.events(spec.id)
        assert [type(event) for event in events].count(Ended) == 1


async def test_sigterm_ends_it_and_its_programs(tools: Tools, tmp_path: Path) -> None:
    source = (
        "import os, time\n"
        "def custom_kernel(line):\n"
        "    print('PID', os.getpid(), flush=True)\n"
        "    open(os.environ['HOME'] + '/pid', 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
    )
    data = tmp_path / "data"
    async with started(tools, data) as runner:
        spec = job(source, Mode.TEST)
        await runner.api.post(spec)
        await _pid_in(data / "work")
        poll = asyncio.create_task(runner.api.events(spec.id, 10_000, wait=50))
        await asyncio.sleep(0.1)
        runner.process.send_signal(signal.SIGTERM)
        assert await poll == []
        assert await runner.process.wait() == 0
        assert of_jobs(data / "work") == []


def _command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _pids_in(folder: Path) -> list[int]:
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*/home/pid")]
    return [int(text) for text in texts if text]


async def _pid_in(folder: Path) -> int:
    for _ in range(1_000):
        if found := _pids_in(folder):
            return found[0]
        await asyncio.sleep(0.02)
    raise AssertionError("the program did not begin")


async def _refused(*options: str) -> tuple[int | None, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"NCUBOT_RUNNER_TOKEN": ""},
    )
    out, err = await process.communicate()
    return process.returncode, out, err


async def test_off_loopback_it_wants_a_token(tmp_path: Path) -> None:
    code, out, err = await _refused("--host", "192.0.2.7", "--data", str(tmp_path / "data"))
    assert (code, out) == (2, b"")
    assert err == b"ncubot: 192.0.2.7 is not loopback: set NCUBOT_RUNNER_TOKEN to a secret first\n"
    assert not (tmp_path / "data").exists()


async def test_a_port_in_use_is_one_line(tools: Tools, tmp_path: Path) -> None:
    async with started(tools, tmp_path / "data") as runner:
        port = runner.api.base.rsplit(":", 1)[1].split("/")[0]
        code, _, err = await _refused(*arguments(tools, tmp_path / "other"), "--port", port)
    assert code == 2
    assert err.count(b"\n") == 1
    assert b"cannot serve on 127.0.0.1" in err


async def test_a_data_folder_that_cannot_be_one_line(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = await _refused(*arguments(tools, tmp_path / "file"))
    assert code == 2
    assert err.count(b"\n") == 1
