"""Queries about leaderboards. Each takes the session of its unit of work."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

import msgspec
from sqlalchemy import delete, func, select

from bot.leaderboards.digest import config_sha256
from bot.leaderboards.model import Leaderboard, Problem, Task
from bot.storage.database import Session
from bot.storage.tables import LeaderboardGpuRow, LeaderboardRow, VersionRow


class Change(StrEnum):
    """What a sync did to a leaderboard."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


async def apply(session: Session, problem: Problem, commit: str | None, now: datetime) -> Change:
    """Make the leaderboard of `problem` what the files say; a changed task becomes a new version.

    Another commit with the same content is recorded and counts as unchanged.
    """
    query = select(LeaderboardRow).where(LeaderboardRow.key == problem.name.casefold())
    row = await session.scalar(query)
    if row is None:
        await _create(session, problem, commit, now)
        return Change.CREATED
    changes = [
        await _apply_task(session, row, problem, commit, now),
        await _apply_gpus(session, row, problem.gpus),
        _apply_fields(row, problem),
    ]
    row.commit = commit
    return Change.UPDATED if any(changes) else Change.UNCHANGED


async def close_absent(
    session: Session, competition: str, listed: Iterable[str], now: datetime
) -> tuple[str, ...]:
    """Close the leaderboards of a competition that it no longer lists, and name them."""
    keys = [name.casefold() for name in listed]
    rows = await session.scalars(
        select(LeaderboardRow)
        .where(LeaderboardRow.competition == competition)
        .where(LeaderboardRow.closed_at.is_(None))
        .where(LeaderboardRow.key.not_in(keys))
        .order_by(LeaderboardRow.key)
    )
    closed = list(rows)
    for row in closed:
        row.closed_at = now
    return tuple(row.name for row in closed)


async def load_all(session: Session) -> tuple[Leaderboard, ...]:
    """Return every leaderboard in its newest version."""
    newest = (
        select(func.max(VersionRow.number))
        .where(VersionRow.leaderboard_id == LeaderboardRow.id)
        .correlate(LeaderboardRow)
        .scalar_subquery()
    )
    query = (
        select(LeaderboardRow, VersionRow)
        .join(VersionRow, VersionRow.leaderboard_id == LeaderboardRow.id)
        .where(VersionRow.number == newest)
        .order_by(LeaderboardRow.key)
    )
    rows = (await session.execute(query)).all()
    gpus = await _all_gpus(session)
    return tuple(_value(row, version, gpus.get(row.id, ())) for row, version in rows)


async def load_task(session: Session, version_id: int) -> Task:
    """Return the task of one version. Raises LookupError where there is none."""
    row = await session.get(VersionRow, version_id)
    if row is None:
        raise LookupError(version_id)
    return msgspec.json.decode(row.task, type=Task)


def _value(row: LeaderboardRow, version: VersionRow, gpus: tuple[str, ...]) -> Leaderboard:
    return Leaderboard(
        id=row.id,
        version_id=version.id,
        name=row.name,
        competition=row.competition,
        deadline=row.deadline,
        closed=row.closed_at is not None,
        gpus=gpus,
        commit=row.commit,
        task=msgspec.json.decode(version.task, type=Task),
    )


async def _all_gpus(session: Session) -> dict[int, tuple[str, ...]]:
    query = select(LeaderboardGpuRow).order_by(LeaderboardGpuRow.position)
    gpus: dict[int, tuple[str, ...]] = {}
    for row in await session.scalars(query):
        gpus[row.leaderboard_id] = (*gpus.get(row.leaderboard_id, ()), row.name)
    return gpus


async def _create(session: Session, problem: Problem, commit: str | None, now: datetime) -> None:
    row = LeaderboardRow(
        key=problem.name.casefold(),
        name=problem.name,
        competition=problem.competition,
        directory=problem.directory,
        deadline=problem.deadline,
        commit=commit,
        created_at=now,
    )
    session.add(row)
    await session.flush()
    session.add(_version(row, 1, problem.task, commit, now))
    _add_gpus(session, row, problem.gpus)


def _version(
    row: LeaderboardRow, number: int, task: Task, commit: str | None, now: datetime
) -> VersionRow:
    return VersionRow(
        leaderboard_id=row.id,
        number=number,
        task=msgspec.json.encode(task).decode(),
        commit=commit,
        config_sha256=config_sha256(task),
        created_at=now,
    )


async def _apply_task(
    session: Session, row: LeaderboardRow, problem: Problem, commit: str | None, now: datetime
) -> bool:
    query = (
        select(VersionRow)
        .where(VersionRow.leaderboard_id == row.id)
        .order_by(VersionRow.number.desc())
        .limit(1)
    )
    newest = await session.scalar(query)
    number = newest.number + 1 if newest else 1
    version = _version(row, number, problem.task, commit, now)
    if newest is not None and newest.task == version.task:
        return False
    session.add(version)
    return True


async def _apply_gpus(session: Session, row: LeaderboardRow, gpus: tuple[str, ...]) -> bool:
    query = (
        select(LeaderboardGpuRow.name)
        .where(LeaderboardGpuRow.leaderboard_id == row.id)
        .order_by(LeaderboardGpuRow.position)
    )
    if tuple(await session.scalars(query)) == gpus:
        return False
    await session.execute(
        delete(LeaderboardGpuRow).where(LeaderboardGpuRow.leaderboard_id == row.id)
    )
    _add_gpus(session, row, gpus)
    return True


def _add_gpus(session: Session, row: LeaderboardRow, gpus: tuple[str, ...]) -> None:
    session.add_all(
        LeaderboardGpuRow(leaderboard_id=row.id, name=name, position=position)
        for position, name in enumerate(gpus)
    )


def _apply_fields(row: LeaderboardRow, problem: Problem) -> bool:
    """A board that is listed again opens again."""
    wanted = {
        "name": problem.name,
        "competition": problem.competition,
        "directory": problem.directory,
        "deadline": problem.deadline,
        "closed_at": None,
    }
    changed = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    for name, value in changed.items():
        setattr(row, name, value)
    return bool(changed)
