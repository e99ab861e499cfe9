"""Queries about jobs. Each takes the session of its unit of work."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import select, update
from sqlalchemy.orm import defer

from bot.failures import charged, result_charged
from bot.jobs.model import Job, JobPhase, PastProfile
from bot.storage.database import Session
from bot.storage.tables import ArtifactRow, JobPhaseRow, JobRow
from runner_client.captures import CaptureOptions
from runner_client.wire import Artifact, Benchmark, JobResult

FINAL = frozenset({JobPhase.DELIVERED, JobPhase.FAILED, JobPhase.CANCELLED})
_HAVE_RESULTS = (JobPhase.FETCHED.value, JobPhase.DELIVERING.value, JobPhase.DELIVERED.value)
BEFORE: dict[JobPhase, frozenset[JobPhase]] = {
    JobPhase.QUEUED: frozenset({JobPhase.ACCEPTED, JobPhase.RUNNING}),
    JobPhase.RUNNING: frozenset({JobPhase.ACCEPTED, JobPhase.QUEUED}),
    JobPhase.FETCHED: frozenset({JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING}),
    JobPhase.DELIVERING: frozenset({JobPhase.FETCHED}),
    JobPhase.DELIVERED: frozenset({JobPhase.FETCHED, JobPhase.DELIVERING}),
    JobPhase.FAILED: frozenset(JobPhase) - FINAL,
    JobPhase.CANCELLED: frozenset(JobPhase) - FINAL - {JobPhase.DELIVERING},
}
"""From which phases each phase may be entered; RUNNING to QUEUED is a runner's restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as it is first stored."""

    job: Job
    version_id: int
    commit: str | None
    submission: bytes
    submission_sha256: str
    config_sha256: str
    channel_id: int | None
    guild_id: int | None


@dataclass(frozen=True, slots=True)
class Source:
    """What a job was made from; `version_id` is the state of the problem, `commit` its commit."""

    version_id: int
    commit: str | None
    submission: bytes


async def add(session: Session, new: NewJob) -> None:
    """Store a job with its first phase."""
    now = datetime.now(UTC)
    job = new.job
    row = JobRow(
        id=job.id,
        user_id=job.user_id,
        version_id=new.version_id,
        leaderboard=job.leaderboard,
        commit=new.commit,
        gpu=job.gpu,
        runner=job.runner,
        file_name=job.file_name,
        submission=new.submission,
        submission_sha256=new.submission_sha256,
        config_sha256=new.config_sha256,
        options=_text(job.capture),
        benchmarks=_text(job.benchmarks),
        notes=_text(job.notes),
        channel_id=new.channel_id,
        guild_id=new.guild_id,
        phase=job.phase.value,
        phase_at=now,
        created_at=now,
    )
    session.add(row)
    await session.flush()
    session.add(JobPhaseRow(job_id=job.id, phase=job.phase.value, at=now))


async def find(session: Session, job_id: str) -> Job | None:
    """Return a job, or None where there is none."""
    row = await session.get(JobRow, job_id)
    return None if row is None else job_of(row)


async def find_source(session: Session, job_id: str) -> Source:
    """Return what a job was made from. Raises NoResultFound where there is no such job."""
    columns = (JobRow.version_id, JobRow.commit, JobRow.submission)
    found = (await session.execute(select(*columns).where(JobRow.id == job_id))).one()
    return Source(found.version_id, found.commit, found.submission)


async def cancel_from(
    session: Session, job_id: str, before: Iterable[JobPhase], failure_kind: str | None = None
) -> bool:
    """Cancel a job that is in one of these phases; tell whether it was so."""
    return await _move_from(session, job_id, JobPhase.CANCELLED, before, failure_kind)


async def move(
    session: Session, job_id: str, to: JobPhase, failure_kind: str | None = None
) -> bool:
    """Let a job enter a phase, if it may; tell whether it did."""
    return await _move_from(session, job_id, to, BEFORE[to], failure_kind)


