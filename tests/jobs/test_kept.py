"""What can be read back of a job that ended, by its author, for as long as its files are there."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.jobs import errors, kept
from bot.jobs.model import Job, JobOutcome, Whose
from bot.reports.comparison import compare_profiles
from bot.reports.picker import TABLE, view_of
from bot.reports.reply import compose
from bot.services import Services
from counters.parse import read_summary
from runner_client.captures import CaptureMode, CensusReport, Counted, Coverage
from runner_client.wire import JobEvent
from tests.jobs.conftest import USER
from tests.jobs.runner import CSV, ScriptedRunner
from tests.jobs.test_service import REQUEST

STRANGER = 5
HOT = Counted(
    name="hot_kernel",
    grid=(1, 1, 1),
    block=(1, 1, 1),
    launches=9,
    total_ns=900,
    min_ns=100,
    max_ns=100,
    sd_ns=0.0,
)
COUNTED = Coverage(
    mode=CaptureMode.CENSUS,
    census=CensusReport(
        launches=9,
        total_ns=900,
        range_ns=1_000,
        kernels=1,
        processes=1,
        complete=True,
        counted=(HOT,),
    ),
)
KERNELS = {"ncu-details.0.csv": CSV.encode(), "ncu-details.1.csv": CSV.encode()}


@pytest.fixture
def runner() -> ScriptedRunner:
    """Return a runner that captures one kernel a benchmark."""
    return ScriptedRunner(files=dict(KERNELS))


async def ended(services: Services, *, delivered: bool = True) -> JobOutcome:
    """Return the outcome of a job that has run."""

    async def ignore(_: JobEvent) -> None:
        return None

    outcome = await services.jobs.run(await services.jobs.submit(REQUEST), ignore)
    if delivered:
        await services.deliveries.over(outcome.job.id)
    return outcome


def tables(job: Job, services: Services) -> list[Path]:
    return sorted((services.settings.data / "jobs" / job.id).glob("ncu-details.*.csv"))


async def test_the_author_gets_the_whole_outcome_again(services: Services) -> None:
    outcome = await ended(services, delivered=False)
    again = await services.jobs.load(outcome.job.id, USER)
    assert again.benchmarks == outcome.benchmarks
    assert again.result == outcome.result
    assert again.job.benchmarks == outcome.job.benchmarks


async def test_one_benchmark_can_be_asked_for(services: Services) -> None:
    outcome = await ended(services)
    (one,) = (await services.jobs.load(outcome.job.id, USER, 1)).benchmarks
    assert one.result.index == 1
    with pytest.raises(errors.ResultGone):
        await services.jobs.load(outcome.job.id, USER, 99)


async def test_nobody_else_gets_it_and_no_job_is_told_from_none(services: Services) -> None:
    outcome = await ended(services)
    with pytest.raises(errors.NotYours):
        await services.jobs.load(outcome.job.id, STRANGER)
    with pytest.raises(errors.NotYours):
        await services.jobs.load("f" * 32, USER)
    with pytest.raises(errors.NotYours):
        await services.jobs.load("../../etc", USER)


async def test_a_job_that_has_not_ended_has_no_result(services: Services) -> None:
    job = await services.jobs.submit(REQUEST)
    with pytest.raises(errors.ResultGone):
        await services.jobs.load(job.id, USER)


async def test_a_benchmark_whose_table_is_gone_is_said(services: Services) -> None:
    outcome = await ended(services)
    (first, _) = tables(outcome.job, services)
    first.unlink()
    with pytest.raises(errors.ResultGone):
        await services.jobs.load(outcome.job.id, USER, 0)
    assert (await services.jobs.load(outcome.job.id, USER, 1)).benchmarks


async def test_a_table_is_read_once_until_it_changes(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(path: Path) -> object:
        read.append(path)
        return read_summary(path)

    monkeypatch.setattr(kept, "read_summary", counted)
    outcome = await ended(services)
    await services.jobs.load(outcome.job.id, USER)
    assert len(read) == 2
    (first, _) = tables(outcome.job, services)
    os.utime(first, ns=(1, 1))
    await services.jobs.load(outcome.job.id, USER)
    assert read[2:] == [first]


async def test_only_the_last_reports_stay_in_memory(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "REMEMBERED", 1)
    outcome = await ended(services)
    await services.jobs.load(outcome.job.id, USER)
    assert len(services.jobs._kept._reports) == 1


async def test_past_profiles_are_the_authors_newest_first(services: Services) -> None:
    first, second = await ended(services), await ended(services)
    past = await services.jobs.past_profiles(USER, 10)
    assert [(one.job_id, one.benchmark.index) for one in past] == [
        (second.job.id, 0),
        (second.job.id, 1),
        (first.job.id, 0),
        (first.job.id, 1),
    ]
    assert (past[0].leaderboard, past[0].gpu, past[0].file_name) == ("qr", "H200", "kernel.py")
    assert len(await services.jobs.past_profiles(USER, 1)) == 2
    assert await services.jobs.past_profiles(STRANGER, 10) == ()


async def test_jobs_without_counters_are_no_past_profiles(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.kernels = 0
    await ended(services)
    await services.jobs.submit(replace(REQUEST, benchmark=0))
    assert await services.jobs.past_profiles(USER, 10) == ()


async def test_a_census_is_shown_again_and_named_where_counters_are_asked_for(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.kernels, runner.coverage = 0, COUNTED
    runner.files = {"census.0.json": b"{}", "census.1.json": b"{}"}
    job = (await ended(services)).job
    past = await services.history.find(Whose(USER), job.id)
    shown = await services.history.show(past)
    assert isinstance(shown, JobOutcome)
    assert "hot_kernel" in compose(shown, 10_000_000)[0].table
    loaded = await services.jobs.load(job.id, USER, 0)
    view = view_of(job.id, loaded.benchmarks[0], 0, TABLE)
    assert view is not None
    assert "hot_kernel" in view.content
    assert view.picker.choices == ()
    with pytest.raises(errors.NoCounters):
        compare_profiles(loaded, loaded)


async def test_two_at_once_read_the_same(services: Services) -> None:
    outcome = await ended(services)
    loaded = await asyncio.gather(
        *(services.jobs.load(outcome.job.id, USER, index % 2) for index in range(6))
    )
    assert all(one.benchmarks[0].report is not None for one in loaded)
