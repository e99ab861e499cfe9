"""Nodes that die at random under load, and a cluster of real `ncubot node` processes."""

import asyncio
import os
import random
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from runner.settings import RunnerSettings
from runner_client.wire import BenchmarkStatus, Ended, FailureKind
from tests.ray.cluster import Nodes
from tests.runner.api import Api
from tests.runner.machine import make_machine
from tests.runner.test_restart import started
from tests.standin.problem import job, replaying
from tests.standin.tools import install

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.timeout(900),
]
KILLS, USERS = int(os.environ.get("NCUBOT_KILLS", "12")), 6
SLOW_RUN = replaying("ok-triton-1024", lag_s=0.1)
NODE = (sys.executable, "-c", "from cli.main import main; main()", "node")
STARTED = b"Ray runtime started"
TOML = """[runner]
data = "{data}"
ncu = "{ncu}"
nvcc = "{nvcc}"
python = "{python}"
read_only = {read_only}
self_test = false
"""


async def test_no_death_of_a_node_loses_or_doubles_a_result(api: Api, nodes: Nodes) -> None:
    seed = int(os.environ.get("NCUBOT_SEED") or secrets.randbelow(1_000_000))
    print(f"NCUBOT_SEED={seed}")
    dice, done = random.Random(seed), asyncio.Event()  # noqa: S311 - repeatable, no secret
    nodes.add("c")
    ends: list[FailureKind | None] = []

    async def user(name: str) -> None:
        while not done.is_set():
            ends.append(await _outcome(api, name))

    async with asyncio.TaskGroup() as users:
        for number in range(USERS):
            users.create_task(user(f"user-{number}"))
        for _ in range(KILLS):
            await asyncio.sleep(dice.uniform(0.5, 4.0))
            name = dice.choice(sorted(nodes.alive))
            nodes.kill(name)
            nodes.add(name)
        done.set()
    lost = sum(end is FailureKind.RUNNER_LOST for end in ends)
    print(f"{KILLS} nodes killed, {len(ends)} jobs, {lost} of them given up")
    assert set(ends) <= {None, FailureKind.RUNNER_LOST}
    assert ends.count(None) > len(ends) // 2
    assert nodes.busy() == []


async def _outcome(api: Api, requester: str) -> FailureKind | None:
    spec = job(SLOW_RUN, requester=requester)
    result = await api.run(spec)
    assert result.failure is None
    (benchmark,) = result.benchmarks
    events = await api.events(spec.id)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert sum(isinstance(event, Ended) for event in events) == 1
    if benchmark.failure is not None:
        return benchmark.failure.kind
    assert benchmark.status is BenchmarkStatus.SUCCEEDED
    assert len(benchmark.artifacts) == 4
    return None


async def test_real_node_processes_with_a_token(
    tmp_path: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = install(tmp_path / "tools", recordings)
    here = RunnerSettings(ncu=str(tools.ncu), nvcc=str(tools.nvcc), read_only=tools.read_only)
    machine = make_machine(tmp_path / "machine", here)
    monkeypatch.setenv("PATH", f"{machine.root}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    temp, address = tempfile.mkdtemp(prefix="nr-"), f"127.0.0.1:{_free_port()}"
    head = ("--head", "127.0.0.1", "--port", address.rpartition(":")[2], "--temp-dir", temp)
    try:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_node(*head))
            for name in ("a", "b"):
                config = _config(tmp_path / name, machine.settings)
                node = await stack.enter_async_context(
                    _node("--config", str(config), "--address", address)
                )
            options = ("--engine", "ray", "--address", address)
            runner = await stack.enter_async_context(started(tools, tmp_path / "run", *options))
            assert (await runner.api.health()).slots == 2
            for spec in [job(SLOW_RUN, count=2) for _ in range(3)]:
                result = await runner.api.run(spec)
                assert [one.status.value for one in result.benchmarks] == ["succeeded"] * 2
            # As `systemctl stop` on one of the machines.
            node.send_signal(signal.SIGTERM)
            while (await runner.api.health()).slots != 1:  # noqa: ASYNC110 - Ray's own time
                await asyncio.sleep(0.2)
            assert (await runner.api.run_one(job(SLOW_RUN))).failure is None
    finally:
        shutil.rmtree(temp, ignore_errors=True)


@asynccontextmanager
async def _node(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *NODE,
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        line = b""
        while STARTED not in line:
            line = await process.stdout.readline()
            assert line, "it ended"
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


def _config(data: Path, settings: RunnerSettings) -> Path:
    data.mkdir()
    path = data / "ncubot.toml"
    text = TOML.format(
        data=data,
        ncu=settings.ncu,
        nvcc=settings.nvcc,
        python=settings.python,
        read_only=[str(folder) for folder in settings.read_only],
    )
    path.write_text(text, encoding="utf-8")
    return path


def _free_port() -> int:
    """Return a port below those that Ray gives to its worker processes."""
    for port in range(6_380, 9_000):
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("no port is free")
