"""A small Discord, a stand-in runner and the bot, each a process, and people who use it."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.discord.client import ROOT, SmallDiscord, ended, small_discord, start_bot
from tests.discord.orders import Seen, Slash, Typed, Upload
from tests.discord.runner import LISTENING, MANIFEST
from tests.discord.world import TEXTS
from tests.leaderboards.repository import make

RUNNER_TOKEN = "stand-in"
FILE = "submission.py"
GOOD = "def custom_kernel(data):\n    return data\n"
START_S = 40.0


@dataclass(slots=True)
class Stage:
    """Where everything runs; `environ` holds the bot's settings."""

    discord: SmallDiscord
    folder: Path
    environ: dict[str, str]
    bot: asyncio.subprocess.Process | None = None

    async def start(self, **environ: str) -> None:
        """Start the bot and wait until it is in Discord."""
        before = (await self.discord.counts()).identified
        bot = await self.spawn(**environ)
        if not await until_connected(self.discord, bot, before + 1):
            raise AssertionError(self.log.read_text(encoding="utf-8")[-4_000:])

    async def spawn(self, **environ: str) -> asyncio.subprocess.Process:
        """Start the bot, which may die before it is in Discord."""
        self.bot = await start_bot(self.discord, self.environ | environ, self.log)
        return self.bot

    @property
    def log(self) -> Path:
        """Return where the bot's log goes."""
        return self.folder / "bot.log"

    async def kill(self) -> None:
        """Kill the bot without a word."""
        if self.bot is not None:
            await ended(self.bot, signal.SIGKILL)

    async def stop(self) -> int:
        """End the bot in good order; return its exit status."""
        return 0 if self.bot is None else await ended(self.bot, signal.SIGTERM)

    async def register(self, *users: int) -> None:
        """Let users type /register and wait for the answers."""
        async with asyncio.TaskGroup() as people:
            for user in users:
                people.create_task(self._register(user))

    async def _register(self, user: int) -> None:
        await self.discord.slash(Slash(user=user, command=("register",), channel=channel_of(user)))
        await self.discord.until(user, lambda seen: any(one.message.edits for one in seen))

    async def profile(
        self,
        user: int,
        *directives: str,
        benchmark: int | None = 0,
        age_s: float = 0.0,
        permissions: int | None = None,
    ) -> Typed:
        """Let a user type /profile; `directives` tell the stand-in runner what to do."""
        lines = [f"# {directive}" for directive in directives]
        content = "\n".join([*lines, GOOD]).encode()
        options: dict[str, str | int | bool] = {"leaderboard": "qr", "gpu": "H200"}
        if benchmark is not None:
            options["benchmark"] = benchmark
        return await self.discord.slash(
            Slash(
                user=user,
                command=("profile",),
                options=options,
                files={"submission": Upload(name=FILE, content=content)},
                channel=channel_of(user),
                age_s=age_s,
                permissions=permissions,
            )
        )

    async def result(self, user: int, within_s: float = 50.0) -> Seen:
        """Wait until a user has one result and return the message that has its manifest."""
        seen = await self.discord.until(user, lambda all_: bool(results(all_)), within_s)
        (found,) = results(seen)
        return found


async def until_connected(
    discord: SmallDiscord, bot: asyncio.subprocess.Process, sessions: int
) -> bool:
    """Wait until a bot has begun a session; tell whether it did before it died."""
    connected = asyncio.ensure_future(discord.connected(sessions))
    died = asyncio.ensure_future(bot.wait())
    both = (connected, died)
    await asyncio.wait(both, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
    is_there = connected.done()
    for one in both:
        one.cancel()
    await asyncio.gather(*both, return_exceptions=True)
    return is_there


def results(seen: list[Seen]) -> list[Seen]:
    """Return the messages that have a job's manifest, of which each job has one."""
    return [one for one in seen if MANIFEST in (file.name for file in one.message.files)]


def channel_of(user: int) -> int:
    """Return the text channel in which a user types; users next to each other share none."""
    return TEXTS[user % len(TEXTS)]


async def job_of(discord: SmallDiscord, result: Seen) -> str:
    """Return the job whose manifest a message has."""
    (file,) = [file for file in result.message.files if file.name == MANIFEST]
    manifest: dict[str, object] = msgspec.json.decode(await discord.download(file))
    return str(manifest["job"])


@asynccontextmanager
async def quick_runner(port: int = 0) -> AsyncIterator[str]:
    """Run the stand-in runner and yield its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.discord.runner"),
        *("--token", RUNNER_TOKEN, "--port", str(port)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        yield line.removeprefix(LISTENING).strip()
    finally:
        await ended(process, signal.SIGKILL)


def settings(folder: Path, problems: Path, runner_url: str, token: str) -> dict[str, str]:
    """Return the bot's settings for one runner."""
    runner = {"name": "one", "url": runner_url, "gpu": "H200", "token": token}
    return {
        "NCUBOT_DATA": str(folder / "bot"),
        "NCUBOT_PROBLEMS": str(problems),
        "NCUBOT_RUNNERS": json.dumps([runner]),
    }


@asynccontextmanager
async def stage(folder: Path, **environ: str) -> AsyncIterator[Stage]:
    """Set everything up around the quick stand-in runner; the bot is not started yet."""
    async with AsyncExitStack() as stack:
        discord = await stack.enter_async_context(small_discord(folder / "discord"))
        url = await stack.enter_async_context(quick_runner())
        problems = make(folder / "problems")
        set_up = settings(folder, problems, url, RUNNER_TOKEN) | environ
        made = Stage(discord, folder, set_up)
        stack.push_async_callback(made.kill)
        yield made
