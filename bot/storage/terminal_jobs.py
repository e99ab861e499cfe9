"""Queries about jobs that came from a terminal: those to whose authors no delivery is under way."""

from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import Select, or_, select

from bot.jobs.model import Job, JobPhase
from bot.storage.database import Database
from bot.storage.jobs import FINAL, job_of, move
from bot.storage.tables import DeliveryRow, JobRow
from runner_client.captures import CaptureOptions
from runner_client.wire import Benchmark, JobResult

NUMBER_DIGITS = 15
"""Hex digits of a job's id that make the number which terminals know it by: 60 bits."""
_UNFINISHED = frozenset(JobPhase) - FINAL
_USELESS = frozenset({JobPhase.FAILED, JobPhase.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for, to find a job that was asked for in the same way."""

    user_id: int
    version_id: int
    gpu: str
    submission_sha256: str
    benchmarks: tuple[Benchmark, ...]
    capture: CaptureOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    """A job with what lists show of it; `failure_kind` is None where it did not fail as a whole.

    `passed` where every benchmark gave what was asked for and no output was wrong.
    """

    job: Job
    created_at: datetime
    submission: str
    failure_kind: str | None
    passed: bool

    @property
    def number(self) -> int:
        """The job's number for a terminal."""
        return int(self.job.id[:NUMBER_DIGITS], 16)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.job.phase in FINAL


class TerminalJobs:
    """The jobs as terminals see them. Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unfinished(self) -> tuple[Job, ...]:
        """Return the jobs that have not ended and are not delivered in Discord, oldest first."""
        query = (
            select(JobRow)
            .outerjoin(DeliveryRow, DeliveryRow.job_id == JobRow.id)
            .where(DeliveryRow.job_id.is_(None))
            .where(JobRow.phase.in_([phase.value for phase in _UNFINISHED]))
            .order_by(JobRow.created_at)
        )
        async with self._database.begin() as session:
            return tuple(map(job_of, await session.scalars(query)))

    async def find_same(self, wanted: Wanted, since: datetime) -> Job | None:
        """Return the newest job that a terminal asked for in the same way, and that serves again.

        It is under way, or its result is here and of `since`; none that failed by no fault of its
        author, who was told to try again.
        """
        current = or_(
            JobRow.created_at >= since,
            JobRow.phase.in_([phase.value for phase in _UNFINISHED]),
        )
        query = (
            _of(wanted.user_id)
            .outerjoin(DeliveryRow, DeliveryRow.job_id == JobRow.id)
            .where(DeliveryRow.job_id.is_(None), current)
            .where(JobRow.charged.is_(True), JobRow.files_gone_at.is_(None))
            .where(JobRow.submission_sha256 == wanted.submission_sha256)
            .where(JobRow.version_id == wanted.version_id, JobRow.gpu == wanted.gpu)
            .where(JobRow.options == msgspec.json.encode(wanted.capture).decode())
            .where(JobRow.benchmarks == msgspec.json.encode(wanted.benchmarks).decode())
            .where(JobRow.phase.not_in([phase.value for phase in _USELESS]))
            .order_by(JobRow.created_at.desc())
            .limit(1)
        )
        async with self._database.begin() as session:
            row = await session.scalar(query)
            return None if row is None else job_of(row)

    async def find(self, user_id: int, job_id: str) -> StoredJob | None:
        """Return a job of a user by its id."""
        return await self._first(_of(user_id).where(JobRow.id == job_id))

    async def find_number(self, user_id: int, number: int) -> StoredJob | None:
        """Return a job of a user by its number."""
        prefix = f"{number:0{NUMBER_DIGITS}x}"
        return await self._first(_of(user_id).where(JobRow.id.startswith(prefix, autoescape=True)))

    async def latest(self, user_id: int, most: int, board: str | None) -> tuple[StoredJob, ...]:
        """Return a user's latest jobs, newest first, of one leaderboard or of all."""
        query = _of(user_id).order_by(JobRow.created_at.desc()).limit(most)
        if board is not None:
            query = query.where(JobRow.leaderboard == board)
        async with self._database.begin() as session:
            return tuple(map(_stored, await session.scalars(query)))

    async def available(self, job_id: str) -> None:
        """Note that the result is there for its author, who fetches it when they like."""
        async with self._database.begin() as session:
            await move(session, job_id, JobPhase.DELIVERED)

    async def _first(self, query: Select[JobRow]) -> StoredJob | None:
        async with self._database.begin() as session:
            row = await session.scalar(query.limit(1))
            return None if row is None else _stored(row)


def _of(user_id: int) -> Select[JobRow]:
    return select(JobRow).where(JobRow.user_id == user_id, JobRow.deleted_at.is_(None))


def _stored(row: JobRow) -> StoredJob:
    return StoredJob(
        job=job_of(row),
        created_at=row.created_at,
        submission=row.submission.decode("utf-8", "replace"),
        failure_kind=row.failure_kind,
        passed=row.result is not None and _passed(row.result),
    )


def _passed(text: str) -> bool:
    result = msgspec.json.decode(text, type=JobResult)
    return result.failure is None and all(
        entry.failure is None and (entry.check is None or entry.check.passed)
        for entry in result.benchmarks
    )
