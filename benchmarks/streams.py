"""200 terminals stream their profiles from one bot at once, one of which does not read.

`python -m benchmarks.streams`. The bot is a process of its own, its runner a quick stand-in with
reports of 2 MB that do not compress. Baselines: the same streams without the one that does not
read, and the bot's memory with a tenth of the streams.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.figures import Figure, markdown
from benchmarks.servers import address_of, quick_runner, started
from bot.services import open_services
from bot.settings import BotSettings
from bot.web.service import serving
from tests.leaderboards.repository import make
from tests.web.client import Terminal, chunks

STREAMS = 200
FEW = 20
REPORT = 2_000_000
HOLD_S = 2


def measure() -> tuple[Figure, ...]:
    """Open few streams, then many, then many with one that does not read."""
    with tempfile.TemporaryDirectory(prefix="ncubot-streams-") as folder:
        return asyncio.run(_measured(Path(folder)))


async def _measured(folder: Path) -> tuple[Figure, ...]:
    with quick_runner() as runner:
        bot = ("benchmarks.streams", "--serve", str(folder), runner.url)
        with started(*bot) as address:
            terminals = [
                Terminal(address, cli_id)
                for cli_id in json.loads((folder / "ids.json").read_text(encoding="ascii"))
            ]
            pid = int((folder / "pid").read_text(encoding="ascii"))
            await _all_read(terminals[:FEW], "a")
            few = _peak_mb(pid)
            even = await _all_read(terminals, "b")
            many = _peak_mb(pid)
            async with _not_reading(terminals[0]):
                uneven = await _all_read(terminals[1:], "c")
    return (
        Figure(
            name=f"{STREAMS} streams of {REPORT:,} bytes beside one that does not read",
            values=tuple(uneven),
            baseline="the same, all of them read",
            baseline_values=tuple(even),
            target_ratio=1.2,
        ),
        Figure(
            name=f"peak memory of the bot with {STREAMS} streams",
            unit="MB",
            values=(many,),
            baseline=f"with {FEW} streams",
            baseline_values=(few,),
            target_ratio=1.5,
        ),
    )


async def _all_read(terminals: list[Terminal], mark: str) -> list[float]:
    """Return the seconds that each took from its request to the end of its result."""
    return list(await asyncio.gather(*(_read(terminal, mark) for terminal in terminals)))


async def _read(terminal: Terminal, mark: str) -> float:
    began = time.perf_counter()
    reader, writer = await terminal.open(_request(terminal, mark))
    await reader.readuntil(b"\r\n\r\n")
    tail = b""
    async for chunk in chunks(reader):
        tail = (tail + chunk)[-100:]
    writer.close()
    if not tail.endswith(b"\n\n"):
        sys.exit(f"a stream ended with {tail!r}")
    return time.perf_counter() - began


@asynccontextmanager
async def _not_reading(terminal: Terminal) -> AsyncIterator[None]:
    """Ask for a profile and read nothing of the answer."""
    _, writer = await terminal.open(_request(terminal, "slow"))
    yield
    writer.transport.abort()


def _request(terminal: Terminal, mark: str) -> bytes:
    source = f"# hold: {HOLD_S} report: {REPORT}\n# {mark}\n".encode()
    return terminal.upload("/profile/qr/H200", "k.py", source, benchmark_index="0")


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1_000 if found else 0.0


async def serve(folder: Path, runner: str) -> None:
    """Be the bot: register every user, note their terminals' ids, and serve until ended."""
    settings = BotSettings(
        data=folder / "data",
        problems=make(folder / "problems"),
        runners=(address_of(runner),),
        web_port=0,
    )
    services = await open_services(settings)
    ids = []
    for user in range(STREAMS):
        await services.accounts.register(user + 1, f"user {user}")
        ids.append(await services.accounts.offer_cli_id())
        await services.accounts.link(user + 1, ids[-1])
    (folder / "ids.json").write_text(json.dumps(ids), encoding="ascii")
    (folder / "pid").write_text(str(os.getpid()), encoding="ascii")
    async with serving(services) as at:
        print(at, flush=True)
        await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    """Measure and print a short table, or be the bot that is measured."""
    if arguments[:1] == ["--serve"]:
        asyncio.run(serve(Path(arguments[1]), arguments[2]))
    else:
        print(markdown(measure()))


if __name__ == "__main__":
    main(sys.argv[1:])
