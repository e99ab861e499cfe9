"""What is done to the rows of somebody who leaves. Each takes the session of its unit of work."""

from datetime import datetime

from sqlalchemy import delete, func, select, update

from bot.jobs.model import JobPhase
from bot.storage import cli_ids, jobs, quotas
from bot.storage.database import Session
from bot.storage.tables import ArtifactRow, DeliveryRow, JobRow, QuotaOverrideRow, UserRow

WIPED: dict[str, object] = {
    "file_name": "",
    "submission": b"",
    "submission_sha256": "",
    "options": "{}",
    "benchmarks": "[]",
    "notes": "[]",
    "channel_id": None,
    "guild_id": None,
    "result": None,
}
"""A job's row once it only counts."""


async def close_account(session: Session, user_id: int, now: datetime) -> bool:
    """End an account, so that no new job comes; tell whether there was one."""
    row = await session.get(UserRow, user_id, with_for_update=True)
    if row is None or row.left_at is not None:
        return False
    row.left_at, row.name = now, ""
    await cli_ids.unlink(session, user_id)
    return True


async def unfinished(session: Session, user_id: int) -> tuple[str, ...]:
    """Return a user's jobs of which the end was not recorded."""
    over = [phase.value for phase in jobs.FINAL]
    query = select(JobRow.id).where(JobRow.user_id == user_id, JobRow.phase.not_in(over))
    return tuple(await session.scalars(query))


async def erase_jobs(session: Session, user_id: int, now: datetime) -> tuple[str, ...]:
    """Cancel and wipe every job of somebody who left; return those whose files must go."""
    user = await session.get(UserRow, user_id, with_for_update=True)
    if user is None or user.left_at is None:
        return ()
    for job_id in await quotas.under_way(session, user_id):
        await jobs.move(session, job_id, JobPhase.CANCELLED)
    ours = select(JobRow.id).where(JobRow.user_id == user_id)
    gone = tuple(await session.scalars(ours.where(JobRow.deleted_at.is_(None))))
    for row in (DeliveryRow, ArtifactRow):
        await session.execute(delete(row).where(row.job_id.in_(ours)))
    await session.execute(
        update(JobRow)
        .where(JobRow.user_id == user_id, JobRow.deleted_at.is_(None))
        .values(**WIPED, deleted_at=now, files_gone_at=now)
    )
    return gone


async def newest_trace(session: Session, user_id: int) -> datetime | None:
    """Return when the newest job was asked for of which a row is left."""
    query = select(func.max(JobRow.created_at)).where(JobRow.user_id == user_id)
    newest: datetime | None = await session.scalar(query)
    return newest


async def departed(session: Session) -> tuple[int, ...]:
    """Return the users who have left and still have a row."""
    return tuple(await session.scalars(select(UserRow.id).where(UserRow.left_at.is_not(None))))


async def forget(session: Session, before: datetime) -> None:
    """Delete wiped jobs of before, and users who have left and of whom nothing counts."""
    await session.execute(
        delete(JobRow).where(JobRow.deleted_at.is_not(None), JobRow.created_at < before)
    )
    gone = await session.scalars(
        delete(UserRow)
        .where(UserRow.left_at.is_not(None), UserRow.id.not_in(select(JobRow.user_id)))
        .returning(UserRow.id)
    )
    override = QuotaOverrideRow
    await session.execute(delete(override).where(override.user_id.in_(gone.all())))
