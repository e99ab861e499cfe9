"""What a runner takes up at its start: no job is lost, none ends twice."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from runner.jobs.events import NOW, EventLog
from runner.jobs.job import LiveJob
from runner.jobs.store import Store, Unreadable
from runner_client.wire import Ended, FailureKind, JobResult

logger = logging.getLogger(__name__)
MakeFailure: TypeAlias = Callable[[FailureKind, str], Awaitable[JobResult]]


async def recover(store: Store, failure: MakeFailure) -> list[LiveJob]:
    """Return the jobs that have not ended, those that were begun first, else oldest first.

    A job whose end was not told any more is told of; one that cannot be read ends by `failure`.
    """
    begun: list[LiveJob] = []
    others: list[LiveJob] = []
    for job_id in await asyncio.to_thread(store.ids):
        if await asyncio.to_thread(store.has_ended, job_id):
            await _tell_end(store, job_id)
            continue
        job = await _load(store, job_id, failure)
        if job is not None:
            records = store.records(job_id)
            if records.cancelled:
                job.cancel.set()
            (begun if records.begun else others).append(job)
    if begun or others:
        logger.info("%d jobs go on, %d wait", len(begun), len(others))
    return begun + others


async def _tell_end(store: Store, job_id: str) -> None:
    if not await asyncio.to_thread(store.is_told, job_id):
        log = EventLog(store, job_id, await asyncio.to_thread(store.events, job_id))
        await log.emit(Ended(number=0, at=NOW))
    await asyncio.to_thread(store.records(job_id).clear)


async def _load(store: Store, job_id: str, failure: MakeFailure) -> LiveJob | None:
    try:
        spec = await asyncio.to_thread(store.spec, job_id)
    except Unreadable as error:
        logger.error("job %s cannot be read and ends: %s", job_id, error)  # noqa: TRY400 - known
        result = await failure(FailureKind.RUNNER_ERROR, "its spec cannot be read any more")
        await asyncio.to_thread(store.save_result, job_id, result)
        await _tell_end(store, job_id)
        return None
    if spec is None:
        return None
    return LiveJob(spec, EventLog(store, job_id, await asyncio.to_thread(store.events, job_id)))
