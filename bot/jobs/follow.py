"""Follows a job on its runner to the end, through restarts of the runner."""

import asyncio
from collections.abc import Awaitable, Callable

import stamina

from bot.jobs.model import Job, JobPhase
from runner_client.client import RunnerClient
from runner_client.errors import Broken, Unreachable
from runner_client.wire import Artifact, Ended, JobEvent, JobResult, JobState, Queued

POLL_S = 25.0
IDLE_S = 0.2
"""Least time between two polls that brought nothing, whatever the runner makes of `wait`."""
NEAR = 4
"""With so few jobs ahead a job may begin any moment."""
A_JOB_AHEAD_S = 0.1
LONGEST_REST_S = 2.0
OnEvent = Callable[[JobEvent], Awaitable[None]]


def patient(patience_s: float) -> stamina.BoundAsyncRetryingCaller:
    """Return a caller that waits at most `patience_s` seconds for an unreachable runner."""
    return stamina.AsyncRetryingCaller(
        attempts=None, timeout=patience_s, wait_initial=0.2, wait_max=15.0
    ).on(Unreachable)


async def follow(client: RunnerClient, job: Job, on_event: OnEvent, patience_s: float) -> JobResult:
    """Pass every event on, each once and in order, and return the result.

    Raises the client's errors; Unreachable only after `patience_s` seconds without an answer.
    """
    call = patient(patience_s)
    after = 0
    while True:
        events = await call(client.events, job.id, after, POLL_S)
        for event in events:
            if event.number > after:
                after = event.number
                await on_event(event)
        if not events or isinstance(events[-1], Ended):
            # An empty poll asks as well: the end must not hang on one event.
            status = await call(client.status, job.id)
            if status.state is JobState.ENDED:
                return _checked(job, status.result)
            await asyncio.sleep(IDLE_S)
        else:
            await asyncio.sleep(_rest_s(events[-1]))


def _rest_s(event: JobEvent) -> float:
    """Return how long a job far back in its queue is left alone.

    Each step of a queue is news for all who wait in it: asked for at once by all of them, the
    answers hold the event loop.
    """
    if not isinstance(event, Queued) or event.ahead <= NEAR:
        return 0.0
    return min(event.ahead * A_JOB_AHEAD_S, LONGEST_REST_S)


def phase_of(event: JobEvent) -> JobPhase:
    """Say in which phase a job is that sends this event."""
    return JobPhase.QUEUED if isinstance(event, Queued) else JobPhase.RUNNING


def artifacts(result: JobResult) -> tuple[Artifact, ...]:
    """Every file of a result, the manifest first."""
    manifest = (result.manifest,) if result.manifest else ()
    return manifest + tuple(file for entry in result.benchmarks for file in entry.artifacts)


def _checked(job: Job, result: JobResult | None) -> JobResult:
    if result is None:
        raise Broken("a job that ended without a result")
    asked = {entry.index: entry.spec for entry in job.benchmarks}
    given = [entry.index for entry in result.benchmarks]
    if len(set(given)) != len(given):
        raise Broken("two results for one benchmark")
    if any(asked.get(entry.index) != entry.spec for entry in result.benchmarks):
        raise Broken("a result for a benchmark that was not asked for")
    names = [file.name for file in artifacts(result)]
    if len(set(names)) != len(names):
        raise Broken("two artifacts of one name")
    return result
