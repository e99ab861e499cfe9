"""A bot with two runners of one GPU, and how tests make one of them die."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs
from sqlalchemy import select

from bot.jobs.health import RunnerWatch
from bot.jobs.model import Job, JobOutcome
from bot.jobs.runners import Runners
from bot.jobs.service import JobService
from bot.services import Services, open_services
from bot.settings import BotSettings
from bot.storage.tables import JobPhaseRow, JobRow
from runner_client.secret import Secret
from runner_client.wire import JobEvent
from tests.jobs.runner import EVENTS, ScriptedRunner
from tests.leaderboards.repository import make

DEAD = dict.fromkeys(("GET health", "GET events", "GET job", "POST jobs", "DELETE job"), 502)
ALWAYS = 10_000


@dataclass
class Place:
    """A bot with two runners of one GPU, and what its admins were told."""

    services: Services
    runners: Runners
    jobs: JobService
    watch: RunnerWatch
    machines: dict[str, ScriptedRunner]
    told: list[str] = field(default_factory=list)
    hears: bool = True

    async def announce(self, text: str) -> bool:
        if self.hears:
            self.told.append(text)
        return self.hears

    def other(self, job: Job) -> ScriptedRunner:
        (name,) = self.machines.keys() - {job.runner}
        return self.machines[name]

    async def look(self, times: int = 2) -> None:
        for _ in range(times):
            await self.watch.look()

    async def run(self, job: Job) -> JobOutcome:
        return await self.jobs.run(job, _ignore)

    async def row(self, job: Job) -> JobRow:
        async with self.services.deliveries._database.begin() as session:
            return await session.get_one(JobRow, job.id)

    async def phases(self) -> list[str]:
        async with self.services.deliveries._database.begin() as session:
            query = select(JobPhaseRow.phase).order_by(JobPhaseRow.id)
            return list(await session.scalars(query))


async def _ignore(_: JobEvent) -> None:
    return None


def waits(machine: ScriptedRunner, events: int = 1) -> None:
    """Let a runner keep its jobs, which have come as far as that many events."""
    machine.events, machine.running = EVENTS[:events], ALWAYS


async def until(place: Place, job: Job, phase: str) -> None:
    while (await place.row(job)).phase != phase:  # noqa: ASYNC110 - the database tells nobody
        await asyncio.sleep(0.01)


@asynccontextmanager
async def two_runners(folder: Path, database_url: str, patience: float) -> AsyncIterator[Place]:
    """Open a bot that waits `patience` seconds for a runner that is away."""
    async with AsyncExitStack() as stack:
        machines = {name: ScriptedRunner() for name in ("a", "b")}
        addresses = tuple(
            [
                structs.replace(await stack.enter_async_context(machine.serving()), name=name)
                for name, machine in machines.items()
            ]
        )
        settings = BotSettings(
            data=folder / "data",
            database_url=Secret(database_url),
            problems=make(folder / "repository"),
            runner_patience=patience,
        )
        services = await open_services(settings)
        stack.push_async_callback(services.close)
        database = services.deliveries._database
        runners = Runners(addresses, settings.max_artifact_bytes)
        watch = RunnerWatch(addresses, database, runners)
        for opened in (runners, watch):
            stack.push_async_callback(opened.close)
        jobs = JobService(settings, database, services.accounts, services.catalogue, runners)
        place = Place(services, runners, jobs, watch, machines)
        watch.announce = place.announce
        yield place
