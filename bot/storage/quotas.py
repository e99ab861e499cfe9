"""Queries about what users have used. Each takes the session of its unit of work."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select, tuple_

from bot.accounts.quota import Limits, Quota, Use
from bot.jobs.model import JobPhase
from bot.storage.database import Session
from bot.storage.tables import JobRow, QuotaOverrideRow

UNDER_WAY = tuple(p.value for p in (JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING))
"""Phases of a job that a runner still has to work for; what waits for Discord is not among them."""

Conditions = tuple[ColumnElement[bool], ...]


async def uses(
    session: Session,
    user_id: int,
    limits: Limits,
    rules: Iterable[Quota],
    overrides: Mapping[str, int],
    now: datetime,
) -> tuple[Use, ...]:
    """Hold a user's jobs that count against some rules, in their order.

    `overrides` are the user's. The database counts, so few rows come however many jobs there are.
    """
    found = []
    for rule in rules:
        most = limits.most(rule, overrides)
        found.append(await _use(session, _charged(user_id, rule, now), limits, rule, most))
    return tuple(found)


async def _use(
    session: Session, charged: Conditions, limits: Limits, rule: Quota, most: int
) -> Use:
    found = await _places(session, charged)
    jobs = {place: number for place, number in found.items() if limits.covers(rule, *place)}
    used, until = sum(jobs.values()), None
    if used >= most > 0:
        at = await _nth_newest(session, charged, jobs, most)
        if at is None:  # One of them has just ended by a fault that is not its author's.
            used = most - 1
        else:
            until = at + timedelta(seconds=rule.window)
    return Use(quota=rule, most=most, used=used, until=until)


def _charged(user_id: int, rule: Quota, now: datetime) -> Conditions:
    since = now - timedelta(seconds=rule.window)
    return (JobRow.user_id == user_id, JobRow.created_at > since, JobRow.charged.is_(True))


async def _places(session: Session, charged: Conditions) -> dict[tuple[str, str], int]:
    """Return how many jobs count, by GPU and leaderboard as they are written there."""
    place = (JobRow.gpu, JobRow.leaderboard)
    query = select(*place, func.count()).where(*charged).group_by(*place)
    return {(gpu, board): number for gpu, board, number in await session.execute(query)}


async def _nth_newest(
    session: Session, charged: Conditions, places: Iterable[tuple[str, str]], nth: int
) -> datetime | None:
    """Return when the job was accepted that must leave the window for another to fit."""
    query = (
        select(JobRow.created_at)
        .where(*charged, tuple_(JobRow.gpu, JobRow.leaderboard).in_(list(places)))
        .order_by(JobRow.created_at.desc())
        .limit(1)
        .offset(nth - 1)
    )
    found: datetime | None = await session.scalar(query)
    return found


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
