"""Accounts, leaderboards and jobs in both databases."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, StatementError

from bot.jobs.model import Job, JobPhase
from bot.leaderboards.changes import Change, Decision
from bot.leaderboards.model import Leaderboard, Problem, ProblemFile, Task
from bot.storage import boards, jobs
from bot.storage.accounts import Accounts
from bot.storage.database import Database
from bot.storage.files import ArtifactFiles
from bot.storage.jobs import NewJob
from bot.storage.tables import ArtifactRow, UserRow
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Artifact,
    Benchmark,
    Failure,
    FailureKind,
    JobResult,
    PythonEvaluator,
    System,
)

DISCORD_ID = 2**63 - 1
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
JOB = "0123456789abcdef0123456789abcdef"
TASK = Task(
    files=(ProblemFile("eval.py", "print()"), ProblemFile("submission.py", None)),
    evaluator=PythonEvaluator(main="eval.py"),
    description="a task",
    benchmarks=({"n": 32, "masked": True, "dims": [1, 2], "kind": "dense"},),
)
QR = Problem(
    name="QR_v2",
    competition="linalg",
    directory="linalg/qr_v2",
    deadline=NOW,
    gpus=("H200", "B200"),
    task=TASK,
)


async def sync(database: Database, problem: Problem) -> None:
    async with database.begin() as session:
        decision = Decision(Change.CREATED, problem, "somewhere", None)
        await boards.create(session, decision, NOW, None)


async def all_boards(database: Database) -> tuple[Leaderboard, ...]:
    async with database.begin() as session:
        return await boards.load_all(session)


async def test_register_is_idempotent_and_ids_have_64_bits(database: Database) -> None:
    accounts = Accounts(database)
    assert not await accounts.is_registered(DISCORD_ID)
    assert await accounts.register(DISCORD_ID, "somebody")
    assert not await accounts.register(DISCORD_ID, "somebody else")
    assert await accounts.is_registered(DISCORD_ID)


async def test_two_presses_at_once_make_one_account(database: Database) -> None:
    accounts = Accounts(database)
    made = await asyncio.gather(*(accounts.register(7, "somebody") for _ in range(8)))
    assert sorted(made) == [False] * 7 + [True]


async def add_user(database: Database, created_at: datetime) -> None:
    async with database.begin() as session:
        session.add(UserRow(id=1, name="x", created_at=created_at))


async def test_naive_moments_are_refused_and_zones_become_utc(database: Database) -> None:
    with pytest.raises(StatementError, match="naive"):
        await add_user(database, NOW.replace(tzinfo=None))
    there = datetime(2026, 9, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    await add_user(database, there)
    async with database.begin() as session:
        row = await session.get_one(UserRow, 1)
        assert row.created_at == NOW
        assert row.created_at.tzinfo == UTC


def a_job() -> Job:
    return Job(
        id=JOB,
        user_id=DISCORD_ID,
        leaderboard="QR_v2",
        gpu="H200",
        runner="r1",
        file_name="kernel.py",
        benchmarks=(Benchmark(index=0, spec="n: 32"),),
        capture=CaptureOptions(kernel_name="regex:^a$"),
        phase=JobPhase.ACCEPTED,
        notes=("a note",),
    )


def new_job(job: Job, version_id: int) -> NewJob:
    return NewJob(
        job=job,
        version_id=version_id,
        commit=None,
        submission=b"print()",
        submission_sha256="0" * 64,
        config_sha256="1" * 64,
        channel_id=DISCORD_ID,
        guild_id=None,
    )


async def add_job(database: Database, job: Job, version_id: int) -> None:
    async with database.begin() as session:
        await jobs.add(session, new_job(job, version_id))


async def store(database: Database) -> Job:
    await Accounts(database).register(DISCORD_ID, "somebody")
    await sync(database, QR)
    (board,) = await all_boards(database)
    await add_job(database, a_job(), board.version_id)
    return a_job()


async def move(database: Database, to: JobPhase, kind: str | None = None) -> bool:
    async with database.begin() as session:
        return await jobs.move(session, JOB, to, kind)


async def test_a_job_comes_back_as_it_was_stored(database: Database) -> None:
    job = await store(database)
    async with database.begin() as session:
        assert await jobs.find(session, JOB) == job
        assert await jobs.find(session, "f" * 32) is None


async def test_a_job_needs_its_author(database: Database) -> None:
    await store(database)
    with pytest.raises(IntegrityError):
        await add_job(database, replace(a_job(), id="f" * 32, user_id=1), 1)


async def test_phases_are_guarded_and_dated(database: Database) -> None:
    await store(database)
    assert not await move(database, JobPhase.DELIVERED)
    assert await move(database, JobPhase.QUEUED)
    assert await move(database, JobPhase.RUNNING)
    assert not await move(database, JobPhase.RUNNING)
    assert await move(database, JobPhase.FETCHED)
    assert await move(database, JobPhase.DELIVERED)
    assert not await move(database, JobPhase.FAILED, "too-late")
    async with database.begin() as session:
        log = await jobs.phases(session, JOB)
        found = await jobs.find(session, JOB)
    assert [phase.value for phase, _ in log] == [
        "accepted",
        "queued",
        "running",
        "fetched",
        "delivered",
    ]
    assert sorted(at for _, at in log) == [at for _, at in log]
    assert found is not None
    assert found.phase is JobPhase.DELIVERED


async def test_of_two_that_move_a_job_at_once_one_does(database: Database) -> None:
    await store(database)
    moved = await asyncio.gather(*(move(database, JobPhase.QUEUED) for _ in range(5)))
    assert sorted(moved) == [False] * 4 + [True]


async def test_a_result_and_its_files_are_stored_again_without_harm(database: Database) -> None:
    await store(database)
    artifact = Artifact(name="manifest.json", size=2**40, sha256="a" * 64)
    result = JobResult(
        failure=Failure(kind=FailureKind.CANCELLED),
        benchmarks=(),
        system=System(gpu="NVIDIA H200"),
        manifest=artifact,
    )
    for _ in range(2):
        async with database.begin() as session:
            await jobs.save_result(session, JOB, result, [artifact])
    async with database.begin() as session:
        (row,) = (await session.scalars(select(ArtifactRow))).all()
    assert (row.name, row.size, row.sha256) == ("manifest.json", 2**40, "a" * 64)


def test_files_lie_in_a_folder_of_their_job(tmp_path: Path) -> None:
    files = ArtifactFiles(tmp_path)
    assert files.folder(JOB) == tmp_path / "jobs" / JOB
    for wrong in ("", "..", JOB + "\n", "../" + JOB, JOB.upper()):
        with pytest.raises(ValueError, match="not a job id"):
            files.folder(wrong)
