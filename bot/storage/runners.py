"""Queries about runners: which are drained, what they are to drop, what is to be done elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from bot.jobs.model import Job, JobPhase
from bot.storage.database import Database, Session
from bot.storage.jobs import cancel_from, job_of
from bot.storage.tables import DrainRow, JobPhaseRow, JobRow, OutageRow, RecallRow

NOT_BEGUN = (JobPhase.ACCEPTED, JobPhase.QUEUED)


@dataclass(frozen=True, slots=True)
class Recall:
    """A job that a runner is to drop since `at`."""

    job_id: str
    at: datetime


async def not_begun_on(session: Session, runner: str) -> tuple[Job, ...]:
    """Return the jobs that wait for a runner, oldest first."""
    phases = [phase.value for phase in NOT_BEGUN]
    query = (
        select(JobRow)
        .where(JobRow.phase.in_(phases), JobRow.runner == runner)
        .order_by(JobRow.created_at)
    )
    return tuple(job_of(row) for row in await session.scalars(query))


async def left_by(session: Session, job_id: str) -> frozenset[str]:
    """Return the runners from which a job was taken."""
    query = select(RecallRow.runner).where(RecallRow.job_id == job_id)
    return frozenset(await session.scalars(query))


async def reassign(session: Session, job: Job, to: str, phases: Iterable[JobPhase]) -> bool:
    """Take a job from its runner and accept it anew for runner `to`; tell whether it was so.

    It is not where the job has left these phases or that runner.
    """
    now = datetime.now(UTC)
    moved = await session.execute(
        update(JobRow)
        .where(JobRow.id == job.id, JobRow.runner == job.runner)
        .where(JobRow.phase.in_([phase.value for phase in phases]))
        .values(runner=to, phase=JobPhase.ACCEPTED.value, phase_at=now)
        .returning(JobRow.id)
    )
    if moved.scalar_one_or_none() is None:
        return False
    session.add(RecallRow(job_id=job.id, runner=job.runner, at=now))
    session.add(JobPhaseRow(job_id=job.id, phase=JobPhase.ACCEPTED.value, at=now))
    return True


async def cancel_early(session: Session, job_id: str) -> bool:
    """Cancel a job that no runner is known to have; tell whether it was so.

    The hand-over may be under way, so that its runner is to drop it as soon as it has it.
    """
    ended = await cancel_from(session, job_id, (JobPhase.ACCEPTED,))
    if ended:
        await recall(session, job_id)
    return ended


async def withdraw(session: Session, job_id: str, failure_kind: str) -> bool:
    """Cancel a job whose runner cannot be told and has not begun it; tell whether it was so."""
    ended = await cancel_from(session, job_id, NOT_BEGUN, failure_kind)
    if ended:
        await recall(session, job_id)
    return ended


async def recall(session: Session, job_id: str) -> None:
    """Let the runner of a job that nobody waits for any more drop it, now or once it answers."""
    runner = await session.scalar(select(JobRow.runner).where(JobRow.id == job_id)) or ""
    await session.merge(RecallRow(job_id=job_id, runner=runner, at=datetime.now(UTC)))


class RunnerRecords:
    """What is kept about runners. Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def drained(self) -> frozenset[str]:
        """Return the runners that get no new job."""
        async with self._database.begin() as session:
            return frozenset(await session.scalars(select(DrainRow.runner)))

    async def drain(self, runner: str, by: int | None) -> bool:
        """Give a runner no new job; False where it was so already."""
        try:
            async with self._database.begin() as session:
                if await session.get(DrainRow, runner) is not None:
                    return False
                session.add(DrainRow(runner=runner, at=datetime.now(UTC), by=by))
        except IntegrityError:
            return False
        return True

    async def resume(self, runner: str) -> bool:
        """Give a runner jobs again; False where it got some anyway."""
        async with self._database.begin() as session:
            gone = await session.execute(
                delete(DrainRow).where(DrainRow.runner == runner).returning(DrainRow.runner)
            )
            return gone.scalar_one_or_none() is not None

    async def to_recall(self, runner: str) -> tuple[Recall, ...]:
        """Return the jobs that a runner is still to drop."""
        query = select(RecallRow).where(RecallRow.runner == runner, RecallRow.done_at.is_(None))
        async with self._database.begin() as session:
            return tuple(Recall(row.job_id, row.at) for row in await session.scalars(query))

    async def recalled(self, runner: str, job_id: str) -> None:
        """Note that a runner has dropped a job."""
        async with self._database.begin() as session:
            await session.execute(
                update(RecallRow)
                .where(RecallRow.runner == runner, RecallRow.job_id == job_id)
                .values(done_at=datetime.now(UTC))
            )

    async def outages(self) -> frozenset[str]:
        """Return the keys of the GPUs of whose outage admins have been told."""
        async with self._database.begin() as session:
            return frozenset(await session.scalars(select(OutageRow.gpu)))

    async def told_of(self, gpu: str) -> None:
        """Note that admins were told of a GPU's outage."""
        async with self._database.begin() as session:
            await session.merge(OutageRow(gpu=gpu, told_at=datetime.now(UTC)))

    async def over(self, gpu: str) -> None:
        """Note that a GPU's outage is over."""
        async with self._database.begin() as session:
            await session.execute(delete(OutageRow).where(OutageRow.gpu == gpu))
