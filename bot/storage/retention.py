"""Queries about the files of jobs that are over. Each takes the session of its unit of work."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_, select, update

from bot.delivery.address import WayName
from bot.storage.database import Session
from bot.storage.jobs import FINAL
from bot.storage.tables import ArtifactRow, DeliveryRow, JobRow


@dataclass(frozen=True, slots=True)
class Stored:
    """What the tables say of a job's files.

    `over_at` is since when the job is over, None for one in flight; `has_files` is False once they
    are gone.
    """

    over_at: datetime | None
    has_files: bool


def is_over() -> ColumnElement[bool]:
    """Whether a job is in flight no more; one that could not be delivered does not count as such.

    It would else keep its files until its author types something again, maybe for ever.
    """
    kept = select(DeliveryRow.job_id).where(
        DeliveryRow.job_id == JobRow.id, DeliveryRow.way == WayName.KEPT.value
    )
    return or_(JobRow.phase.in_([phase.value for phase in FINAL]), kept.exists())


async def stored(session: Session, job_ids: Collection[str]) -> dict[str, Stored]:
    """Return what is known of those of these jobs that have a row."""
    over = is_over().label("over")
    query = select(JobRow.id, JobRow.phase_at, JobRow.files_gone_at, over)
    found = await session.execute(query.where(JobRow.id.in_(job_ids)))
    return {
        row.id: Stored(row.phase_at if row.over else None, row.files_gone_at is None)
        for row in found
    }


async def mark_gone(session: Session, job_id: str, now: datetime) -> bool:
    """Note that a job's files are gone; tell whether it was over, without which they stay."""
    gone = await session.execute(
        update(JobRow)
        .where(JobRow.id == job_id, is_over())
        .values(files_gone_at=now)
        .returning(JobRow.id)
    )
    if gone.scalar_one_or_none() is None:
        return False
    await session.execute(delete(ArtifactRow).where(ArtifactRow.job_id == job_id))
    return True


async def file_sizes(session: Session, after: str, most: int) -> dict[str, dict[str, int]]:
    """Return the files of the next `most` jobs after an id that are over, by job and name."""
    ids = (
        select(ArtifactRow.job_id)
        .join(JobRow, JobRow.id == ArtifactRow.job_id)
        .where(ArtifactRow.job_id > after, is_over())
        .group_by(ArtifactRow.job_id)
        .order_by(ArtifactRow.job_id)
        .limit(most)
    )
    columns = (ArtifactRow.job_id, ArtifactRow.name, ArtifactRow.size)
    files: dict[str, dict[str, int]] = {}
    query = select(*columns).where(ArtifactRow.job_id.in_(ids)).order_by(ArtifactRow.job_id)
    for row in await session.execute(query):
        files.setdefault(row.job_id, {})[row.name] = row.size
    return files


async def forget_files(session: Session, job_id: str, names: Iterable[str]) -> None:
    """Forget some files of a job."""
    await session.execute(
        delete(ArtifactRow).where(ArtifactRow.job_id == job_id, ArtifactRow.name.in_(list(names)))
    )
