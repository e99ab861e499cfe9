"""The live jobs: a fair queue, one job a GPU, places told, cancel at any stage."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from runner.jobs.events import NOW, EventLog, newer
from runner.jobs.fairqueue import FairQueue
from runner.jobs.job import Executor, LiveJob, failed
from runner.jobs.recovery import recover
from runner.jobs.retention import Bounds, expired
from runner.jobs.store import Store, Unreadable
from runner_client.logs import about_job
from runner_client.wire import (
    Ended,
    Failure,
    FailureKind,
    JobEvent,
    JobResult,
    JobSpec,
    JobState,
    JobStatus,
    Queued,
)

logger = logging.getLogger(__name__)
SAVE_AGAIN_S = 5.0
SWEEP_EVERY_S = 300.0


class Taken(Exception):  # noqa: N818 - an answer
    """The id belongs to another spec."""


class Full(Exception):  # noqa: N818 - an answer
    """No further job is taken; the text says why."""


class Unknown(Exception):  # noqa: N818 - an answer
    """No such job."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submit; `created` is False where the job was there already."""

    status: JobStatus
    created: bool


class Scheduler:
    """Holds the live jobs; those that ended are read from disk when somebody asks.

    A job waits in the queue, then is at work on one GPU.
    """

    def __init__(self, store: Store, executor: Executor) -> None:
        self._store = store
        self._executor = executor
        self._queue = FairQueue()
        self._live: dict[str, LiveJob] = {}
        self._gpus: tuple[str, ...] = ()
        self._free: list[str] = []
        self._busy: set[str] = set()
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._submits = asyncio.Lock()
        self._moved = asyncio.Event()
        self._closing = False
        self._helpers: list[asyncio.Task[None]] = []

    @property
    def queued(self) -> int:
        """Return how many jobs wait."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Return how many jobs run."""
        return len(self._at_work)

    @property
    def slots(self) -> int:
        """Return how many jobs can run at the same time."""
        return len(self._gpus)

    async def start(self) -> None:
        """Take up what an earlier process left, and begin to work; the store must be open."""
        self._gpus = await self._executor.engine.gpus()
        self._free = list(self._gpus)
        for job in await recover(self._store, self._failure):
            self._enqueue(job)
        self._helpers = [
            asyncio.create_task(self._tell_places(), name="runner-places"),
            asyncio.create_task(self._sweep(), name="runner-sweep"),
        ]
        self._dispatch()

    def resize(self, gpus: tuple[str, ...]) -> None:
        """Use other GPUs from now on; jobs at work are left to end, on fewer GPUs one by one."""
        kept = [gpu for gpu in self._free if gpu in gpus]
        self._gpus = gpus
        self._free = kept + [gpu for gpu in gpus if gpu not in self._busy and gpu not in kept]
        self._dispatch()

    def stop_waiting(self) -> None:
        """Answer every long poll at once and take no further job."""
        self._closing = True
        for job in self._live.values():
            job.log.close()

    async def close(self) -> None:
        """End the running jobs' programs; they go on after a restart."""
        self.stop_waiting()
        tasks = [*self._helpers, *self._at_work.values()]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(self._store.close)

    async def submit(self, spec: JobSpec) -> Submitted:
        """Take a job, or find it again. Raises Taken, Full, OSError."""
        async with self._submits:
            if await self._is_known(spec):
                return Submitted(await self.status(spec.id), created=False)
            self._check_room(spec.requester)
            await asyncio.to_thread(self._store.create, spec)
            job = LiveJob(spec, EventLog(self._store, spec.id, []))
            self._enqueue(job)
        await self._tell(job, self._queue.order().index(spec.id))
        self._dispatch()
        return Submitted(await self.status(spec.id), created=True)

    async def status(self, job_id: str) -> JobStatus:
        """Return a job's state. Raises Unknown."""
        if job_id in self._live:
            waits = job_id in self._queue
            return JobStatus(id=job_id, state=JobState.QUEUED if waits else JobState.RUNNING)
        result = await asyncio.to_thread(self._store.result, job_id)
        if result is None:
            raise Unknown
        return JobStatus(id=job_id, state=JobState.ENDED, result=result)

    async def events(self, job_id: str, after: int, wait_s: float) -> tuple[JobEvent, ...]:
        """Return the events after a number; waits only while the job lives. Raises Unknown."""
        job = self._live.get(job_id)
        if job is not None:
            return await job.log.after(after, wait_s)
        if not await asyncio.to_thread(self._store.knows, job_id):
            raise Unknown
        return newer(await asyncio.to_thread(self._store.events, job_id), after)

    async def cancel(self, job_id: str) -> JobStatus:
        """Cancel a job at any stage; one that ended stays as it is. Raises Unknown."""
        job = self._live.get(job_id)
        if job is not None:
            job.cancel.set()
            if self._queue.remove(job_id):
                await self._end(job, await self._failure(FailureKind.CANCELLED))
                self._moved.set()
            else:
                await self._keep_cancel(job_id)
        return await self.status(job_id)

    async def _keep_cancel(self, job_id: str) -> None:
        try:
            await asyncio.to_thread(self._store.records(job_id).cancel)
        except OSError:
            logger.exception("that job %s is cancelled will be forgotten at a restart", job_id)

    async def _is_known(self, spec: JobSpec) -> bool:
        job = self._live.get(spec.id)
        try:
            known = job.spec if job else await asyncio.to_thread(self._store.spec, spec.id)
        except Unreadable:
            raise Taken from None
        if known is not None and known != spec:
            raise Taken
        return known is not None

    def _check_room(self, requester: str) -> None:
        settings = self._executor.settings
        if self._closing:
            raise Full("the runner is shutting down")
        most, each = settings.max_queued, settings.max_queued_each
        if len(self._queue) >= most:
            raise Full(f"the queue is full ({most} of {most} places)")
        if self._queue.waiting(requester) >= each:
            raise Full(f"this user's places in the queue are taken ({each} of {each})")

    def _enqueue(self, job: LiveJob) -> None:
        self._live[job.spec.id] = job
        self._queue.push(job.spec.id, job.spec.requester)
        self._moved.set()

    def _dispatch(self) -> None:
        """Start the next jobs while there are free GPUs."""
        while self._has_room and self._queue and not self._closing:
            job = self._live[self._queue.pop()]
            job.gpu = self._free.pop(0)
            self._busy.add(job.gpu)
            task = asyncio.create_task(self._work(job), name=f"job-{job.spec.id}")
            self._at_work[job.spec.id] = task
        self._moved.set()

    async def _work(self, job: LiveJob) -> None:
        try:
            with about_job(job.spec.id):
                result = await self._run(job)
                await self._end(job, result)
        finally:
            del self._at_work[job.spec.id]
            self._busy.discard(job.gpu)
            if job.gpu in self._gpus:
                self._free.append(job.gpu)
            if not self._at_work:
                self._queue.rest()
            self._dispatch()

    @property
    def _has_room(self) -> bool:
        # Jobs whose GPU has gone wait for one of the others, before those that have not begun.
        return bool(self._free) and len(self._at_work) < len(self._gpus)

    async def _run(self, job: LiveJob) -> JobResult:
        try:
            return await self._executor.execute(job)
        except Exception as error:  # edge of a job: one that breaks must not stop the queue
            logger.exception("job %s broke", job.spec.id)
            return await self._failure(FailureKind.RUNNER_ERROR, type(error).__name__)

    async def _failure(self, kind: FailureKind, detail: str = "") -> JobResult:
        engine = self._executor.engine
        system = await engine.system()
        return failed(Failure(kind=kind, detail=detail), system, engine.recorded_on)

    async def _end(self, job: LiveJob, result: JobResult) -> None:
        job_id = job.spec.id
        await self._insist(lambda: self._store.save_result(job_id, result))
        await asyncio.to_thread(self._store.records(job_id).clear)
        self._live.pop(job_id, None)
        self._executor.ended(job, result)
        await self._say(job, Ended(number=0, at=NOW))
        logger.info("job %s ended", job_id)

    async def _insist(self, save: Callable[[], None]) -> None:
        """Save until it works: a result that took minutes of a GPU is not lost to a full disk."""
        while True:
            try:
                return await asyncio.to_thread(save)
            except OSError:
                logger.exception("a result cannot be kept; trying again in %s s", SAVE_AGAIN_S)
            await asyncio.sleep(SAVE_AGAIN_S)

    async def _say(self, job: LiveJob, event: JobEvent) -> None:
        try:
            await job.log.emit(event)
        except OSError:
            logger.exception("an event of job %s cannot be kept", job.spec.id)

    async def _tell_places(self) -> None:
        while True:
            await self._moved.wait()
            self._moved.clear()
            for place, job_id in enumerate(self._queue.order()):
                if job_id in self._queue:
                    await self._tell(self._live[job_id], place)

    async def _tell(self, job: LiveJob, place: int) -> None:
        # On a busy machine one job must end for the first in the queue to start.
        ahead = place + (0 if self._has_room else 1)
        if job.ahead != ahead:
            job.ahead = ahead
            await self._say(job, Queued(number=0, at=NOW, ahead=ahead))

    async def _sweep(self) -> None:
        settings = self._executor.settings
        bounds = Bounds(settings.keep_s, settings.keep_jobs, settings.keep_bytes)
        while True:
            try:
                kept = await asyncio.to_thread(self._store.ended)
                for job_id in expired(kept, bounds, datetime.now(UTC).timestamp()):
                    async with self._submits:
                        await asyncio.to_thread(self._store.remove, job_id)
            except OSError:
                logger.exception("old jobs cannot be removed")
            await asyncio.sleep(SWEEP_EVERY_S)