async def _move_from(
    session: Session,
    job_id: str,
    to: JobPhase,
    before: Iterable[JobPhase],
    failure_kind: str | None = None,
) -> bool:
    now = datetime.now(UTC)
    change: dict[str, object] = {"phase": to.value, "phase_at": now}
    if failure_kind is not None:
        change |= {"failure_kind": failure_kind[:40], "charged": charged(failure_kind)}
    result = await session.execute(
        update(JobRow)
        .where(JobRow.id == job_id)
        .where(JobRow.phase.in_([phase.value for phase in before]))
        .values(**change)
        .returning(JobRow.id)
    )
    if result.scalar_one_or_none() is None:
        return False
    session.add(JobPhaseRow(job_id=job_id, phase=to.value, at=now))
    return True


async def save_result(
    session: Session, job_id: str, result: JobResult, fetched: Iterable[Artifact]
) -> None:
    """Store what a runner said of a job, and which of its files are on the disk.

    Nothing is stored of a job whose author has deleted it meanwhile.
    """
    row = await session.get_one(JobRow, job_id)
    if row.deleted_at is not None:
        return
    row.result = _text(result)
    row.failure_kind = result.failure.kind.value if result.failure else None
    row.charged = result_charged(result)
    now = datetime.now(UTC)
    for artifact in fetched:
        await session.merge(
            ArtifactRow(
                job_id=job_id,
                name=artifact.name,
                size=artifact.size,
                sha256=artifact.sha256,
                created_at=now,
            )
        )


async def find_result(session: Session, job_id: str) -> JobResult | None:
    """Return what a runner said of a job, or None where it has not."""
    text = await session.scalar(select(JobRow.result).where(JobRow.id == job_id))
    return None if text is None else msgspec.json.decode(text, type=JobResult)


async def past_profiles(session: Session, user_id: int, most: int) -> tuple[PastProfile, ...]:
    """Return the benchmarks with counters of a user's latest `most` results, newest first."""
    query = (
        select(JobRow)
        .where(JobRow.user_id == user_id, JobRow.phase.in_(_HAVE_RESULTS))
        .where(JobRow.files_gone_at.is_(None))
        .options(defer(JobRow.submission))
        .order_by(JobRow.created_at.desc(), JobRow.id)
        .limit(most)
    )
    rows = await session.scalars(query)
    return tuple(profile for row in rows for profile in _profiles(row))


def _profiles(row: JobRow) -> Iterator[PastProfile]:
    result = msgspec.json.decode(row.result or "null", type=JobResult | None)
    for entry in result.benchmarks if result else ():
        if entry.kernels:
            yield PastProfile(
                job_id=row.id,
                leaderboard=row.leaderboard,
                gpu=row.gpu,
                file_name=row.file_name,
                benchmark=Benchmark(index=entry.index, spec=entry.spec),
                created_at=row.created_at,
            )


async def phases(session: Session, job_id: str) -> tuple[tuple[JobPhase, datetime], ...]:
    """Return the phases that a job has entered, each with its moment."""
    query = select(JobPhaseRow).where(JobPhaseRow.job_id == job_id).order_by(JobPhaseRow.id)
    rows = await session.scalars(query)
    return tuple((JobPhase(row.phase), row.at) for row in rows)


def job_of(row: JobRow) -> Job:
    """Return a row as a value."""
    return Job(
        id=row.id,
        user_id=row.user_id,
        leaderboard=row.leaderboard,
        gpu=row.gpu,
        runner=row.runner,
        file_name=row.file_name,
        benchmarks=msgspec.json.decode(row.benchmarks, type=tuple[Benchmark, ...]),
        capture=msgspec.json.decode(row.options, type=CaptureOptions),
        phase=JobPhase(row.phase),
        notes=msgspec.json.decode(row.notes, type=tuple[str, ...]),
    )


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
