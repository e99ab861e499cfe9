"""Queries about what users have used. Each takes the session of its unit of work."""

from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select

from bot.accounts.quota import Charge
from bot.jobs.model import JobPhase
from bot.storage.database import Session
from bot.storage.tables import JobRow, QuotaOverrideRow

UNDER_WAY = tuple(p.value for p in (JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING))
"""Phases of a job that a runner still has to work for; what waits for Discord is not among them."""


async def charges(session: Session, user_id: int, since: datetime) -> tuple[Charge, ...]:
    """Return a user's jobs since then that count."""
    query = (
        select(JobRow.created_at, JobRow.gpu, JobRow.leaderboard)
        .where(JobRow.user_id == user_id, JobRow.created_at > since)
        .where(JobRow.charged.is_(True))
    )
    return tuple(Charge(at, gpu, board) for at, gpu, board in await session.execute(query))


async def under_way(session: Session, user_id: int) -> tuple[str, ...]:
    """Return the ids of a user's jobs that have not ended, oldest first."""
    query = (
        select(JobRow.id)
        .where(JobRow.user_id == user_id, JobRow.phase.in_(UNDER_WAY))
        .order_by(JobRow.created_at)
    )
    return tuple(await session.scalars(query))


async def count_under_way(session: Session, user_id: int) -> int:
    """Return how many of a user's jobs have not ended."""
    return await _count(session, JobRow.user_id == user_id, JobRow.phase.in_(UNDER_WAY))


async def stored(session: Session, user_id: int) -> int:
    """Return how many jobs of a user are stored with what was sent and got."""
    return await _count(session, JobRow.user_id == user_id, JobRow.deleted_at.is_(None))


async def overrides(session: Session, user_id: int) -> dict[str, int]:
    """Return what an admin allows a user, by the rule's key."""
    query = select(QuotaOverrideRow.rule, QuotaOverrideRow.jobs).where(
        QuotaOverrideRow.user_id == user_id
    )
    return {row.rule: row.jobs for row in await session.execute(query)}


async def override(session: Session, user_id: int, rule: str, jobs: int | None) -> None:
    """Allow a user `jobs` by a rule; None gives the settings' number back."""
    if jobs is None:
        row = QuotaOverrideRow
        await session.execute(delete(row).where(row.user_id == user_id, row.rule == rule))
        return
    await session.merge(QuotaOverrideRow(user_id=user_id, rule=rule, jobs=jobs))


async def _count(session: Session, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(JobRow).where(*conditions)
    return await session.scalar(query) or 0
