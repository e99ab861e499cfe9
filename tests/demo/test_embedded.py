"""The bot's own runner: it starts, is reached with its token only, and ends with us."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from msgspec import structs

from bot import embedded
from bot.embedded import child_environment, embedded_runner
from bot.jobs.errors import RunnerNotStarted
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.errors import Denied, Unreachable
from runner_client.secret import Secret


async def test_it_serves_with_its_token_and_is_gone_afterwards(tmp_path: Path) -> None:
    async with embedded_runner(tmp_path / "data", "recorded", tmp_path / "log") as address:
        assert address.url.startswith("http://127.0.0.1:")
        assert address.token is not None
        async with RunnerClient(address) as client:
            assert (await client.health()).engine == "recorded"
        stranger = structs.replace(address, token=Secret("guess"))
        async with RunnerClient(stranger, attempts=1) as client:
            with pytest.raises(Denied):
                await client.health()
    async with RunnerClient(address, attempts=1) as client:
        with pytest.raises(Unreachable):
            await client.health()
    assert address.token.reveal() not in (tmp_path / "log").read_text()


async def test_a_runner_that_ends_at_once_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(RunnerNotStarted, match="no-such-engine"):
        async with embedded_runner(tmp_path / "data", "no-such-engine", tmp_path / "log"):
            pytest.fail("it cannot have started")


async def test_a_runner_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "START_S", 0.2)
    monkeypatch.setattr(embedded, "PROGRAM", ("sh", "-c", "exec sleep 60"))
    with pytest.raises(RunnerNotStarted, match="said nothing"):
        async with embedded_runner(tmp_path / "data", "local"):
            pytest.fail("it cannot have started")


async def test_a_runner_that_ignores_the_signal_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "END_S", 0.2)
    script = "trap '' TERM; echo $$ >pid; echo not listening; while :; do sleep 0.05; done"
    monkeypatch.setattr(embedded, "PROGRAM", ("sh", "-c", script))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunnerNotStarted, match="not listening"):
        async with embedded_runner(tmp_path / "data", "local"):
            pytest.fail("it cannot have started")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_the_runner_gets_its_token_and_none_of_the_bots_secrets() -> None:
    ours = {
        "PATH": "/bin",
        "DISCORD_TOKEN": "discord",
        "DATABASE_URL": "postgresql://x",
        "NCUBOT_DISCORD_TOKEN": "discord",
        "NCUBOT_RUNNERS": "[]",
        "NCUBOT_RUNNER_NCU": "/opt/ncu",
        "NCUBOT_RUNNER_TOKEN": "old",
    }
    assert child_environment(ours, "new") == {
        "PATH": "/bin",
        "NCUBOT_RUNNER_NCU": "/opt/ncu",
        "NCUBOT_RUNNER_TOKEN": "new",
    }


PARENT = """
import asyncio, sys
from pathlib import Path
from bot.embedded import embedded_runner

async def main():
    async with embedded_runner(Path(sys.argv[1]), "recorded", Path(sys.argv[2])) as address:
        print(address.url, address.token.reveal(), flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def polled(client: RunnerClient) -> None:
    for _ in range(1_000):
        await client.health()
        await asyncio.sleep(0.02)


async def test_a_bot_that_is_killed_leaves_no_runner(tmp_path: Path) -> None:
    bot = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PARENT,
        str(tmp_path / "data"),
        str(tmp_path / "log"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert bot.stdout is not None
    url, token = (await bot.stdout.readline()).decode().split()
    address = RunnerAddress(name="orphan", url=url, gpu="H200", token=Secret(token))
    async with RunnerClient(address, attempts=1) as client:
        assert (await client.health()).engine == "recorded"
        bot.kill()
        await bot.wait()
        with pytest.raises(Unreachable):
            await polled(client)
    # Its folder is free again once the process is gone.
    async with embedded_runner(tmp_path / "data", "recorded", tmp_path / "log"):
        pass
