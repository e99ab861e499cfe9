"""Everything that the cogs and the command line use, opened together and closed together."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from msgspec import structs

from bot.accounts.members import Members
from bot.embedded import embedded_runner
from bot.jobs.entrance import limits_of
from bot.jobs.health import RunnerWatch
from bot.jobs.history import JobHistory
from bot.jobs.retention import Retention
from bot.jobs.runners import Runners
from bot.jobs.service import JobService
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.check.task import check_task
from bot.leaderboards.errors import SourceError, SyncBusy
from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.service import LeaderboardService, Request
from bot.reports.pictures.worker import PictureWorker
from bot.settings import BotSettings, load_settings
from bot.storage.accounts import Accounts
from bot.storage.audit import Audit, Who
from bot.storage.bans import Bans
from bot.storage.database import Database, open_database
from bot.storage.deliveries import Deliveries
from bot.storage.files import ArtifactFiles
from bot.storage.gate import Gate
from bot.storage.sole import Sole, sole_use
from bot.storage.terminal_jobs import TerminalJobs
from bot.wording import sentence

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """What one bot works with; made by `open_services`."""

    settings: BotSettings
    catalogue: Catalogue
    accounts: Accounts
    bans: Bans
    members: Members
    jobs: JobService
    history: JobHistory
    terminal_jobs: TerminalJobs
    gate: Gate
    deliveries: Deliveries
    leaderboards: LeaderboardService
    runners: Runners
    watch: RunnerWatch
    audit: Audit
    pictures: PictureWorker
    stack: AsyncExitStack
    sole: Sole | None = None
    """That no other bot works on the database; None where nobody made sure."""

    async def close(self) -> None:
        """Close what was opened, last first."""
        await self.stack.aclose()


async def open_services(settings: BotSettings) -> Services:
    """Open the database, load the problems folder, and make ready for the settings' runners.

    Problems that cannot be used are logged and leave the others alone. Raises NcubotError.
    """
    async with AsyncExitStack() as stack:
        database = await open_database(settings.database)
        stack.push_async_callback(database.close)
        catalogue, accounts, bans = Catalogue(), Accounts(database), Bans(database)
        await bans.load()
        leaderboards = LeaderboardService(database, catalogue, settings, check_task)
        await _load_problems(settings, leaderboards)
        _keep_current(settings, leaderboards, stack)
        names = GpuNames(settings.gpu_aliases)
        runners = Runners(settings.runners, settings.max_artifact_bytes, names)
        stack.push_async_callback(runners.close)
        watch = await _watch_runners(settings, database, runners, stack)
        _in_background(Retention(settings, database).watch(), stack)
        pictures = PictureWorker(settings.data)
        stack.push_async_callback(pictures.close)
        jobs = JobService(settings, database, accounts, catalogue, runners)
        files = ArtifactFiles(settings.data)
        members = Members(database, bans, jobs, files, limits_of(settings))
        _in_background(members.forget_periodically(), stack)
        return Services(
            settings=settings,
            catalogue=catalogue,
            accounts=accounts,
            bans=bans,
            members=members,
            jobs=jobs,
            history=JobHistory(database, jobs, files),
            terminal_jobs=TerminalJobs(database),
            gate=Gate(database),
            deliveries=Deliveries(database),
            leaderboards=leaderboards,
            runners=runners,
            watch=watch,
            audit=Audit(database),
            pictures=pictures,
            stack=stack.pop_all(),
        )


async def _load_problems(settings: BotSettings, leaderboards: LeaderboardService) -> None:
    try:
        report = await leaderboards.sync_folder(settings.problems, Who(origin="start"))
    except (SourceError, SyncBusy) as error:
        log.warning("problems were not loaded: %s", sentence(error))
        await leaderboards.refresh()
        return
    for fault in report.errors:
        log.warning("problem %s cannot be used: %s", fault.name, fault.error)
    for skip in report.skipped:
        log.warning("problem %s was left as it is: %s", skip.name, skip.reason)


async def _watch_runners(
    settings: BotSettings, database: Database, runners: Runners, stack: AsyncExitStack
) -> RunnerWatch:
    """Look at the runners now, and again and again."""
    watch = RunnerWatch(settings.runners, database, runners)
    stack.push_async_callback(watch.close)
    await watch.look()
    _in_background(watch.watch(settings.runner_poll), stack)
    return watch


def _keep_current(
    settings: BotSettings, leaderboards: LeaderboardService, stack: AsyncExitStack
) -> None:
    """Let what is served follow the tables, and the tables a source where the settings say so."""
    _in_background(leaderboards.watch(), stack)
    if settings.sync_every is not None and settings.sync_source is not None:
        request = Request(source=settings.sync_source, ref=settings.sync_ref, anywhere=True)
        every = timedelta(seconds=settings.sync_every)
        _in_background(leaderboards.sync_periodically(request, every), stack)


def _in_background(work: Coroutine[None, None, None], stack: AsyncExitStack) -> None:
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    stack.push_async_callback(end)


@dataclass(slots=True)
class _Shared:
    """The services of one host bot and how many cogs hold them."""

    opening: "asyncio.Task[Services] | None" = None
    services: Services | None = None
    holders: int = 0
    ours: bool = True


_SHARED = "_ncubot_services"


def provide(host_bot: object, services: Services) -> None:
    """Let the cogs of `host_bot` use `services`, which the caller closes."""
    setattr(host_bot, _SHARED, _Shared(services=services, ours=False))


def services_of(host_bot: object) -> Services | None:
    """Return the services that the cogs of a host bot hold, None where none of them is loaded."""
    shared = getattr(host_bot, _SHARED, None)
    return shared.services if isinstance(shared, _Shared) else None


async def acquire(host_bot: object) -> Services:
    """Return the services of `host_bot`, opened from the settings by the first that asks.

    Each call wants a `release`. Raises NcubotError.
    """
    shared = getattr(host_bot, _SHARED, None)
    if not isinstance(shared, _Shared):
        shared = _Shared()
        setattr(host_bot, _SHARED, shared)
    if shared.services is None:
        shared.opening = shared.opening or asyncio.create_task(open_with_runner(load_settings()))
        try:
            shared.services = await asyncio.shield(shared.opening)
        finally:
            shared.opening = None
    shared.holders += 1
    return shared.services


async def release(host_bot: object) -> None:
    """Give the services back; the last holder closes those that `acquire` opened."""
    shared = getattr(host_bot, _SHARED, None)
    if not isinstance(shared, _Shared) or shared.services is None:
        return
    shared.holders -= 1
    if shared.holders <= 0 and shared.ours:
        delattr(host_bot, _SHARED)
        await shared.services.close()


async def open_with_runner(settings: BotSettings) -> Services:
    """Open the services, with a runner of our own where the settings name none.

    There must be no other bot on the database. Raises NcubotError.
    """
    async with AsyncExitStack() as stack:
        sole = await stack.enter_async_context(sole_use(settings.database))
        if not settings.runners:
            folder, log_format = settings.data / "runner", settings.log_format
            runner = embedded_runner(folder, "local", log_format=log_format)
            address = await stack.enter_async_context(runner)
            settings = structs.replace(settings, runners=(address,))
        services = await open_services(settings)
        stack.push_async_callback(services.close)
        _in_background(sole.watch(), stack)
        return replace(services, stack=stack.pop_all(), sole=sole)
