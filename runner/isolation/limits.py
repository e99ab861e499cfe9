"""What a job may use, and the watcher that ends a program at a limit.

Figures come from this machine's clock and file system, never from what the program says.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from runner.capture.workspace import Workspace
from runner.isolation.halt import Halt, Stop
from runner.settings import RunnerSettings
from runner.text import seconds_words, size_words
from runner_client.wire import Failure, FailureKind, JobSpec, Mode

POLL_S = 0.5
MOST_FILES = 100_000
"""Entries of a job's folder that one look counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """An operator's limits. Times in seconds, sizes in bytes.

    A benchmark's wall time is the task's own limit times `replay_factor`. The others are for a
    whole job: wall time, launches asked for, reports together, files in its folder. `free_bytes`
    must stay free on the disk.
    """

    replay_factor: float
    job_s: float
    launches: int
    report_bytes: int
    job_bytes: int
    free_bytes: int

    @classmethod
    def of(cls, settings: RunnerSettings) -> Self:
        """Take the limits out of the settings."""
        return cls(
            replay_factor=settings.replay_factor,
            job_s=settings.job_timeout_s,
            launches=settings.max_job_launches,
            report_bytes=settings.max_report_bytes,
            job_bytes=settings.max_job_bytes,
            free_bytes=settings.min_free_bytes,
        )

    @property
    def largest_report(self) -> int:
        """Return up to which size a report is kept: ncu ends it some time after its limit."""
        return 2 * self.report_bytes

    def wall_s(self, spec: JobSpec) -> float:
        """Return the wall time of one benchmark; ncu replays each kernel many times."""
        return spec.timeout_s * (self.replay_factor if spec.mode is Mode.PROFILE else 1.0)

    def refusal(self, spec: JobSpec) -> Failure | None:
        """Refuse a job that asks for more launches than the operator allows."""
        asked = spec.capture.launch_count * len(spec.benchmarks)
        if spec.mode is not Mode.PROFILE or asked <= self.launches:
            return None
        each = f"{len(spec.benchmarks)} benchmarks of {spec.capture.launch_count} launches"
        detail = f"{each} are {asked:,} and {self.launches:,} are allowed"
        return Failure(kind=FailureKind.LAUNCH_LIMIT, detail=detail)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a job may still use: its time ends at `deadline` of the monotonic clock."""

    deadline: float


class Account:
    """What one job has used so far; its time runs from the making of this."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.budget = Budget(time.monotonic() + limits.job_s)
        self._reports = 0

    def took(self, report_bytes: int) -> None:
        """Count a report that was kept."""
        self._reports += report_bytes

    def used_up(self) -> Failure | None:
        """Return why no further benchmark is begun."""
        if time.monotonic() >= self.budget.deadline:
            figure = seconds_words(self.limits.job_s)
            return Failure(kind=FailureKind.JOB_TIME_LIMIT, detail=figure)
        if self._reports >= self.limits.report_bytes:
            figure = size_words(self.limits.report_bytes)
            return Failure(kind=FailureKind.REPORT_LIMIT, detail=figure)
        return None


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes at one moment: where ncu writes reports, in the job's folder, free on its disk."""

    report: int
    job: int
    free: int


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that was passed, and its figure for the user."""

    stop: Stop
    figure: str


def look(work: Workspace) -> Usage:
    """Measure a job's folder. Blocking. Follows no link; files may vanish meanwhile."""
    return Usage(
        report=sum(_sizes(work.out)),
        job=sum(_sizes(work.root)),
        free=shutil.disk_usage(work.root).free,
    )


def excess(usage: Usage, budget: Budget, limits: Limits) -> Excess | None:
    """Return the first limit that `usage` or the clock has passed.

    A disk that would have room without this job's files is full by the job, else by others.
    """
    if time.monotonic() >= budget.deadline:
        return Excess(Stop.JOB_TIME_LIMIT, seconds_words(limits.job_s))
    if usage.report > limits.report_bytes:
        return Excess(Stop.REPORT_LIMIT, size_words(limits.report_bytes))
    if usage.job > limits.job_bytes:
        return Excess(Stop.DISK_LIMIT, size_words(limits.job_bytes))
    if usage.free < limits.free_bytes:
        by_job = usage.free + usage.job >= limits.free_bytes
        figure = f"{size_words(limits.free_bytes)} must stay free"
        return Excess(Stop.DISK_LIMIT if by_job else Stop.DISK_FULL, figure)
    return None


@asynccontextmanager
async def watched(
    halt: Halt, work: Workspace, budget: Budget, limits: Limits, poll_s: float = POLL_S
) -> AsyncIterator[None]:
    """Watch a running program: at a limit `halt` is asked, with the reason and the figure."""
    watcher = asyncio.create_task(_watch(halt, work, budget, limits, poll_s))
    try:
        yield
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def _watch(
    halt: Halt, work: Workspace, budget: Budget, limits: Limits, poll_s: float
) -> None:
    while halt.reason is None:
        found = excess(await asyncio.to_thread(look, work), budget, limits)
        if found is not None:
            halt.ask(found.stop, found.figure)
        await asyncio.sleep(poll_s)


def _sizes(folder: Path) -> Iterator[int]:
    """Yield what each file takes on the disk, at most MOST_FILES of them."""
    folders, seen = [folder], 0
    while folders and seen < MOST_FILES:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
