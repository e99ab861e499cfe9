"""Values of a job's life, from what somebody typed to what came back."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from counters.launches import Summary
from runner_client.captures import WITHOUT_COUNTERS, CaptureMode, CaptureOptions
from runner_client.wire import Benchmark, BenchmarkResult, BenchmarkStatus, JobResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """What somebody asked for, before anything was checked.

    `source` are the attachment's bytes; `leaderboard`, `gpu` and `benchmark` are None where they
    were not typed and may then come from the file's directives, or mean every benchmark entry.
    """

    user_id: int
    file_name: str
    source: bytes
    leaderboard: str | None = None
    gpu: str | None = None
    benchmark: int | None = None
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    channel_id: int | None = None
    guild_id: int | None = None


class JobPhase(StrEnum):
    """Where a job stands in the database; each change is one guarded, dated transition."""

    ACCEPTED = "accepted"
    QUEUED = "queued"
    RUNNING = "running"
    FETCHED = "fetched"
    DELIVERING = "delivering"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNDER_WAY = frozenset({JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING})
"""A runner has the job, or is to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An accepted job: a row in the database.

    `notes` are sentences for the author about choices made for them (a directive that was
    overridden, say).
    """

    id: str
    user_id: int
    leaderboard: str
    gpu: str
    runner: str
    file_name: str
    benchmarks: tuple[Benchmark, ...]
    capture: CaptureOptions
    phase: JobPhase
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastProfile:
    """A benchmark that was profiled before: whose job, which shape, when it was asked for."""

    job_id: str
    leaderboard: str
    gpu: str
    file_name: str
    benchmark: Benchmark
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Whose:
    """A user's jobs: all of them, or those alone that were asked for in one Discord server."""

    user_id: int
    guild_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJob:
    """A job as its author's list shows it; `size` are the bytes of its files that are kept."""

    id: str
    leaderboard: str
    gpu: str
    file_name: str
    benchmarks: tuple[Benchmark, ...]
    phase: JobPhase
    created_at: datetime
    failure_kind: str | None
    size: int
    files_gone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOutcome:
    """One benchmark with its counters parsed and its files on the bot's disk.

    `report` is None where there is no CSV to read; `files` maps artifact names to paths.
    """

    result: BenchmarkResult
    report: Summary | None
    files: dict[str, Path]

    @property
    def uncounted(self) -> CaptureMode | None:
        """Return the mode of a result that has no counters by design, else None."""
        coverage, failed = self.result.coverage, self.result.status is BenchmarkStatus.FAILED
        if coverage is None or failed or coverage.mode not in WITHOUT_COUNTERS:
            return None
        return coverage.mode


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """A job that ended, everything fetched and checked against its hashes."""

    job: Job
    result: JobResult
    benchmarks: tuple[BenchmarkOutcome, ...]
    manifest: Path | None
