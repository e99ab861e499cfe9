"""A runner of the bot's own: a child process on loopback, its token passed by the environment.

It holds the other end of a pipe as its standard input, so that it ends with the bot even where
that was killed.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import structs

from bot.jobs.errors import RunnerNotStarted
from bot.settings import ALIASES
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.logs import LogFormat
from runner_client.secret import Secret

NAME = "embedded"
TOKEN_VARIABLE = "NCUBOT_RUNNER_TOKEN"  # noqa: S105 - the variable's name
FORMAT_VARIABLE = "NCUBOT_RUNNER_LOG_FORMAT"
LISTENING = "listening on "
START_S = 60.0
END_S = 30.0
# -P keeps the working folder off the path: no file there can stand in for a module.
PROGRAM = (sys.executable, "-P", "-c", "from cli.main import main; main()", "runner")


@asynccontextmanager
async def embedded_runner(
    data: Path, engine: str, log: Path | None = None, log_format: LogFormat = LogFormat.TEXT
) -> AsyncIterator[RunnerAddress]:
    """Run a runner as long as the context lasts and give its address.

    `engine` is `local` or `recorded`; the runner's log goes to the file `log`, or to our own
    stderr, in `log_format`. Raises RunnerNotStarted.
    """
    token = secrets.token_urlsafe(32)
    env = child_environment(os.environ, token) | {FORMAT_VARIABLE: log_format.value}
    await asyncio.to_thread(data.mkdir, parents=True, exist_ok=True)
    process = await _spawn(data, engine, env, log)
    try:
        url = await _listening(process, log)
        async with _drained(process):
            yield await _address(url, token)
    finally:
        await _end(process)


def child_environment(environ: Mapping[str, str], token: str) -> dict[str, str]:
    """Return the environment without what is the bot's alone, and with the runner's token."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in ALIASES.values()
        and (not name.startswith("NCUBOT_") or name.startswith("NCUBOT_RUNNER_"))
    }
    return kept | {TOKEN_VARIABLE: token}


async def _spawn(
    data: Path, engine: str, env: Mapping[str, str], log: Path | None
) -> asyncio.subprocess.Process:
    options = ("--host", "127.0.0.1", "--port", "0", "--data", str(data), "--engine", engine)
    stderr = await asyncio.to_thread(log.open, "ab") if log is not None else None
    try:
        return await asyncio.create_subprocess_exec(
            *PROGRAM,
            *options,
            "--end-with-stdin",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=env,
        )
    finally:
        if stderr is not None:
            stderr.close()


async def _listening(process: asyncio.subprocess.Process, log: Path | None) -> str:
    if process.stdout is None:
        raise RunnerNotStarted("it has no output")
    try:
        async with asyncio.timeout(START_S):
            line = (await process.stdout.readline()).decode(errors="replace").strip()
            if not line:
                await process.wait()
    except TimeoutError:
        raise RunnerNotStarted(f"it said nothing for {START_S:.0f} s") from None
    if not line.startswith(LISTENING):
        raise RunnerNotStarted(await asyncio.to_thread(_last_words, log) or line or "it ended")
    return line.removeprefix(LISTENING)


@asynccontextmanager
async def _drained(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """Throw away what else the runner says, so that a full pipe never stops it."""
    draining = asyncio.create_task(_drain(process))
    try:
        yield
    finally:
        draining.cancel()


async def _drain(process: asyncio.subprocess.Process) -> None:
    while process.stdout is not None and await process.stdout.read(1 << 16):
        pass


def _last_words(log: Path | None) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


async def _address(url: str, token: str) -> RunnerAddress:
    """Ask the runner which GPU it has."""
    address = RunnerAddress(name=NAME, url=url, gpu="unknown", token=Secret(token))
    async with RunnerClient(address) as client:
        health = await client.health()
    return structs.replace(address, gpu=health.gpu or "unknown")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask the runner to end, and kill it when it does not."""
    # Ctrl-C reaches the runner as well, which may be gone before us.
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_S)
    except TimeoutError:
        process.kill()
        await process.wait()
