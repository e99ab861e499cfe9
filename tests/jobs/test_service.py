"""A job's life against a runner over real sockets, and what the tables hold afterwards."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot.jobs import errors
from bot.jobs.model import Job, JobOutcome, JobPhase, ProfileRequest
from bot.leaderboards.service import Request
from bot.services import Services
from bot.storage.audit import Who
from bot.storage.database import Database
from bot.storage.tables import ArtifactRow, JobPhaseRow, JobRow
from runner_client.wire import Artifact, Benchmark, JobEvent
from tests.jobs.conftest import USER
from tests.jobs.runner import CANCELLED, EVENTS, ScriptedRunner
from tests.leaderboards.repository import change

REQUEST = ProfileRequest(
    user_id=USER,
    file_name="kernel.py",
    source="\ufeff#!POPCORN leaderboard qr\r\nprint()\r\n".encode(),
    gpu="h200",
    channel_id=5,
)


@pytest.fixture
def database(services: Services) -> Database:
    return services.jobs._database


async def stored(database: Database) -> list[JobRow]:
    async with database.begin() as session:
        return list((await session.scalars(select(JobRow))).all())


async def run(services: Services, job: Job) -> tuple[list[JobEvent], JobOutcome]:
    seen: list[JobEvent] = []

    async def on_event(event: JobEvent) -> None:
        seen.append(event)

    return seen, await services.jobs.run(job, on_event)


async def test_a_job_from_the_request_to_the_counters(
    services: Services, runner: ScriptedRunner, database: Database, tmp_path: Path
) -> None:
    job = await services.jobs.submit(REQUEST)
    assert (job.leaderboard, job.gpu, job.phase) == ("qr", "H200", JobPhase.ACCEPTED)
    assert [entry.index for entry in job.benchmarks] == [0, 1]
    assert runner.specs == []

    seen, outcome = await run(services, job)
    (spec,) = runner.specs
    assert spec.submission.content == "#!POPCORN leaderboard qr\nprint()\n"
    assert (spec.id, spec.timeout_s, spec.seed) == (job.id, 90.5, 7)
    assert [file.name for file in spec.files] == ["eval.py", "reference.py"]
    assert str(USER) not in spec.requester
    assert tuple(seen) == EVENTS
    assert [entry.result.index for entry in outcome.benchmarks] == [0, 1]
    for entry in outcome.benchmarks:
        assert entry.report is not None
        assert [kernel.name for kernel in entry.report.kernels] == ["my_kernel"]
        (path,) = entry.files.values()
        assert path.parent == tmp_path / "data" / "jobs" / job.id

    (row,) = await stored(database)
    assert (row.phase, row.channel_id, row.failure_kind) == ("fetched", 5, None)
    assert row.submission == spec.submission.content.encode()
    async with database.begin() as session:
        phases = (await session.scalars(select(JobPhaseRow.phase).order_by(JobPhaseRow.id))).all()
        assert await session.scalar(select(func.count()).select_from(ArtifactRow)) == 2
    assert list(phases) == ["accepted", "queued", "running", "fetched"]


async def forced(services: Services) -> None:
    """Sync the problems folder, held-back changes too."""
    reading = await services.leaderboards.read(Request(source="."))
    await services.leaderboards.apply(reading, Who(origin="command line"), force=True)


async def test_a_job_keeps_the_version_that_it_was_started_with(
    services: Services, runner: ScriptedRunner, database: Database
) -> None:
    before = services.leaderboards.find("qr")
    first = await services.jobs.submit(REQUEST)
    change(services.settings.problems / "linalg/qr/reference.py", "# qr", "# changed")
    await forced(services)
    second = await services.jobs.submit(REQUEST)
    rows = {row.id: row.version_id for row in await stored(database)}
    assert rows[first.id] == before.version_id
    for job in (first, second):
        await run(services, job)
    assert rows[second.id] == services.leaderboards.find("qr").version_id != before.version_id
    assert [spec.files[1].content for spec in runner.specs] == ["# qr\n", "# changed\n"]


async def test_a_runner_gets_its_gpu_by_the_name_that_it_knows(
    services: Services, runner: ScriptedRunner
) -> None:
    change(services.settings.problems / "linalg.yaml", "[H200, B200]", "[NVIDIA H200, B200]")
    await forced(services)
    job = await services.jobs.submit(replace(REQUEST, gpu="h200-sxm5"))
    assert job.gpu == "NVIDIA H200"
    await run(services, job)
    assert [spec.gpu for spec in runner.specs] == ["H200"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"user_id": 1}, errors.NotRegistered),
        ({"source": b""}, errors.FileEmpty),
        ({"source": b"\xff"}, errors.FileNotText),
        ({"source": b"x" * 1_000_001}, errors.FileTooLarge),
        ({"leaderboard": "svd"}, errors.LeaderboardUnknown),
        ({"source": b"print()"}, errors.LeaderboardMissing),
        ({"gpu": "A100"}, errors.GpuNotListed),
        ({"gpu": "B200"}, errors.GpuWithoutRunner),
        ({"benchmark": 2}, errors.BenchmarkOutOfRange),
        ({"file_name": "kernel.cu", "leaderboard": "qr"}, errors.FileTypeWrong),
    ],
)
async def test_a_refusal_leaves_no_row_and_asks_no_runner(
    services: Services,
    runner: ScriptedRunner,
    database: Database,
    change: dict[str, object],
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        await services.jobs.submit(replace(REQUEST, **change))  # type: ignore[arg-type]
    assert await stored(database) == []
    assert runner.specs == []


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, errors.RunnerDenied, "runner-denied"),
        (500, errors.RunnerRefused, "runner-refused"),
        (502, errors.RunnerDown, "runner-down"),
        (302, errors.RunnerBroken, "runner-broken"),
    ],
)
async def test_a_runner_that_does_not_take_the_job_fails_it(
    services: Services,
    runner: ScriptedRunner,
    database: Database,
    status: int,
    error: type[Exception],
    kind: str,
) -> None:
    runner.status_of = {"POST jobs": status}
    job = await services.jobs.submit(REQUEST)
    with pytest.raises(error):
        await run(services, job)
    (row,) = await stored(database)
    assert (row.phase, row.failure_kind) == ("failed", kind)


async def test_a_full_queue_is_not_the_users_fault(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.status_of, runner.words = {"POST jobs": 503}, "the queue is full (500 of 500 places)"
    job = await services.jobs.submit(REQUEST)
    with pytest.raises(errors.RunnerBusy) as refused:
        await run(services, job)
    assert refused.value.reason == "the queue is full (500 of 500 places)"


async def test_a_job_that_vanished(
    services: Services, runner: ScriptedRunner, database: Database
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.status_of = {"GET events": 404}
    with pytest.raises(errors.JobVanished):
        await run(services, job)
    (row,) = await stored(database)
    assert (row.phase, row.failure_kind) == ("failed", "job-vanished")


@pytest.mark.parametrize("place", ["GET events", "GET job", "GET artifacts"])
async def test_a_runner_that_comes_back_loses_nothing(
    services: Services, runner: ScriptedRunner, place: str
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.status_of, runner.fails = {place: 503}, 2
    seen, _ = await run(services, job)
    assert tuple(seen) == EVENTS


async def test_a_runner_that_stays_away_fails_the_job(
    services: Services, runner: ScriptedRunner, database: Database
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.status_of = {"GET events": 503}
    with pytest.raises(errors.RunnerDown):
        await run(services, job)
    assert [row.phase for row in await stored(database)] == ["failed"]


async def test_a_spoiled_file_fails_the_job(
    services: Services, runner: ScriptedRunner, database: Database, tmp_path: Path
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.spoiled = b"x"
    with pytest.raises(errors.RunnerBroken):
        await run(services, job)
    assert [row.failure_kind for row in await stored(database)] == ["runner-broken"]
    assert list((tmp_path / "data" / "jobs").rglob("*.csv")) == []


@pytest.mark.parametrize(
    "benchmarks",
    [
        (Benchmark(index=7, spec="n: 1"),),
        (Benchmark(index=0, spec="another shape"),),
        (Benchmark(index=0, spec="batch: 20; n: 32"),) * 2,
    ],
)
async def test_a_result_for_something_else_is_not_believed(
    services: Services, runner: ScriptedRunner, benchmarks: tuple[Benchmark, ...]
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.benchmarks = benchmarks
    with pytest.raises(errors.RunnerBroken):
        await run(services, job)


async def test_the_end_is_found_without_its_event(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.events = EVENTS[:2]
    seen, _ = await run(services, await services.jobs.submit(REQUEST))
    assert tuple(seen) == EVENTS[:2]


async def test_a_job_that_runs_on_is_asked_for_again(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.events, runner.running = EVENTS[:3], 1
    seen, _ = await run(services, await services.jobs.submit(REQUEST))
    assert tuple(seen) == EVENTS[:3]
    assert runner.running == 0


async def test_a_job_that_ends_without_a_result(services: Services, runner: ScriptedRunner) -> None:
    runner.silent = True
    job = await services.jobs.submit(REQUEST)
    with pytest.raises(errors.RunnerBroken, match="without a result"):
        await run(services, job)


async def test_the_manifest_is_fetched_too(services: Services, runner: ScriptedRunner) -> None:
    runner.files["manifest.json"] = b"{}"
    runner.manifest = Artifact(
        name="manifest.json", size=2, sha256=hashlib.sha256(b"{}").hexdigest()
    )
    outcome = await services.jobs.run(await services.jobs.submit(REQUEST), _ignore)
    assert outcome.manifest is not None
    assert outcome.manifest.name == "manifest.json"


async def test_two_artifacts_of_one_name(services: Services, runner: ScriptedRunner) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.manifest = runner.one(job.benchmarks[0]).artifacts[0]
    with pytest.raises(errors.RunnerBroken, match="one name"):
        await run(services, job)


async def test_a_csv_that_is_no_table_gives_no_report(
    services: Services, runner: ScriptedRunner
) -> None:
    runner.files = {"ncu-details.0.csv": b"==ERROR== nothing", "ncu-details.1.csv": b""}
    job = await services.jobs.submit(REQUEST)
    outcome = await services.jobs.run(job, _ignore)
    assert [entry.report for entry in outcome.benchmarks] == [None, None]


async def _ignore(_: JobEvent) -> None:
    return None


async def test_cancel_reaches_the_runner_for_the_author_alone(
    services: Services, runner: ScriptedRunner, database: Database
) -> None:
    job = await services.jobs.submit(REQUEST)
    for job_id, user_id in ((job.id, 1), ("f" * 32, USER)):
        with pytest.raises(errors.NotYours):
            await services.jobs.cancel(job_id, user_id)
    await services.jobs._hand_over(job)
    assert runner.cancelled == []
    assert not await services.jobs.cancel(job.id, USER)
    assert runner.cancelled == [job.id]
    runner.failure = CANCELLED
    await services.jobs.run(replace(job, phase=JobPhase.QUEUED), _ignore)
    assert not await services.jobs.cancel(job.id, USER)
    assert runner.cancelled == [job.id]
    assert [row.phase for row in await stored(database)] == ["cancelled"]


async def test_a_job_that_no_runner_has_is_cancelled_at_once(
    services: Services, runner: ScriptedRunner, database: Database
) -> None:
    job = await services.jobs.submit(REQUEST)
    runner.status_of = {"DELETE job": 404}
    assert await services.jobs.cancel(job.id, USER)
    assert [row.phase for row in await stored(database)] == ["cancelled"]
    assert await services.jobs.outcome(job) is None


async def test_what_was_fetched_is_read_again_from_rows_and_disk(
    services: Services, runner: ScriptedRunner
) -> None:
    job = await services.jobs.submit(REQUEST)
    _, outcome = await run(services, job)
    again = await services.jobs.outcome(job)
    assert again is not None
    assert again.result == outcome.result
    assert [entry.files for entry in again.benchmarks] == [
        entry.files for entry in outcome.benchmarks
    ]


async def test_a_job_of_a_runner_that_left_the_settings(services: Services) -> None:
    job = replace(await services.jobs.submit(REQUEST), runner="gone")
    with pytest.raises(errors.RunnerDown):
        await services.jobs.run(job, _ignore)


async def test_health_of_every_runner(services: Services, runner: ScriptedRunner) -> None:
    assert services.runners.gpus() == ("H200",)
    (well,) = (await services.runners.health()).values()
    assert not isinstance(well, errors.NcubotError)
    runner.status_of = {"GET health": 401}
    (ill,) = (await services.runners.health()).values()
    assert isinstance(ill, errors.RunnerDenied)
