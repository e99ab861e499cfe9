"""Files of jobs: how long they are kept, and that tables and folder say the same."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs
from sqlalchemy import func, select, update

from bot.jobs.errors import FilesGone, ResultGone
from bot.jobs.history import Nothing, Page
from bot.jobs.model import JobPhase, PastJob, Whose
from bot.jobs.retention import Retention
from bot.reports.past import list_text
from bot.services import Services
from bot.storage.tables import ArtifactRow, DeliveryRow, JobRow
from runner_client.secret import Secret
from tests.jobs.conftest import USER
from tests.jobs.past import FILES, Past

NOW = datetime.now(UTC)
SIZE = sum(len(content) for content in FILES.values())


WATCH = Retention.watch


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the services' own sweep from taking what a test's sweep is to count."""

    async def idle(_: Retention) -> None:
        return

    monkeypatch.setattr(Retention, "watch", idle)


@pytest.fixture
def past(services: Services) -> Past:
    return Past(services, USER)


def retention(past: Past, **changes: object) -> Retention:
    settings = structs.replace(past.services.settings, **changes)
    return Retention(settings, past.database)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def there(past: Past, *jobs: str) -> list[bool]:
    return [past.folder(job).exists() for job in jobs]


async def artifacts(past: Past) -> int:
    async with past.database.begin() as session:
        return await session.scalar(select(func.count()).select_from(ArtifactRow)) or 0


async def test_what_is_older_than_it_may_be_goes_and_is_said(past: Past) -> None:
    old, new = await past.job(at=days_ago(31)), await past.job(at=days_ago(29))
    assert await retention(past, keep_days=30.0).sweep() == 1
    assert there(past, old, new) == [False, True]
    row = await past.row(old)
    assert row.files_gone_at is not None
    assert row.result is not None
    history = past.services.history
    with pytest.raises(FilesGone):
        await history.show(await history.find(Whose(USER), old))
    with pytest.raises(ResultGone):
        await past.services.jobs.load(old, USER)
    offered = await past.services.jobs.past_profiles(USER, 10)
    assert [profile.job_id for profile in offered] == [new]
    assert await artifacts(past) == 2


async def test_of_too_many_bytes_the_oldest_go(past: Past) -> None:
    jobs = [await past.job(at=days_ago(days)) for days in (1, 3, 2)]
    assert await retention(past, keep_bytes=2 * SIZE).sweep() == 1
    assert there(past, *jobs) == [True, False, True]
    assert await retention(past, keep_bytes=2 * SIZE).sweep() == 0
    assert await retention(past, keep_bytes=0).sweep() == 2
    assert there(past, *jobs) == [False] * 3


@pytest.mark.parametrize("phase", [JobPhase.RUNNING, JobPhase.FETCHED, JobPhase.DELIVERING])
async def test_a_job_in_flight_keeps_its_files(past: Past, phase: JobPhase) -> None:
    job = await past.job(phase, at=days_ago(99))
    await asyncio.to_thread(past.folder(job).mkdir, parents=True, exist_ok=True)
    (past.folder(job) / "profile.0.ncu-rep.part").write_bytes(b"half of it")
    keeper = retention(past, keep_days=1.0, keep_bytes=0)
    await keeper.reconcile()
    assert await keeper.sweep() == 0
    assert not await keeper.drop(job, NOW)
    assert (past.folder(job) / "profile.0.ncu-rep.part").is_file()


async def test_a_result_that_nobody_came_for_is_not_kept_for_ever(past: Past) -> None:
    job = await past.job(JobPhase.DELIVERING, at=days_ago(99))
    async with past.database.begin() as session:
        session.add(
            DeliveryRow(job_id=job, application_id=1, expires_at=NOW, upload_limit=1, way="kept")
        )
    keeper = retention(past, keep_days=30.0)
    assert await keeper.sweep() == 1
    assert there(past, job) == [False]
    found = await past.services.history.find(Whose(USER), job)
    assert "**failed, never-called-for** · files gone" in list_text(page_of(found))
    shown = await past.services.history.show(found)
    assert isinstance(shown, Nothing)
    assert shown.words is not None
    assert "You could not be reached" in shown.words
    row = await past.row(job)
    assert (row.phase, row.charged) == ("failed", True)
    assert await past.services.deliveries.with_kept() == frozenset()
    assert await keeper.sweep() == 0


