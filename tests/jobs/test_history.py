"""Lists of past jobs, and what becomes of a job that is deleted."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.jobs.errors import FilesGone, JobOver, JobUnderWay, NoFiles, NotYours
from bot.jobs.history import Nothing, refuse_over
from bot.jobs.model import JobOutcome, JobPhase, Whose
from bot.reports.past import file_messages, label, list_text, page_words
from bot.services import Services
from bot.storage.tables import DeliveryRow, JobRow
from runner_client.wire import Failure, FailureKind
from tests.jobs.conftest import USER
from tests.jobs.past import FILES, Past

ME = Whose(USER)
NOW = datetime.now(UTC)


@pytest.fixture
def past(services: Services) -> Past:
    return Past(services, USER)


async def test_a_list_is_paged_newest_first(past: Past) -> None:
    jobs = [await past.job(at=NOW - timedelta(hours=hours)) for hours in range(23)]
    history = past.services.history
    pages = [await history.page(ME, number) for number in range(3)]
    assert [job.id for page in pages for job in page.jobs] == jobs
    assert [page_words(page) for page in pages] == [
        "23 jobs · page 1 of 3",
        "23 jobs · page 2 of 3",
        "23 jobs · page 3 of 3",
    ]
    assert (await history.page(ME, 99)) == pages[2]
    assert (await history.page(Whose(1), 0)).pages == 1
    assert list_text(await history.page(Whose(1), 0)).startswith("Nothing yet")


async def test_a_line_says_what_became_of_a_job(past: Past) -> None:
    job = await past.job(name="my *kernel*.py")
    (line,) = list_text(await past.services.history.page(ME, 0)).splitlines()
    assert line.startswith(f"`{job[:8]}` <t:")
    assert line.endswith("on H200 · my \\*kernel\\*.py · 1 shape · **done** · 1.4 kB")
    (listed,) = await past.services.history.newest(ME, 5)
    assert label(listed).endswith("my *kernel*.py · done")


async def test_a_job_is_found_by_the_start_of_its_id_by_its_author_alone(past: Past) -> None:
    job = await past.job(guild_id=7)
    history = past.services.history
    for start in (job, job[:6], f" {job[:8].upper()} "):
        assert (await history.find(ME, start)).id == job
    assert (await history.find(Whose(USER, 7), job)).id == job
    for whose, text in (
        (Whose(1), job),
        (Whose(USER, 8), job),
        (ME, job[:5]),
        (ME, "%" * 8),
        (ME, ""),
    ):
        with pytest.raises(NotYours):
            await history.find(whose, text)


async def test_a_job_is_shown_as_it_was(past: Past) -> None:
    history = past.services.history
    shown = await history.show(await history.find(ME, await past.job()))
    assert isinstance(shown, JobOutcome)
    assert shown.benchmarks[0].report is not None
    failure = Failure(kind=FailureKind.SUBMISSION_ERROR)
    empty = await history.find(ME, await past.job(files={}, failure=failure))
    assert isinstance(await history.show(empty), JobOutcome)
    with pytest.raises(NoFiles):
        await history.files(empty)
    failed = await history.find(ME, await past.job(JobPhase.FAILED))
    assert isinstance(await history.show(failed), Nothing)
    with pytest.raises(NoFiles):
        await history.files(failed)


@pytest.mark.parametrize("phase", [JobPhase.ACCEPTED, JobPhase.QUEUED, JobPhase.RUNNING])
async def test_a_job_under_way_is_neither_shown_nor_deleted(past: Past, phase: JobPhase) -> None:
    history = past.services.history
    job = await history.find(ME, await past.job(phase))
    for refuse in (history.show, history.files, partial(history.delete, ME)):
        with pytest.raises(JobUnderWay):
            await refuse(job)
    refuse_over(job)


async def test_files_come_in_messages_of_ten_and_within_the_limit(past: Past) -> None:
    history = past.services.history
    job = await history.find(ME, await past.job(files={"profile.0.ncu-rep": bytes(20_000)}))
    outcome = await history.files(job)
    (benchmark,) = outcome.benchmarks
    (report,) = benchmark.files.values()
    small = {f"ncu-details.{number}.txt": report.with_name(f"{number}") for number in range(14)}
    for path in small.values():
        path.write_bytes(b"small")
    many = replace(benchmark, files=benchmark.files | small)
    messages = file_messages(job, replace(outcome, benchmarks=(many,)), 200)
    assert [len(message.files) for message in messages] == [10, 5]
    assert messages[0].files[0].name == "profile.0.ncu-rep.zip"
    (tight,) = file_messages(job, outcome, 10)
    assert tight.files == ()
    assert "Not attached, over Discord's upload limit: `profile.0.ncu-rep`" in tight.description


async def test_a_deleted_job_leaves_nothing_but_its_count(past: Past) -> None:
    history = past.services.history
    job = await history.find(ME, await past.job())
    with pytest.raises(JobOver):
        refuse_over(job)
    await history.delete(ME, job)
    row = await past.row(job.id)
    assert (row.submission, row.result, row.file_name) == (b"", None, "")
    assert row.deleted_at is not None
    assert not past.folder(job.id).exists()
    assert (await history.page(ME, 0)).total == 0
    assert await past.services.jobs.past_profiles(USER, 5) == ()
    with pytest.raises(NotYours):
        await history.find(ME, job.id)
    with pytest.raises(JobUnderWay):
        await history.delete(ME, job)


async def test_what_is_on_its_way_to_its_author_is_not_deleted(past: Past) -> None:
    history = past.services.history
    job = await past.job(JobPhase.FAILED)
    async with past.database.begin() as session:
        session.add(DeliveryRow(job_id=job, application_id=1, expires_at=NOW, upload_limit=1))
    with pytest.raises(JobUnderWay) as refused:
        await history.delete(ME, await history.find(ME, job))
    assert refused.value.phase == "delivering"


async def test_somebody_else_deletes_nothing(past: Past) -> None:
    history = past.services.history
    job = await history.find(ME, await past.job())
    with pytest.raises(JobUnderWay):
        await history.delete(Whose(1), job)
    assert past.folder(job.id).exists()


async def test_files_that_are_gone_are_said_to_be(past: Past) -> None:
    history = past.services.history
    job = await past.job(files=FILES)
    async with past.database.begin() as session:
        (await session.get_one(JobRow, job)).files_gone_at = NOW
    found = await history.find(ME, job)
    assert " · files gone <t:" in list_text(await history.page(ME, 0))
    with pytest.raises(FilesGone):
        await history.files(found)
