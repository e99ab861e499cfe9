"""500 jobs in flight of 50 users: everything delivered, and how the bot fares meanwhile.

Four processes: the small Discord of the tests, which keeps Discord's rate limits, a stand-in runner
that holds each job for a while, the bot as `ncubot run` starts it, and this one. The lag of the
bot's event loop is how late a timer of 5 ms comes; its baseline is the same bot with nothing to do.
"""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bot_figures import bot_figures, most_called
from benchmarks.figures import Figure, markdown
from tests.discord.bot import LAG
from tests.discord.lag import Lag, read
from tests.discord.orders import Counts
from tests.discord.stage import Stage, job_of, results, stage

USERS = range(1, 51)
JOBS_EACH = 10
HOLD_S = 45
"""Longer than it takes to type all of them, so that all are in flight at one time."""
BETWEEN_S = 0.05
IDLE_S = 5.0
WITHIN_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What came of it. `distinct` jobs reached their authors in `delivered` messages."""

    typed: int
    delivered: int
    distinct: int
    seconds: float
    busy: Lag
    idle: Lag
    counts: Counts


async def _idle(place: Stage) -> Lag:
    path = place.folder / "idle"
    await place.start(**{LAG: str(path)})
    await place.register(*USERS)
    await asyncio.sleep(IDLE_S)
    await place.stop()
    return read(path)


async def _typed(place: Stage) -> int:
    """Let everybody type everything, one after the other; return how often a bot was there."""
    reached = 0
    for _ in range(JOBS_EACH):
        for user in USERS:
            reached += (await place.profile(user, f"hold: {HOLD_S}", "pictures: yes")).reached
            await asyncio.sleep(BETWEEN_S)
    return reached


async def _delivered(place: Stage) -> list[str]:
    """Wait until everybody has everything; return the job of each message with a result."""
    async with asyncio.timeout(WITHIN_S):
        for user in USERS:
            await place.discord.until(
                user, lambda seen: len(results(seen)) >= JOBS_EACH, within_s=WITHIN_S
            )
    return [
        await job_of(place.discord, result)
        for user in USERS
        for result in results(await place.discord.seen(user))
    ]


async def _load(folder: Path) -> Load:
    async with stage(folder) as place:
        idle = await _idle(place)
        path = place.folder / "busy"
        await place.start(**{LAG: str(path)})
        began = time.perf_counter()
        typed = await _typed(place)
        jobs = await _delivered(place)
        seconds = time.perf_counter() - began
        counts = await place.discord.counts()
        await place.stop()
        return Load(
            typed=typed,
            delivered=len(jobs),
            distinct=len(set(jobs)),
            seconds=seconds,
            busy=read(path),
            idle=idle,
            counts=counts,
        )


def load() -> Load:
    """Measure once, in a folder that goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        return asyncio.run(_load(Path(folder)))


def measure() -> list[Figure]:
    """Measure and return a figure for each target."""
    found = load()
    print(f"{found.seconds:.0f} s from the first job to the last")
    print(f"calls of Discord: {most_called(found.counts)}")
    who = f"{found.typed} jobs of {len(USERS)} users"
    return [
        Figure(
            name=f"{who}: results with their authors",
            values=(float(found.distinct),),
            baseline="messages that have one",
            baseline_values=(float(found.delivered),),
            unit="jobs",
        ),
        *bot_figures(who, found.busy, found.idle, found.counts),
    ]


def main() -> None:
    """Print the figures."""
    print(markdown(measure()))


if __name__ == "__main__":
    main()
