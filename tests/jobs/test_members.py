"""Leaving with jobs under way, and what is deleted when."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from bot.accounts.members import LEAST_TRACE
from bot.accounts.quota import Quota
from bot.delivery.address import Address
from bot.jobs.errors import NotRegistered
from bot.jobs.model import Job, JobPhase
from bot.services import Services
from bot.storage import jobs, quotas
from bot.storage.database import Database
from bot.storage.tables import ArtifactRow, DeliveryRow, JobPhaseRow, JobRow, UserRow
from runner_client.secret import Secret
from runner_client.wire import JobEvent
from tests.jobs.conftest import USER
from tests.jobs.runner import ScriptedRunner
from tests.jobs.test_service import REQUEST

ADDRESS = Address(
    user_id=USER,
    application_id=1,
    token=Secret("an-interaction"),
    expires_at=datetime.now(UTC) + timedelta(minutes=14),
    channel_id=5,
    guild_id=None,
    upload_limit=1_000_000,
)


@pytest.fixture
def database(services: Services) -> Database:
    return services.jobs._database


async def ignore(_: JobEvent) -> None:
    pass


async def ended(services: Services) -> Job:
    """Run a job to its result."""
    job = await services.jobs.submit(REQUEST, ADDRESS)
    await services.jobs.run(job, ignore)
    return job


async def running(services: Services, database: Database) -> Job:
    """Start a job that its runner has."""
    job = await services.jobs.submit(REQUEST, ADDRESS)
    async with database.begin() as session:
        assert await jobs.move(session, job.id, JobPhase.RUNNING)
    return job


async def count(database: Database, *tables: type) -> list[int]:
    async with database.begin() as session:
        return [await session.scalar(select(func.count()).select_from(t)) or 0 for t in tables]


async def leave(services: Services) -> list[str]:
    """Let the user leave; return the jobs of which was let go."""
    gone: list[str] = []

    async def let_go(job_id: str) -> None:
        gone.append(job_id)

    assert await services.members.leave(USER, let_go) is not None
    return gone


async def test_what_was_sent_and_got_is_wiped_and_the_row_only_counts(
    services: Services, database: Database
) -> None:
    job = await ended(services)
    folder = services.settings.data / "jobs" / job.id
    assert any(folder.iterdir())
    await leave(services)
    assert not folder.exists()
    async with database.begin() as session:
        row = await session.get_one(JobRow, job.id)
        user = await session.get_one(UserRow, USER)
    assert (row.submission, row.result, row.file_name, row.channel_id) == (b"", None, "", None)
    assert (row.submission_sha256, row.options, row.benchmarks) == ("", "{}", "[]")
    assert row.charged
    assert user.name == ""
    assert await count(database, ArtifactRow, DeliveryRow) == [0, 0]
    assert await services.members.leave(USER, _never) is None


async def _never(_: str) -> None:
    raise AssertionError


async def test_jobs_under_way_are_cancelled_where_they_run(
    services: Services, database: Database, runner: ScriptedRunner
) -> None:
    waiting = await services.jobs.submit(REQUEST, ADDRESS)
    going = await running(services, database)
    assert set(await leave(services)) == {waiting.id, going.id}
    assert going.id in runner.cancelled
    async with database.begin() as session:
        rows = await session.scalars(select(JobRow.phase))
        assert set(rows) == {"cancelled"}
    with pytest.raises(NotRegistered):
        await services.jobs.submit(REQUEST, ADDRESS)


async def test_a_runner_that_is_away_keeps_nobody(
    services: Services, database: Database, runner: ScriptedRunner
) -> None:
    job = await running(services, database)
    runner.status_of["DELETE job"] = 503
    assert await leave(services) == [job.id]


async def test_a_result_that_comes_too_late_is_not_stored(
    services: Services, database: Database
) -> None:
    job = await services.jobs.submit(REQUEST, ADDRESS)
    await leave(services)
    await services.jobs.run(job, ignore)
    async with database.begin() as session:
        row = await session.get_one(JobRow, job.id)
    assert (row.result, row.phase) == (None, "cancelled")
    assert await count(database, ArtifactRow) == [0]


async def test_coming_back_starts_no_fresh_quota(services: Services, database: Database) -> None:
    await ended(services)
    await leave(services)
    assert await services.accounts.register(USER, "somebody")
    rule, now = Quota(jobs=5, window=86_400), datetime.now(UTC)
    async with database.begin() as session:
        limits = services.members.limits
        (use,) = await quotas.uses(session, USER, limits, [rule], {}, now)
    assert use.used == 1
    standing = await services.members.standing(USER)
    assert (standing.jobs, standing.under_way) == (0, 0)


async def test_the_last_trace_goes_when_it_no_longer_counts(
    services: Services, database: Database
) -> None:
    await ended(services)
    await leave(services)
    await services.members.forget_departed()
    assert await count(database, UserRow, JobRow) == [1, 1]
    await _make_old(database)
    await services.members.forget_departed()
    assert await count(database, UserRow, JobRow, JobPhaseRow) == [0, 0, 0]


async def test_those_who_are_here_are_not_forgotten(services: Services, database: Database) -> None:
    await ended(services)
    await _make_old(database)
    await services.members.forget_departed()
    assert await count(database, UserRow, JobRow) == [1, 1]


async def test_leaving_that_was_cut_short_is_finished(
    services: Services, database: Database
) -> None:
    job = await ended(services)
    async with database.begin() as session:
        await session.execute(update(UserRow).values(left_at=datetime.now(UTC)))
    await services.members.forget_departed()
    assert not (services.settings.data / "jobs" / job.id).exists()
    async with database.begin() as session:
        assert (await session.get_one(JobRow, job.id)).submission == b""


async def _make_old(database: Database) -> None:
    async with database.begin() as session:
        old = datetime.now(UTC) - LEAST_TRACE - timedelta(minutes=1)
        await session.execute(update(JobRow).values(created_at=old))
