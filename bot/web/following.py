"""Jobs that came from a terminal: run to their end, whether or not anybody listens."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from bot.jobs.errors import NcubotError, ResultGone
from bot.jobs.model import Job, JobOutcome, JobPhase, ProfileRequest
from bot.jobs.service import JobService
from bot.storage.terminal_jobs import TerminalJobs
from bot.web.words import words
from runner_client.logs import about_job
from runner_client.wire import JobEvent, Queued

log = logging.getLogger(__name__)
AGAIN = timedelta(minutes=10)
"""So long after it was accepted a job is found again by its file and options."""


class Followed:
    """One job on its way. Any number of listeners may come and go."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.began = time.monotonic()
        self.message = "accepted"
        self.ahead: int | None = None
        self.error: NcubotError | None = None
        self.ended = asyncio.Event()
        self._changed = asyncio.Condition()

    async def note(self, event: JobEvent) -> None:
        """Take what the runner says."""
        self.ahead = event.ahead if isinstance(event, Queued) else None
        said = words(event)
        if said is not None and said != self.message:
            await self._tell(said)

    async def end(self, error: NcubotError | None) -> None:
        """Note that the job is over; nothing follows."""
        self.error = error
        self.ended.set()
        await self._tell(self.message)

    async def _tell(self, message: str) -> None:
        async with self._changed:
            self.message = message
            self._changed.notify_all()

    async def messages(self, every_s: float) -> AsyncIterator[str]:
        """Give what is to be said until the job is over: each change, and a sign of life."""
        while not self.ended.is_set():
            yield self.message
            async with self._changed:
                with suppress(TimeoutError):
                    async with asyncio.timeout(every_s):
                        await self._changed.wait()


class TerminalFollower:
    """Follows the jobs of terminals, each in a task of its own."""

    def __init__(self, jobs: JobService, stored: TerminalJobs) -> None:
        self._jobs = jobs
        self._stored = stored
        self._followed: dict[str, Followed] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()

    async def resume(self) -> None:
        """Follow what an earlier bot left."""
        for job in await self._stored.unfinished():
            self._follow(job)

    async def submit(self, request: ProfileRequest) -> Followed:
        """Take a request, or find the job that it asks for again. Raises NcubotError."""
        async with self._one_at_a_time:
            wanted = self._jobs.wanted(request)
            known = await self._stored.find_same(wanted, datetime.now(UTC) - AGAIN)
            if known is not None:
                return self.of(known)
            job = await self._jobs.submit(request)
            return self._follow(job)

    def of(self, job: Job) -> Followed:
        """Return a job as it is followed, or as one that is over."""
        known = self._followed.get(job.id)
        if known is None:
            known = Followed(job)
            known.ended.set()
        return known

    async def outcome(self, followed: Followed) -> JobOutcome:
        """Return what a job brought that is over. Raises NcubotError."""
        if followed.error is not None:
            raise followed.error
        outcome = await self._jobs.outcome(followed.job)
        if outcome is None:
            raise ResultGone(followed.job.id)
        return outcome

    async def close(self) -> None:
        """Leave the jobs to the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _follow(self, job: Job) -> Followed:
        followed = self._followed[job.id] = Followed(job)
        task = asyncio.create_task(self._run(followed), name=f"terminal-job-{job.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return followed

    async def _run(self, followed: Followed) -> None:
        error: NcubotError | None = None
        with about_job(followed.job.id):
            try:
                if followed.job.phase is not JobPhase.FETCHED:
                    await self._jobs.run(followed.job, followed.note)
                await self._stored.available(followed.job.id)
            except NcubotError as fault:
                error = fault
            finally:
                self._followed.pop(followed.job.id, None)
                await followed.end(error)
