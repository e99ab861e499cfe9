"""The queue: one job at a time on the GPU, places told, cancel at any stage, restart without loss.

A restart runs unfinished jobs again from the start and leaves finished ones finished.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from runner.events import NOW, EventLog, newer
from runner.job import Executor, LiveJob, failed
from runner.store import Store
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
    """Holds the live jobs; those that ended are read from disk when somebody asks."""

    def __init__(self, store: Store, executor: Executor, max_queued: int) -> None:
        self._store = store
        self._executor = executor
        self._max_queued = max_queued
        self._queue: list[LiveJob] = []
        self._running: LiveJob | None = None
        self._live: dict[str, LiveJob] = {}
        self._submits = asyncio.Lock()
        self._work = asyncio.Event()
        self._closing = False
        self._worker: asyncio.Task[None] | None = None

    @property
    def queued(self) -> int:
        """Return how many jobs wait."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Return how many jobs run."""
        return int(self._running is not None)

    async def start(self) -> None:
        """Take up what an earlier process left, and begin to work."""
        await asyncio.to_thread(self._store.open)
        for job_id in await asyncio.to_thread(self._store.ids):
            await self._recover(job_id)
        await self._tell_places()
        self._worker = asyncio.create_task(self._work_off(), name="runner-worker")

    def stop_waiting(self) -> None:
        """Answer every long poll at once and take no further job."""
        self._closing = True
        for job in self._live.values():
            job.log.close()

    async def close(self) -> None:
        """End the running job's programs; it will be run again after a restart."""
        self.stop_waiting()
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker

    async def submit(self, spec: JobSpec) -> Submitted:
        """Take a job, or find it again. Raises Taken, Full."""
        async with self._submits:
            known = await self._spec(spec.id)
            if known is not None:
                if known != spec:
                    raise Taken
                return Submitted(await self.status(spec.id), created=False)
            if self._closing or len(self._queue) >= self._max_queued:
                raise Full("shutting down" if self._closing else "the queue is full")
            await asyncio.to_thread(self._store.create, spec)
            self._enqueue(LiveJob(spec, EventLog(self._store, spec.id, [])))
        await self._tell_places()
        return Submitted(await self.status(spec.id), created=True)

    async def status(self, job_id: str) -> JobStatus:
        """Return a job's state. Raises Unknown."""
        job = self._live.get(job_id)
        if job is not None:
            running = job is self._running
            return JobStatus(id=job_id, state=JobState.RUNNING if running else JobState.QUEUED)
        result = await asyncio.to_thread(self._store.result, job_id)
        if result is None:
            raise Unknown
        return JobStatus(id=job_id, state=JobState.ENDED, result=result)

    async def events(self, job_id: str, after: int, wait_s: float) -> tuple[JobEvent, ...]:
        """Return the events after a number; waits only while the job lives. Raises Unknown."""
        job = self._live.get(job_id)
        if job is not None:
            return await job.log.after(after, wait_s)
        if await asyncio.to_thread(self._store.spec, job_id) is None:
            raise Unknown
        return newer(await asyncio.to_thread(self._store.events, job_id), after)

    async def cancel(self, job_id: str) -> JobStatus:
        """Cancel a job at any stage; one that ended stays as it is. Raises Unknown."""
        job = self._live.get(job_id)
        if job is not None:
            job.cancel.set()
            if job in self._queue:
                self._queue.remove(job)
                await self._end(job, await self._failure(FailureKind.CANCELLED))
                await self._tell_places()
        return await self.status(job_id)

    async def _spec(self, job_id: str) -> JobSpec | None:
        job = self._live.get(job_id)
        if job is not None:
            return job.spec
        return await asyncio.to_thread(self._store.spec, job_id)

    async def _recover(self, job_id: str) -> None:
        spec = await asyncio.to_thread(self._store.spec, job_id)
        if spec is None:
            return
        events = await asyncio.to_thread(self._store.events, job_id)
        log = EventLog(self._store, job_id, events)
        if await asyncio.to_thread(self._store.result, job_id) is None:
            self._enqueue(LiveJob(spec, log))
        elif not isinstance(log.last, Ended):
            await log.emit(Ended(number=0, at=NOW))

    def _enqueue(self, job: LiveJob) -> None:
        self._live[job.spec.id] = job
        self._queue.append(job)
        self._work.set()

    async def _work_off(self) -> None:
        while True:
            await self._work.wait()
            if not self._queue:
                self._work.clear()
                continue
            self._running = job = self._queue.pop(0)
            await self._tell_places()
            result = await self._run(job)
            await self._end(job, result)
            self._running = None
            await self._tell_places()

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
        await asyncio.to_thread(self._store.save_result, job.spec.id, result)
        self._live.pop(job.spec.id, None)
        await job.log.emit(Ended(number=0, at=NOW))
        logger.info("job %s ended", job.spec.id)

    async def _tell_places(self) -> None:
        for place, job in enumerate(tuple(self._queue)):
            ahead = place + self.running
            if job.ahead != ahead:
                job.ahead = ahead
                await job.log.emit(Queued(number=0, at=NOW, ahead=ahead))
