"""Gives a job that no runner has begun to another runner of the same GPU."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from bot.jobs.errors import GpuWithoutRunner, JobVanished, OverLimit, RunnerFault
from bot.jobs.faults import fault_kind
from bot.jobs.follow import OnEvent
from bot.jobs.model import Job, JobPhase
from bot.jobs.runners import JobMoved, Runners
from bot.storage import jobs as rows
from bot.storage.database import Database
from bot.storage.runners import NOT_BEGUN, left_by, not_begun_on, reassign, withdraw
from runner_client.logs import about_job
from runner_client.wire import JobEvent, Preparing, Queued

log = logging.getLogger(__name__)
T = TypeVar("T")
Attempt = Callable[[Job, OnEvent], Awaitable[T]]


class Handover:
    """Moves jobs between runners. The job keeps its id; the old runner is to drop it."""

    def __init__(self, database: Database, runners: Runners) -> None:
        self._database = database
        self._runners = runners

    async def through(self, job: Job, attempt: Attempt[T], on_event: OnEvent) -> tuple[Job, T]:
        """Do `attempt` with a job on its runner, and anew on each one that it is given to.

        A job whose benchmarks have begun stays where it is. Returns the job as it was in the end.
        Raises the RunnerFault of the last runner.
        """
        tries = _Tries(job, on_event)
        while True:
            try:
                async with self._runners.unless_moved(job.id):
                    return tries.job, await attempt(tries.job, tries.note)
            except JobMoved:
                tries.again(await self._stored(job))
            except JobVanished:
                if not await self._once_more(tries):
                    raise
            except RunnerFault as fault:
                if isinstance(fault, OverLimit) or not await self._elsewhere(tries):
                    raise

    async def move(self, job: Job, phases: Iterable[JobPhase] = NOT_BEGUN) -> Job | None:
        """Give a job to another runner that takes jobs and had it never before.

        Returns None where there is no such runner, or where the job is no longer in `phases`.
        """
        async with self._database.begin() as session:
            but = await left_by(session, job.id) | {job.runner}
            try:
                to = self._runners.next_for(job.gpu, but, job.capture.mode)
            except GpuWithoutRunner:
                return None
            if not await reassign(session, job, to, phases):
                return None
        with about_job(job.id):
            log.warning("moved from runner %s to %s", job.runner, to)
        return replace(job, runner=to, phase=JobPhase.ACCEPTED)

    async def withdraw(self, job_id: str, fault: RunnerFault) -> bool:
        """Cancel a job that its runner has not begun and cannot be told of now; it drops it later.

        Returns False where it has begun, as far as is known.
        """
        async with self._database.begin() as session:
            return await withdraw(session, job_id, fault_kind(fault))

    async def clear(self, runner: str) -> None:
        """Give what waits for a runner that is out to others, as far as there are any."""
        async with self._database.begin() as session:
            waiting = await not_begun_on(session, runner)
        for job in waiting:
            if await self.move(job) is not None:
                self._runners.tell_moved(job.id)

    async def _once_more(self, tries: "_Tries") -> bool:
        """Hand a job over again to the runner that does not know it, or to another one."""
        if tries.has_begun:
            return False
        if not tries.is_second:
            tries.again(tries.job, is_second=True)
            return True
        return await self._elsewhere(tries)

    async def _elsewhere(self, tries: "_Tries") -> bool:
        if tries.has_begun:
            return False
        moved = await self.move(tries.job, (*NOT_BEGUN, JobPhase.RUNNING))
        if moved is not None:
            tries.again(moved)
        return moved is not None

    async def _stored(self, job: Job) -> Job:
        async with self._database.begin() as session:
            return await rows.find(session, job.id) or job


class _Tries:
    """What is known of a job through all its runners."""

    def __init__(self, job: Job, on_event: OnEvent) -> None:
        self.job = job
        # What a bot before this one saw is not known: only that something ran.
        self.has_begun = job.phase is JobPhase.RUNNING
        self.is_second = False
        self._on_event = on_event

    def again(self, job: Job, *, is_second: bool = False) -> None:
        """Begin anew with the hand-over, for which the same id twice is one job."""
        self.job = replace(job, phase=JobPhase.ACCEPTED)
        self.is_second = is_second

    async def note(self, event: JobEvent) -> None:
        """Pass an event on, and remember whether a benchmark has begun."""
        if not isinstance(event, Queued | Preparing):
            self.has_begun = True
        await self._on_event(event)