async def test_so_does_one_that_had_no_files_and_one_whose_author_was_to_hear_of_a_failure(
    past: Past,
) -> None:
    told = {"way": "kept", "application_id": 1, "expires_at": NOW, "upload_limit": 1}
    phases = {JobPhase.DELIVERING: "never-called-for", JobPhase.FAILED: "runner-down"}
    old = [await past.job(phase, at=days_ago(31), files={}) for phase in phases]
    new = await past.job(JobPhase.DELIVERING, at=days_ago(29), files={})
    async with past.database.begin() as session:
        session.add_all([DeliveryRow(job_id=job, **told) for job in (*old, new)])
        await session.execute(
            update(JobRow).where(JobRow.id == old[1]).values(failure_kind="runner-down")
        )
    await retention(past, keep_days=30.0).sweep()
    rows = [await past.row(job) for job in (*old, new)]
    assert [row.phase for row in rows] == ["failed", "failed", "delivering"]
    assert [row.failure_kind for row in rows[:2]] == list(phases.values())
    assert [kept.job.id for kept in await past.services.deliveries.kept(USER)] == [new]


def page_of(job: PastJob) -> Page:
    return Page(jobs=(job,), number=0, pages=1, total=1)


async def test_files_that_no_row_knows_are_removed(past: Past) -> None:
    known = await past.job()
    stray = past.folder("f" * 32)
    stray.mkdir(parents=True)
    (stray / "profile.0.ncu-rep").write_bytes(b"x")
    other = stray.with_name("what-is-it")
    other.mkdir()
    extra = past.folder(known) / "stray"
    extra.write_bytes(b"x")
    zipped = past.folder(known) / "profile.0.ncu-rep.zip"
    zipped.write_bytes(b"x")
    keeper = retention(past)
    await keeper.reconcile()
    await keeper.sweep()
    assert [path.exists() for path in (stray, extra)] == [False, False]
    assert other.is_dir()
    assert zipped.is_file()
    assert there(past, known) == [True]


async def test_files_of_another_database_are_left_alone(
    past: Past, caplog: pytest.LogCaptureFixture
) -> None:
    await retention(past).sweep()
    stray = past.folder("f" * 32)
    stray.mkdir(parents=True)
    mistyped = Secret("postgresql://ncubot:hidden@db.internal/ncubto")
    old = await past.job(at=days_ago(40))
    assert await retention(past, database_url=mistyped, keep_days=30.0).sweep() == 1
    assert there(past, old) == [False]
    assert stray.is_dir()
    assert "1 folders of jobs belong to another database" in caplog.text
    assert "hidden" not in caplog.text
    assert await retention(past).sweep() == 1
    assert not stray.exists()


async def test_rows_whose_files_are_lost_are_marked(past: Past) -> None:
    lost, partly, whole = await past.job(), await past.job(), await past.job()
    await asyncio.to_thread(past.files.remove, lost)
    (past.folder(partly) / "profile.0.ncu-rep").write_bytes(b"cut")
    await retention(past).reconcile()
    gone = [(await past.row(job)).files_gone_at is not None for job in (lost, partly, whole)]
    assert gone == [True, False, False]
    assert await artifacts(past) == 3
    assert [path.name for path in past.folder(partly).iterdir()] == ["ncu-details.0.csv"]


async def test_at_the_start_both_happen_by_themselves(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, old = await past.job(), await past.job(at=days_ago(31))
    await asyncio.to_thread(past.files.remove, lost)
    monkeypatch.setattr("bot.jobs.retention.EVERY_S", 3_600.0)
    watching = asyncio.create_task(WATCH(retention(past, keep_days=30.0)))
    while there(past, old) != [False]:  # noqa: ASYNC110 - nothing but the folder tells
        await asyncio.sleep(0.01)
    watching.cancel()
    assert (await past.row(lost)).files_gone_at is not None


async def test_reconciling_goes_through_more_jobs_than_fit_in_one_query(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.jobs.retention.AT_ONCE", 2)
    jobs = [await past.job() for _ in range(5)]
    for job in jobs:
        await asyncio.to_thread(past.files.remove, job)
    await retention(past).reconcile()
    assert await artifacts(past) == 0


async def test_a_crash_between_table_and_folder_is_mended(past: Past) -> None:
    job = await past.job(at=days_ago(40))
    keeper = retention(past, keep_days=30.0)

    async def killed(_: str) -> None:
        raise OSError(4, "killed")

    keeper._remove = killed  # type: ignore[method-assign,assignment]
    with pytest.raises(OSError, match="killed"):
        await keeper.sweep()
    assert there(past, job) == [True]
    assert await retention(past).sweep() == 1
    assert there(past, job) == [False]


async def test_a_folder_that_cannot_be_removed_stops_nothing(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [await past.job(at=days_ago(40)) for _ in range(2)]

    def busy(path: Path) -> None:
        raise OSError(16, "busy", str(path))

    monkeypatch.setattr("bot.storage.files.shutil.rmtree", busy)
    assert await retention(past).sweep() == 2
    monkeypatch.undo()
    assert there(past, *jobs) == [True, True]
    await retention(past).sweep()
    assert there(past, *jobs) == [False, False]
