"""A database with one problem, and jobs that are rows only."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from bot.accounts.quota import Limits, Quota
from bot.jobs.entrance import admit
from bot.jobs.model import Job, JobPhase
from bot.jobs.validate import Draft
from bot.leaderboards.changes import Change, Decision
from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.model import Leaderboard
from bot.storage import boards, jobs
from bot.storage.accounts import Accounts
from bot.storage.database import Database, open_database
from bot.storage.tables import JobRow
from runner_client.captures import CaptureOptions
from runner_client.wire import Benchmark
from tests.storage.test_storage import NOW, QR, new_job

ALICE = 2**63 - 1
BOB = 2


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = await open_database(database_url)
    yield opened
    await opened.close()


@dataclass
class Shop:
    """Lets users start jobs as JobService does, without a runner."""

    database: Database
    board: Leaderboard
    accounts: Accounts
    limits: Limits = field(
        default_factory=lambda: Limits(quotas=(), under_way=100, names=GpuNames())
    )

    def allow(self, *quotas: Quota, under_way: int = 100) -> None:
        """Set what the settings say."""
        self.limits = Limits(quotas=quotas, under_way=under_way, names=GpuNames())

    async def submit(self, user_id: int = ALICE, gpu: str = "H200", board: str = "QR_v2") -> str:
        """Ask for a job and return its id. Raises a subclass of Refused."""
        job = self.job(user_id, gpu, board)
        draft = Draft(
            leaderboard=_named(self.board, board),
            gpu=gpu,
            file_name="kernel.py",
            text="print()",
            benchmarks=job.benchmarks,
            notes=(),
        )
        async with self.database.begin() as session:
            await admit(session, user_id, draft, datetime.now(UTC), self.limits)
            await jobs.add(session, new_job(job, self.board.version_id))
        return job.id

    def job(self, user_id: int, gpu: str, board: str) -> Job:
        return Job(
            id=uuid4().hex,
            user_id=user_id,
            leaderboard=board,
            gpu=gpu,
            runner="r1",
            file_name="kernel.py",
            benchmarks=(Benchmark(index=0, spec="n: 32"),),
            capture=CaptureOptions(),
            phase=JobPhase.ACCEPTED,
        )

    async def past(self, asked: Iterable[tuple[datetime, str, str]]) -> None:
        """Store jobs of one user: when each was asked for, on which GPU, for what leaderboard."""
        async with self.database.begin() as session:
            for at, gpu, board in asked:
                job = self.job(ALICE, gpu, board)
                await jobs.add(session, new_job(job, self.board.version_id))
                await session.execute(
                    update(JobRow).where(JobRow.id == job.id).values(created_at=at)
                )

    async def end(self, job_id: str, kind: str | None = None) -> None:
        """Let a job end: delivered, or failed by that kind."""
        async with self.database.begin() as session:
            if kind is not None:
                assert await jobs.move(session, job_id, JobPhase.FAILED, kind)
                return
            for phase in (JobPhase.QUEUED, JobPhase.FETCHED, JobPhase.DELIVERED):
                assert await jobs.move(session, job_id, phase)

    async def backdate(self, job_id: str, at: datetime) -> None:
        """Let a job have been asked for at another moment."""
        async with self.database.begin() as session:
            row = update(JobRow).where(JobRow.id == job_id)
            await session.execute(row.values(created_at=at))


def _named(board: Leaderboard, name: str) -> Leaderboard:
    return board if board.name == name else replace(board, name=name)


@pytest.fixture
async def shop(database: Database) -> Shop:
    """Arrange a problem and one account."""
    async with database.begin() as session:
        await boards.create(session, Decision(Change.CREATED, QR, "somewhere", None), NOW, None)
    async with database.begin() as session:
        (board,) = await boards.load_all(session)
    accounts = Accounts(database)
    await accounts.register(ALICE, "alice")
    return Shop(database, board, accounts)
