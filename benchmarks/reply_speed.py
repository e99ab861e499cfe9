"""A reply with table, picker and three pictures, from a capture of 60 kernels.

The capture is a packaged recording whose rows are repeated under new ids and names. Measured: from
the exported CSV to the message as discord.py sends it, drawing process included but for its start;
CPU seconds of both processes together, so one core's worth, and the longest time for which the
event loop did not turn meanwhile. Baselines in the same run: three empty figures, an idle loop.
"""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import discord
from discord import ui
from discord.http import handle_message_parameters

from benchmarks.figures import Figure, markdown
from benchmarks.many_kernels import repeat
from bot.jobs.kept import KeptResults
from bot.jobs.model import Job, JobPhase
from bot.reports.illustrate import illustrated, illustrations
from bot.reports.picker import view_of
from bot.reports.pictures.worker import PictureWorker
from bot.reports.reply import compose
from bot.reports.uploads import Upload
from bot.storage.files import ArtifactFiles
from cogs.embeds import illustration_embeds, open_files, reply_embed
from cogs.picking import picker_view
from runner.settings import RECORDINGS
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Artifact,
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    Check,
    JobResult,
    System,
)

RECORDING = RECORDINGS / "qr_v2-starter-0"
KERNELS = 60
RUNS = 5
TARGET_S = 1.5
LAG_TARGET_S = 0.020
TICK_S = 0.001
IDLE_S = 0.5
UPLOAD_LIMIT = 10_000_000
EMPTY = """
import time
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import io
for run in range({runs} + 1):
    began = time.process_time()
    for _ in range(3):
        figure = Figure(figsize=(8, 5), dpi=100)
        FigureCanvasAgg(figure)
        figure.add_subplot()
        figure.savefig(io.BytesIO())
    if run:
        print(time.process_time() - began)
"""
_SPEC = Benchmark(index=0, spec="batch: 20; n: 32")


@dataclass(frozen=True, slots=True)
class Run:
    """One reply and one choice, in CPU seconds, and the longest holds of the loop, in seconds."""

    reply_s: float
    held_s: float
    idle_s: float
    choice_s: float


@dataclass(slots=True)
class Lag:
    """The longest time between two turns of the event loop, in seconds, less the tick."""

    longest: float = 0.0


def measure() -> list[Figure]:
    """Make the reply several times; return its time, the loop's lag and the picker's time."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        runs = asyncio.run(_measured(Path(folder)))
    empty, drawn = _empty_figures(), "three empty matplotlib figures, CPU"
    return [
        Figure(
            name=f"reply from {KERNELS} kernels, CPU",
            values=tuple(run.reply_s for run in runs),
            baseline=drawn,
            baseline_values=empty,
            target=TARGET_S,
        ),
        Figure(
            name="longest hold of the event loop",
            values=tuple(run.held_s for run in runs),
            baseline="an idle loop",
            baseline_values=tuple(run.idle_s for run in runs),
            target=LAG_TARGET_S,
        ),
        Figure(
            name="one kernel chosen, CPU",
            values=tuple(run.choice_s for run in runs),
            baseline=drawn,
            baseline_values=empty,
        ),
    ]


async def _measured(folder: Path) -> list[Run]:
    job = _job()
    files = ArtifactFiles(folder)
    result = _capture(files.folder(job.id))
    worker = PictureWorker(folder)
    runs = []
    for _ in range(RUNS + 1):
        async with _watched() as idle:
            await asyncio.sleep(IDLE_S)
        async with _watched() as lag:
            used = await _cpu(lambda: _reply(KeptResults(files), worker, job, result), worker)
        chosen = await _cpu(lambda: _choice(KeptResults(files), job, result), worker)
        runs.append(Run(used, lag.longest, idle.longest, chosen))
    await worker.close()
    return runs[1:]


async def _reply(kept: KeptResults, worker: PictureWorker, job: Job, result: JobResult) -> None:
    outcome = await kept.load(job, result, None)
    (message,) = await asyncio.to_thread(compose, outcome, UPLOAD_LIMIT)
    assert message.picker is not None
    await _send(message.table, [reply_embed(message)], message.files, picker_view(message.picker))
    drawn = await illustrated(worker, outcome)
    (shown,) = await asyncio.to_thread(illustrations, outcome, drawn, UPLOAD_LIMIT)
    assert len(shown.files) == 3, shown
    await _send("", illustration_embeds(shown), shown.files, None)


async def _send(
    content: str, embeds: list[discord.Embed], files: tuple[Upload, ...], view: ui.View | None
) -> None:
    """Build a message as far as discord.py does before it opens a connection."""
    opened = await asyncio.to_thread(open_files, files)
    with handle_message_parameters(
        content, embeds=embeds, files=opened, view=view or discord.utils.MISSING
    ):
        pass


async def _choice(kept: KeptResults, job: Job, result: JobResult) -> None:
    outcome = await kept.load(job, result, 0)
    assert await asyncio.to_thread(view_of, job.id, outcome.benchmarks[0], 0, "kernel:0")


async def _cpu(make: Callable[[], Awaitable[None]], worker: PictureWorker) -> float:
    """Return the CPU seconds of this process and of the drawing process, beyond its start."""
    drawing = await worker.start()
    began = _used(drawing)
    await make()
    return _used(drawing) - began


def _used(drawing: int) -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    stat = Path(f"/proc/{drawing}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(stat[11]) + int(stat[12])
    return own.ru_utime + own.ru_stime + ticks / 100


@asynccontextmanager
async def _watched() -> AsyncIterator[Lag]:
    lag = Lag()

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK_S)
            lag.longest = max(lag.longest, time.perf_counter() - began - TICK_S)

    ticking = asyncio.create_task(tick())
    try:
        yield lag
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)


def _capture(folder: Path) -> JobResult:
    """Write the files of a job with many kernels and return what its runner would say."""
    folder.mkdir(parents=True)
    names = ("ncu-details.0.csv", "ncu-raw.0.csv")
    repeat(RECORDING, folder / names[0], folder / names[1], KERNELS)
    artifacts = tuple(Artifact(name=name, size=1, sha256="0" * 64) for name in names)
    entry = BenchmarkResult(
        index=0,
        spec=_SPEC.spec,
        status=BenchmarkStatus.SUCCEEDED,
        kernels=KERNELS,
        check=Check(passed=True),
        artifacts=artifacts,
    )
    system = System(gpu="NVIDIA H200", driver="580.159", ncu_version="2025.3.1.0")
    return JobResult(failure=None, benchmarks=(entry,), system=system, manifest=None)


def _job() -> Job:
    return Job(
        id="0" * 32,
        user_id=1,
        leaderboard="qr_v2",
        gpu="H200",
        runner="embedded",
        file_name="submission.py",
        benchmarks=(_SPEC,),
        capture=CaptureOptions(launch_count=KERNELS),
        phase=JobPhase.FETCHED,
    )


def _empty_figures() -> tuple[float, ...]:
    program = (sys.executable, "-c", EMPTY.format(runs=RUNS))
    printed = subprocess.run(program, check=True, capture_output=True, text=True)
    return tuple(map(float, printed.stdout.split()))


def main() -> None:
    """Print the figures."""
    print(markdown(measure()))


if __name__ == "__main__":
    main()
