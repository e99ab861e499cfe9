"""Queries about what somebody has profiled. Each takes the session of its unit of work."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, delete, func, select, update

from bot.jobs.model import JobPhase, PastJob, Whose
from bot.storage.database import Session
from bot.storage.jobs import FINAL
from bot.storage.leaving import WIPED
from bot.storage.tables import ArtifactRow, DeliveryRow, JobRow
from runner_client.wire import Benchmark

_COLUMNS = (
    JobRow.id,
    JobRow.leaderboard,
    JobRow.gpu,
    JobRow.file_name,
    JobRow.benchmarks,
    JobRow.phase,
    JobRow.created_at,
    JobRow.failure_kind,
    JobRow.files_gone_at,
)
"""What a list shows; submissions and results stay where they are."""


async def count(session: Session, whose: Whose) -> int:
    """Return how many jobs of a user are listed."""
    query = select(func.count()).select_from(JobRow).where(*_listed(whose))
    return await session.scalar(query) or 0


async def page(session: Session, whose: Whose, first: int, most: int) -> tuple[PastJob, ...]:
    """Return a user's jobs from the `first` on, newest first."""
    query = (
        select(*_COLUMNS)
        .where(*_listed(whose))
        .order_by(JobRow.created_at.desc(), JobRow.id)
        .offset(first)
        .limit(most)
    )
    return await _jobs(session, (await session.execute(query)).all())


async def find(session: Session, whose: Whose, start: str) -> tuple[PastJob, ...]:
    """Return at most two of a user's jobs whose ids start so; `start` is hexadecimal."""
    begins = JobRow.id.startswith(start, autoescape=True)
    query = select(*_COLUMNS).where(*_listed(whose), begins).limit(2)
    return await _jobs(session, (await session.execute(query)).all())


async def words(session: Session, job_id: str) -> str | None:
    """Return the sentence that said why a job brought nothing."""
    said: str | None = await session.scalar(
        select(DeliveryRow.words).where(DeliveryRow.job_id == job_id)
    )
    return said


async def wipe(session: Session, whose: Whose, job_id: str, now: datetime) -> bool:
    """Wipe what a user sent and got with a job; tell whether it was over, else nothing is done.

    The row stays and counts against the quota.
    """
    open_ = select(DeliveryRow.job_id).where(
        DeliveryRow.job_id == JobRow.id, DeliveryRow.over_at.is_(None)
    )
    wiped = await session.execute(
        update(JobRow)
        .where(JobRow.id == job_id, *_listed(whose))
        .where(JobRow.phase.in_([phase.value for phase in FINAL]), ~open_.exists())
        .values(**WIPED, deleted_at=now, files_gone_at=now)
        .returning(JobRow.id)
    )
    if wiped.scalar_one_or_none() is None:
        return False
    for row in (DeliveryRow, ArtifactRow):
        await session.execute(delete(row).where(row.job_id == job_id))
    return True


def _listed(whose: Whose) -> tuple[ColumnElement[bool], ...]:
    conditions = (JobRow.user_id == whose.user_id, JobRow.deleted_at.is_(None))
    if whose.guild_id is None:
        return conditions
    return (*conditions, JobRow.guild_id == whose.guild_id)


async def _jobs(session: Session, rows: Sequence[Any]) -> tuple[PastJob, ...]:
    sizes = await _sizes(session, [row.id for row in rows])
    return tuple(
        PastJob(
            id=row.id,
            leaderboard=row.leaderboard,
            gpu=row.gpu,
            file_name=row.file_name,
            benchmarks=msgspec.json.decode(row.benchmarks, type=tuple[Benchmark, ...]),
            phase=JobPhase(row.phase),
            created_at=row.created_at,
            failure_kind=row.failure_kind,
            size=sizes.get(row.id, 0),
            files_gone_at=row.files_gone_at,
        )
        for row in rows
    )


async def _sizes(session: Session, job_ids: Sequence[str]) -> dict[str, int]:
    query = (
        select(ArtifactRow.job_id, func.sum(ArtifactRow.size))
        .where(ArtifactRow.job_id.in_(job_ids))
        .group_by(ArtifactRow.job_id)
    )
    return {job_id: int(size) for job_id, size in await session.execute(query)}
