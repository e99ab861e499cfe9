"""From the runner's last artifact to the user's reply, for a report of about 15 MB.

The real bot in a simulated Discord, a real runner process over loopback HTTP that replays a
capture whose report was made five times longer. The clock runs from the job's last event on the
runner to the transition to `delivered`, which follows Discord's answer to the last message.
Baseline: a bare download of the same files over the same connection, written to disk.
"""

import asyncio
import lzma
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import simcord

from benchmarks.figures import Figure, markdown
from bot.client import NcuBot
from bot.embedded import embedded_runner
from bot.services import open_services
from bot.settings import BotSettings, packaged_problems
from runner.settings import RECORDINGS
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.wire import Ended, JobResult

RECORDING = RECORDINGS / "qr_v2-starter-0"
REPORT = "profile.ncu-rep.xz"
SAMPLE = "linalg/qr_v2/submissions/starter.py"
TIMES_LONGER = 5
REPETITIONS = 5
TARGET_S = 2.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One profile: seconds to the reply, seconds of the bare download, bytes of the report."""

    reply_s: float
    download_s: float
    report_bytes: int


def measure() -> list[Figure]:
    """Profile the sample several times and return one figure."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        _lengthen(Path(folder) / "recordings" / RECORDING.name)
        deliveries = asyncio.run(_profile_repeatedly(Path(folder)))
    megabytes = deliveries[0].report_bytes / 1e6
    return [
        Figure(
            name=f"last artifact to reply, {megabytes:.1f} MB report",
            values=tuple(one.reply_s for one in deliveries),
            baseline="bare download of the files",
            baseline_values=tuple(one.download_s for one in deliveries),
            target=TARGET_S,
        )
    ]


def _lengthen(folder: Path) -> None:
    shutil.copytree(RECORDING, folder)
    report = lzma.decompress((folder / REPORT).read_bytes()) * TIMES_LONGER
    (folder / REPORT).write_bytes(lzma.compress(report, preset=1))


async def _profile_repeatedly(folder: Path) -> list[Delivery]:
    os.environ["NCUBOT_RUNNER_RECORDINGS"] = str(folder / "recordings")
    async with AsyncExitStack() as stack:
        runner = embedded_runner(folder / "runner", "recorded", folder / "runner.log")
        address = await stack.enter_async_context(runner)
        services = await open_services(BotSettings(data=folder / "bot", runners=(address,)))
        stack.push_async_callback(services.close)
        env = await stack.enter_async_context(simcord.run(NcuBot(services), settle_timeout=14.0))
        guild = env.create_guild("GPU kernels")
        channel, alice = guild.create_text_channel("c"), guild.add_member(env.create_user("alice"))
        await alice.slash(channel, "register")
        source = (packaged_problems() / SAMPLE).read_bytes()
        for _ in range(REPETITIONS):
            await alice.slash(
                channel,
                "profile",
                submission=("starter.py", source),
                leaderboard="qr_v2",
                gpu="H200",
                benchmark=0,
            )
        return [await _look_back(address, folder, *row) for row in _delivered(folder)]


def _delivered(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "bot" / "ncubot.db") as database:
        rows: list[tuple[str, str]] = database.execute(
            "SELECT job_id, at FROM job_phases WHERE phase = 'delivered' ORDER BY at"
        ).fetchall()
    database.close()
    assert len(rows) == REPETITIONS, rows
    return rows


async def _look_back(address: RunnerAddress, folder: Path, job_id: str, at: str) -> Delivery:
    delivered = datetime.fromisoformat(at).replace(tzinfo=UTC)
    async with RunnerClient(address) as client:
        events = await client.events(job_id, 0, 0)
        ended = next(event.at for event in events if isinstance(event, Ended))
        result = (await client.status(job_id)).result
        assert result is not None
        began = time.perf_counter()
        await _download(client, job_id, result, folder)
        download_s = time.perf_counter() - began
    largest = max(file.size for one in result.benchmarks for file in one.artifacts)
    return Delivery((delivered - ended).total_seconds(), download_s, largest)


async def _download(client: RunnerClient, job_id: str, result: JobResult, folder: Path) -> None:
    for benchmark in result.benchmarks:
        for artifact in benchmark.artifacts:
            await client.fetch(job_id, artifact, folder)


def main() -> None:
    """Print the figure."""
    print(markdown(measure()))


if __name__ == "__main__":
    main()
