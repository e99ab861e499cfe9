"""Users of a runner that is killed all the time: they post, follow, cancel and fetch."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from runner_client.client import RunnerClient
from runner_client.errors import Unreachable
from runner_client.wire import (
    Benchmark,
    BenchmarkStatus,
    Capturing,
    Ended,
    Exporting,
    FailureKind,
    JobEvent,
    JobResult,
    JobSpec,
    JobState,
    Mode,
)
from tests.standin.problem import GOOD, cuda_job, job, replaying

T = TypeVar("T")
LOST_S = 0.05
"""Pause after a connection was lost."""
DAEMON = f"""
import os, sys, time
if "custom" not in os.environ and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        time.sleep(600)
    os._exit(0)
{GOOD}"""


@dataclass(frozen=True, slots=True)
class Wish:
    """A job to post, and what must become of it when nobody cancels it."""

    spec: JobSpec
    status: BenchmarkStatus
    cancel_after_s: float | None = None


@dataclass(slots=True)
class Delivery:
    """What a user got of a job."""

    wish: Wish
    events: list[JobEvent] = field(default_factory=list)
    result: JobResult | None = None


def wish(user: str, dice: random.Random) -> Wish:
    """Think of a job."""
    count = dice.choice((1, 1, 2, 3))
    spec, status = dice.choice(
        (
            (job(replaying("ok-triton-1024", 0.01), count=count), BenchmarkStatus.SUCCEEDED),
            (job(replaying("ok-geqrf-four-kernels"), count=count), BenchmarkStatus.SUCCEEDED),
            (job(mode=Mode.TEST, count=count), BenchmarkStatus.SUCCEEDED),
            (job(DAEMON, Mode.BENCHMARK), BenchmarkStatus.SUCCEEDED),
            (job(GOOD), BenchmarkStatus.FAILED),
            (cuda_job("// fine", Mode.TEST), BenchmarkStatus.SUCCEEDED),
        )
    )
    return Wish(replace(spec, requester=user), status, _patience(dice))


def hanging(user: str, dice: random.Random) -> Wish:
    """Think of a job that ends by being cancelled only."""
    spec = replace(job(replaying("partial-hang-terminated")), requester=user)
    return Wish(spec, BenchmarkStatus.PARTIAL, dice.uniform(0.5, 2.0))


def _patience(dice: random.Random) -> float | None:
    return dice.uniform(0.0, 1.5) if dice.random() < 0.15 else None


@dataclass(frozen=True, slots=True)
class User:
    """One who wants jobs done, one after the other, as long as `going` is set."""

    name: str
    client: RunnerClient
    dice: random.Random
    deliveries: list[Delivery]

    async def work(self, done: asyncio.Event) -> None:
        """Post jobs and wait for each, until `done`."""
        while not done.is_set():
            think = hanging if self.dice.random() < 0.1 else wish
            delivery = Delivery(think(self.name, self.dice))
            self.deliveries.append(delivery)
            await self._through(delivery)

    async def _through(self, delivery: Delivery) -> None:
        spec = delivery.wish.spec
        await patiently(lambda: self.client.submit(spec))
        cancelling = asyncio.create_task(self._cancel(delivery.wish))
        try:
            await self._follow(delivery)
        finally:
            cancelling.cancel()

    async def _cancel(self, wish: Wish) -> None:
        if wish.cancel_after_s is not None:
            await asyncio.sleep(wish.cancel_after_s)
            await patiently(lambda: self.client.cancel(wish.spec.id))

    async def _follow(self, delivery: Delivery) -> None:
        job_id, seen = delivery.wish.spec.id, delivery.events

        async def more() -> tuple[JobEvent, ...]:
            return await self.client.events(job_id, len(seen), 5.0)

        while not (seen and isinstance(seen[-1], Ended)):
            seen += await patiently(more)
        status = await patiently(lambda: self.client.status(job_id))
        assert status.state is JobState.ENDED
        delivery.result = status.result


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Ask again until the runner answers."""
    while True:
        try:
            return await call()
        except Unreachable:
            await asyncio.sleep(LOST_S)


async def check(delivery: Delivery, client: RunnerClient, folder: Path) -> None:
    """Check that a job ended once, as it must, and that its files are those of its result."""
    spec, result = delivery.wish.spec, delivery.result
    assert result is not None
    assert (await client.status(spec.id)).result == result
    assert await client.events(spec.id, 0, 0) == tuple(delivery.events)
    _check_events(delivery.events)
    _check_result(delivery.wish, result)
    await asyncio.to_thread(folder.mkdir)
    files = [file for benchmark in result.benchmarks for file in benchmark.artifacts]
    for file in (*files, *((result.manifest,) if result.manifest else ())):
        await client.fetch(spec.id, file, folder)


def _check_events(events: list[JobEvent]) -> None:
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert [type(event) for event in events].count(Ended) == 1
    captured: set[int] = set()
    for event in events:
        if isinstance(event, Exporting):
            captured.add(event.benchmark)
        # What was captured before a kill is not captured again.
        assert not (isinstance(event, Capturing) and event.benchmark in captured)


def _check_result(wish: Wish, result: JobResult) -> None:
    cancelled = wish.cancel_after_s is not None
    if result.failure is not None:
        assert cancelled
        assert result.failure.kind is FailureKind.CANCELLED
        return
    asked: list[Benchmark] = list(wish.spec.benchmarks)
    assert [(one.index, one.spec) for one in result.benchmarks] == [
        (one.index, one.spec) for one in asked
    ]
    for one in result.benchmarks:
        if not cancelled or one.failure is None or one.failure.kind is not FailureKind.CANCELLED:
            assert one.status is wish.status, one
