"""What the bot asks of its database, with 100 and with 100,000 jobs in it.

`python -m benchmarks.growth`. On PostgreSQL where it is installed, and on SQLite. The baseline of
each figure is the same with few jobs, measured in turns with it: what else the machine does then
slows both. PostgreSQL has its statistics, which it makes by itself within a minute of such growth.
"""

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import insert, text

from benchmarks.figures import Figure, markdown
from benchmarks.servers import quick_runner
from bot.jobs.model import ProfileRequest, Whose
from bot.services import Services, open_services
from bot.settings import BotSettings
from bot.storage.database import open_database, upgrade_database
from bot.storage.tables import DeliveryRow, JobPhaseRow, JobRow, UserRow
from runner_client.address import RunnerAddress
from runner_client.secret import Secret
from tests.leaderboards.repository import make
from tests.postgresql import running

FEW, MANY = 100, 100_000
USERS = 500
OWN = 50
"""Jobs of the one user that is measured, however many others have."""
RUNS, STARTS = 40, 8
TARGET_RATIO = 2.0
AT_ONCE = 2_000
T = TypeVar("T")
Operation = Callable[[Services], Awaitable[object]]
Measure = Callable[[T], Awaitable[float]]
Turns = tuple[list[float], list[float]]
"""Seconds with few jobs and with many."""


def measure() -> tuple[Figure, ...]:
    """Time every operation on both databases."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="ncubot-growth-") as folder, quick_runner() as runner:
        for kind, urls in _databases(Path(folder)):
            figures += asyncio.run(_figures(kind, urls, Path(folder), runner))
    return tuple(figures)


def _databases(folder: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    few, many = (f"sqlite:///{folder / name}.db" for name in ("few", "many"))
    yield "SQLite", (few, many)
    with running() as server:
        yield "PostgreSQL", (server.url(server.create()), server.url(server.create()))


async def _figures(
    kind: str, urls: tuple[str, str], folder: Path, runner: RunnerAddress
) -> list[Figure]:
    sides = tuple(
        [
            await _filled(url, folder / f"{kind}-{jobs}", jobs, runner)
            for url, jobs in zip(urls, (FEW, MANY), strict=True)
        ]
    )
    taken = {"start of the bot": await _in_turns(STARTS, _start_up, sides)} | await _timed(sides)
    return [
        Figure(
            name=f"{name}, {MANY:,} jobs, {kind}",
            values=tuple(many),
            baseline=f"with {FEW} jobs",
            baseline_values=tuple(few),
            target_ratio=TARGET_RATIO,
        )
        for name, (few, many) in taken.items()
    ]


async def _in_turns(runs: int, measure: Measure[T], sides: tuple[T, ...]) -> Turns:
    """Measure each side as often, one after the other."""
    rounds = [[await measure(side) for side in sides] for _ in range(runs)]
    few, many = zip(*rounds, strict=True)
    return list(few), list(many)


async def _filled(url: str, place: Path, jobs: int, runner: RunnerAddress) -> BotSettings:
    await upgrade_database(url)
    settings = _settings(url, place, runner)
    await _start_up(settings)
    await _fill(url, jobs)
    return settings


def _settings(url: str, place: Path, runner: RunnerAddress) -> BotSettings:
    return BotSettings(
        data=place,
        database_url=Secret(url),
        problems=make(place / "problems"),
        runners=(runner,),
        max_under_way=1_000_000,
    )


async def _start_up(settings: BotSettings) -> float:
    began = time.perf_counter()
    services = await open_services(settings)
    await services.deliveries.unfinished()
    await services.terminal_jobs.unfinished()
    seconds = time.perf_counter() - began
    await services.close()
    return seconds


async def _timed(sides: Sequence[BotSettings]) -> dict[str, Turns]:
    async with AsyncExitStack() as stack:
        opened = tuple([await _opened(stack, settings) for settings in sides])
        taken: dict[str, Turns] = {}
        for name, operation in _OPERATIONS.items():
            seconds = partial(_seconds, operation)
            await _in_turns(1, seconds, opened)
            taken[name] = await _in_turns(RUNS, seconds, opened)
        return taken


async def _opened(stack: AsyncExitStack, settings: BotSettings) -> Services:
    services = await open_services(settings)
    stack.push_async_callback(services.close)
    return services


async def _seconds(operation: Operation, services: Services) -> float:
    began = time.perf_counter()
    await operation(services)
    return time.perf_counter() - began


async def _accept(services: Services) -> None:
    """Store a job; it is cancelled at once, so that none waits."""
    request = ProfileRequest(
        user_id=1,
        file_name="k.py",
        source=secrets.token_hex(8).encode(),
        leaderboard="qr",
        gpu="H200",
    )
    job = await services.jobs.submit(request)
    await services.jobs.cancel(job.id, 1)


async def _autocomplete(services: Services) -> None:
    await services.history.newest(Whose(1), 25)


async def _profiles(services: Services) -> None:
    await services.history.page(Whose(1), 0)


async def _standing(services: Services) -> None:
    await services.members.standing(1)


_OPERATIONS: dict[str, Operation] = {
    "accept and cancel a job": _accept,
    "autocomplete of one's jobs": _autocomplete,
    "/profiles list": _profiles,
    "/whoami": _standing,
}


async def _fill(url: str, jobs: int) -> None:
    """Store jobs that are over, spread over the users and the last month; their files are gone."""
    database = await open_database(url)
    now = datetime.now(UTC)
    try:
        async with database.begin() as session:
            users = [{"id": n + 1, "name": "u", "created_at": now} for n in range(USERS)]
            await session.execute(insert(UserRow), users)
        for first in range(0, jobs, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, jobs))
            ids = [secrets.token_hex(16) for _ in numbers]
            moments = [now - timedelta(days=2 + 28 * number / jobs) for number in numbers]
            made = list(zip(numbers, ids, moments, strict=True))
            async with database.begin() as session:
                await session.execute(insert(JobRow), [_job(*one) for one in made])
                await session.execute(insert(JobPhaseRow), [_phase(*one) for one in made])
                await session.execute(insert(DeliveryRow), [_delivery(*one) for one in made])
        if url.startswith("postgresql"):
            async with database.begin() as session:
                await session.execute(text("ANALYZE"))
    finally:
        await database.close()


def _job(number: int, job_id: str, at: datetime) -> dict[str, object]:
    return {
        "id": job_id,
        "user_id": 1 if number < OWN else number % (USERS - 1) + 2,
        "version_id": 1,
        "leaderboard": "qr",
        "gpu": "H200",
        "runner": "gone",
        "file_name": "k.py",
        "submission": b"import torch\n" * 200,
        "submission_sha256": job_id * 2,
        "config_sha256": job_id * 2,
        "options": "{}",
        "benchmarks": '[{"index":0,"spec":"n: 32"}]',
        "notes": "[]",
        "phase": "delivered",
        "phase_at": at,
        "created_at": at,
        "result": None,
        "charged": True,
        "files_gone_at": at,
    }


def _phase(_: int, job_id: str, at: datetime) -> dict[str, object]:
    return {"job_id": job_id, "phase": "delivered", "at": at}


def _delivery(_: int, job_id: str, at: datetime) -> dict[str, object]:
    return {
        "job_id": job_id,
        "application_id": 1,
        "expires_at": at,
        "upload_limit": 1,
        "way": "reply",
        "over_at": at,
    }


def main() -> None:
    """Measure and print a short table."""
    print(markdown(measure()))


if __name__ == "__main__":
    main()
