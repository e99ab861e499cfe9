"""Queries about leaderboards. Each takes the session of its unit of work."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import defer

from bot.leaderboards.changes import Decision, task_differences
from bot.leaderboards.check.model import CheckResult
from bot.leaderboards.digest import config_sha256
from bot.leaderboards.model import Leaderboard, Task
from bot.storage.database import Session
from bot.storage.tables import LeaderboardGpuRow, LeaderboardRow, VersionRow

AT_ONCE = 100
"""Tasks that are fetched and decoded in one go."""


class AtOnceError(Exception):
    """Somebody else made the same leaderboard at the same moment."""


@dataclass(frozen=True, slots=True)
class Version:
    """A state that a leaderboard was in; `commit` is the one in which it was first seen."""

    number: int
    commit: str | None
    created_at: datetime
    task: Task


async def load_all(
    session: Session, known: Mapping[int, Task] | None = None
) -> tuple[Leaderboard, ...]:
    """Return every leaderboard in its newest version.

    Tasks of the versions in `known` are taken from there, so that only new ones are decoded.
    """
    rows = (await session.execute(_newest())).all()
    tasks = dict(known or {})
    missing = [version.id for _, version in rows if version.id not in tasks]
    tasks |= await _tasks(session, missing)
    gpus = await _all_gpus(session)
    return tuple(
        _value(row, version, tasks[version.id], gpus.get(row.id, ())) for row, version in rows
    )


async def find(session: Session, name: str) -> Leaderboard | None:
    """Return one leaderboard, locked for this unit of work, or None where there is none."""
    query = _newest().where(LeaderboardRow.key == name.casefold())
    found = (await session.execute(query.with_for_update(of=LeaderboardRow))).one_or_none()
    if found is None:
        return None
    row, version = found
    tasks = await _tasks(session, [version.id])
    gpus = await _all_gpus(session, row.id)
    return _value(row, version, tasks[version.id], gpus.get(row.id, ()))


async def load_task(session: Session, version_id: int) -> Task:
    """Return the task of one version. Raises LookupError where there is none."""
    row = await session.get(VersionRow, version_id)
    if row is None:
        raise LookupError(version_id)
    return msgspec.json.decode(row.task, type=Task)


async def versions(session: Session, board_id: int, limit: int) -> tuple[Version, ...]:
    """Return the newest versions of a leaderboard, newest first."""
    query = (
        select(VersionRow)
        .where(VersionRow.leaderboard_id == board_id)
        .order_by(VersionRow.number.desc())
        .limit(limit)
    )
    return tuple(
        Version(row.number, row.commit, row.created_at, msgspec.json.decode(row.task, type=Task))
        for row in await session.scalars(query)
    )


async def create(
    session: Session, decision: Decision, now: datetime, check: CheckResult | None
) -> None:
    """Store a new leaderboard with its first version. Raises AtOnceError."""
    problem = decision.problem
    row = LeaderboardRow(
        key=problem.name.casefold(),
        name=problem.name,
        competition=problem.competition,
        problem_set=problem.problem_set,
        directory=problem.directory,
        deadline=problem.deadline,
        source=decision.source,
        commit=decision.commit,
        check_result=_checked(check),
        created_at=now,
    )
    session.add(row)
    try:
        await session.flush()
    except IntegrityError:
        raise AtOnceError(problem.name) from None
    session.add(_version(row.id, 1, decision, now))
    _add_gpus(session, row.id, problem.gpus)


async def change(
    session: Session,
    stored: Leaderboard,
    decision: Decision,
    now: datetime,
    check: CheckResult | None,
) -> None:
    """Make a stored leaderboard what was decided; a changed task becomes a new version."""
    problem = decision.problem
    row = await session.get_one(LeaderboardRow, stored.id)
    row.name, row.competition = problem.name, problem.competition
    row.problem_set, row.directory = problem.problem_set, problem.directory
    row.deadline = problem.deadline
    row.source, row.commit = decision.source, decision.commit
    if check is not None:
        row.check_result = _checked(check)
    if row.closed_by is None:
        row.closed_at = None
    if any(task_differences(stored.task, problem.task)):
        number = await _last_number(session, stored.id) + 1
        session.add(_version(stored.id, number, decision, now))
    if problem.gpus != stored.gpus:
        of_it = LeaderboardGpuRow.leaderboard_id == stored.id
        await session.execute(delete(LeaderboardGpuRow).where(of_it))
        _add_gpus(session, stored.id, problem.gpus)


async def note_commit(session: Session, ids: Iterable[int], commit: str | None) -> None:
    """Record that leaderboards are the same at another commit."""
    await session.execute(
        update(LeaderboardRow).where(LeaderboardRow.id.in_(list(ids))).values(commit=commit)
    )


async def close(session: Session, ids: Iterable[int], now: datetime, by: int | None) -> None:
    """Close leaderboards; `by` is the admin, None for a sync."""
    await session.execute(
        update(LeaderboardRow)
        .where(LeaderboardRow.id.in_(list(ids)))
        .values(closed_at=now, closed_by=by)
    )


async def reopen(session: Session, board_id: int) -> None:
    """Open a leaderboard again, whoever closed it."""
    await session.execute(
        update(LeaderboardRow)
        .where(LeaderboardRow.id == board_id)
        .values(closed_at=None, closed_by=None)
    )


async def override_check(session: Session, board_id: int, *, overridden: bool) -> None:
    """Let profiles run whatever the check says, or no longer."""
    await session.execute(
        update(LeaderboardRow)
        .where(LeaderboardRow.id == board_id)
        .values(check_overridden=overridden)
    )


def _newest() -> "Select[LeaderboardRow, VersionRow]":
    """Leaderboards with their newest versions, without the text of the tasks."""
    newest = (
        select(func.max(VersionRow.number))
        .where(VersionRow.leaderboard_id == LeaderboardRow.id)
        .correlate(LeaderboardRow)
        .scalar_subquery()
    )
    return (
        select(LeaderboardRow, VersionRow)
        .join(VersionRow, VersionRow.leaderboard_id == LeaderboardRow.id)
        .where(VersionRow.number == newest)
        .options(defer(VersionRow.task, raiseload=True))
        .order_by(LeaderboardRow.key)
    )


async def _tasks(session: Session, ids: list[int]) -> dict[int, Task]:
    tasks: dict[int, Task] = {}
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        query = select(VersionRow.id, VersionRow.task).where(VersionRow.id.in_(some))
        texts = {row.id: row.task for row in await session.execute(query)}
        tasks |= await asyncio.to_thread(_decoded, texts)
    return tasks


def _decoded(texts: Mapping[int, str]) -> dict[int, Task]:
    return {key: msgspec.json.decode(text, type=Task) for key, text in texts.items()}


async def _all_gpus(session: Session, board_id: int | None = None) -> dict[int, tuple[str, ...]]:
    query = select(LeaderboardGpuRow).order_by(LeaderboardGpuRow.position)
    if board_id is not None:
        query = query.where(LeaderboardGpuRow.leaderboard_id == board_id)
    gpus: dict[int, tuple[str, ...]] = {}
    for row in await session.scalars(query):
        gpus[row.leaderboard_id] = (*gpus.get(row.leaderboard_id, ()), row.name)
    return gpus


def _value(
    row: LeaderboardRow, version: VersionRow, task: Task, gpus: tuple[str, ...]
) -> Leaderboard:
    check = row.check_result
    return Leaderboard(
        id=row.id,
        version_id=version.id,
        name=row.name,
        competition=row.competition,
        problem_set=row.problem_set,
        directory=row.directory,
        deadline=row.deadline,
        closed=row.closed_at is not None,
        closed_by=row.closed_by,
        gpus=gpus,
        source=row.source,
        commit=row.commit,
        task=task,
        check=None if check is None else msgspec.json.decode(check, type=CheckResult),
        check_overridden=row.check_overridden,
    )


def _checked(check: CheckResult | None) -> str | None:
    return None if check is None else msgspec.json.encode(check).decode()


def _version(board_id: int, number: int, decision: Decision, now: datetime) -> VersionRow:
    task = decision.problem.task
    return VersionRow(
        leaderboard_id=board_id,
        number=number,
        task=msgspec.json.encode(task).decode(),
        commit=decision.commit,
        config_sha256=config_sha256(task),
        created_at=now,
    )


async def _last_number(session: Session, board_id: int) -> int:
    query = select(func.max(VersionRow.number)).where(VersionRow.leaderboard_id == board_id)
    return await session.scalar(query) or 0


def _add_gpus(session: Session, board_id: int, gpus: tuple[str, ...]) -> None:
    session.add_all(
        LeaderboardGpuRow(leaderboard_id=board_id, name=name, position=position)
        for position, name in enumerate(gpus)
    )
