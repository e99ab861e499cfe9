"""The small Discord in a test's hands: the process, and what can be asked of it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiohttp
import msgspec
import yarl

from tests.discord.__main__ import LISTENING
from tests.discord.bot import URL
from tests.discord.faults import Fault
from tests.discord.orders import Await, Click, Counts, Look, Seen, Slash, Typed
from tests.discord.records import Attached
from tests.discord.world import Rules

T = TypeVar("T")
TOKEN = "MTIz.small.discord"
ROOT = Path(__file__).parents[2]
POLL_S = 5.0


@dataclass(slots=True)
class SmallDiscord:
    """A running small Discord."""

    url: str
    session: aiohttp.ClientSession
    folder: Path
    process: asyncio.subprocess.Process

    async def killed_and_started(self) -> None:
        """Kill it and start it again in its folder, at its address."""
        await ended(self.process, signal.SIGKILL)
        port = yarl.URL(self.url).port
        assert port is not None
        self.process, self.url = await _start(self.folder, port)

    async def slash(self, order: Slash) -> Typed:
        """Let a user type a command."""
        return await self._ask("slash", order, Typed)

    async def click(self, order: Click) -> Typed:
        """Let a user press something."""
        return await self._ask("click", order, Typed)

    async def rules(self, rules: Rules) -> None:
        """Put rules in force."""
        await self._ask("rules", rules, Counts)

    async def fault(self, *faults: Fault) -> None:
        """Let calls go wrong."""
        for fault in faults:
            await self._ask("fault", fault, Counts)

    async def expire(self, user: int) -> None:
        """Let all tokens of a user expire."""
        await self._ask("expire", Look(user=user), Counts)

    async def seen(self, user: int, token: str | None = None) -> list[Seen]:
        """Return what a user sees, oldest first; with a token what answers its interaction."""
        return await self._ask("seen", Look(user=user, token=token), list[Seen])

    async def counts(self) -> Counts:
        """Return how often each call was made."""
        return await self._ask("await", Await(version=-1, seconds=0), Counts)

    async def reconnect(self) -> None:
        """Send the bots away; they resume."""
        await self._ask("reconnect", Look(user=0), Counts)

    async def download(self, file: Attached) -> bytes:
        """Return a file's bytes."""
        async with self.session.get(f"{self.url}/cdn/{file.id}/{file.name}") as response:
            return await response.read()

    async def until(
        self, user: int, happened: Callable[[list[Seen]], bool], within_s: float = 50.0
    ) -> list[Seen]:
        """Wait until what a user sees is as wanted, and return it."""
        version = 0
        seen: list[Seen] = []
        try:
            async with asyncio.timeout(within_s):
                while True:
                    seen = await self.seen(user)
                    if happened(seen):
                        return seen
                    order = Await(version=version, seconds=POLL_S)
                    version = (await self._ask("await", order, Counts)).version
        except TimeoutError:
            raise AssertionError(f"user {user} sees {seen}") from None

    async def connected(self, sessions: int = 1) -> None:
        """Wait until bots have begun so many sessions in all, and one is there."""
        version = -1
        while True:
            counts = await self._ask("await", Await(version=version, seconds=POLL_S), Counts)
            if counts.identified >= sessions and counts.online:
                return
            version = counts.version

    async def _ask(self, name: str, order: msgspec.Struct, kind: type[T]) -> T:
        body = msgspec.json.encode(order)
        async with self.session.post(f"{self.url}/control/{name}", data=body) as response:
            response.raise_for_status()
            return msgspec.json.decode(await response.read(), type=kind)


@asynccontextmanager
async def small_discord(folder: Path) -> AsyncIterator[SmallDiscord]:
    """Run a small Discord, which keeps everything in `folder`."""
    async with aiohttp.ClientSession() as session:
        process, url = await _start(folder, 0)
        discord = SmallDiscord(url, session, folder, process)
        try:
            yield discord
        finally:
            await ended(discord.process, signal.SIGTERM)


async def _start(folder: Path, port: int) -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.discord"),
        *("--folder", str(folder), "--port", str(port), "--token", TOKEN),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    return process, line.removeprefix(LISTENING).strip()


async def start_bot(
    discord: SmallDiscord, environ: Mapping[str, str], log: Path
) -> asyncio.subprocess.Process:
    """Start the bot without waiting for it; `environ` holds its settings."""
    with log.open("ab") as stderr:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.discord.bot"),
            cwd=ROOT,
            env=os.environ | {URL: discord.url, "DISCORD_TOKEN": TOKEN} | dict(environ),
            stderr=stderr,
        )


async def ended(process: asyncio.subprocess.Process, number: int) -> int:
    """Send a signal, if there is still somebody to take it; return the exit status."""
    with suppress(ProcessLookupError):
        process.send_signal(number)
    return await process.wait()
