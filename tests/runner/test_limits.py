"""Limits of a job: what ends a run, what is said, and that what was captured is delivered."""

import asyncio
import os
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from runner.capture.workspace import Workspace, workspace
from runner.isolation.halt import Halt, Meter, Stop
from runner.isolation.limits import Account, Budget, Excess, Limits, Usage, excess, look, watched
from runner.settings import RunnerSettings
from runner.text import seconds_words, size_words
from runner_client.captures import CaptureOptions
from runner_client.wire import BenchmarkStatus, Failure, FailureKind, Mode, Retrying
from tests.runner.api import Api
from tests.standin import made
from tests.standin.problem import GOOD, job, replaying

LIMITS = Limits(
    replay_factor=10.0,
    job_s=3_600.0,
    launches=100,
    report_bytes=1_000_000,
    job_bytes=5_000_000,
    free_bytes=1_000_000_000,
)
FREE = 2_000_000_000
NEVER = Budget(deadline=time.monotonic() + 1e6)
HANG = replaying("partial-hang-terminated")
BUSY = f"made:{made.BUSY.name}"
KERNEL = "last kernel vectorized_elementwise_kernel"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(0, 0, FREE), None),
        (Usage(1_000_001, 1_000_001, FREE), Excess(Stop.REPORT_LIMIT, "1.0 MB")),
        (Usage(0, 5_000_001, FREE), Excess(Stop.DISK_LIMIT, "5.0 MB")),
        (Usage(0, 2_000_000, 999_000_000), Excess(Stop.DISK_LIMIT, "1.0 GB must stay free")),
        (Usage(0, 1_000, 999_000_000), Excess(Stop.DISK_FULL, "1.0 GB must stay free")),
    ],
)
def test_each_limit_has_its_reason_and_figure(usage: Usage, expected: Excess | None) -> None:
    assert excess(usage, NEVER, LIMITS) == expected


def test_the_jobs_time_goes_before_its_bytes() -> None:
    over = Budget(deadline=time.monotonic() - 1)
    found = excess(Usage(9_999_999, 0, FREE), over, LIMITS)
    assert found == Excess(Stop.JOB_TIME_LIMIT, "3,600 s")


def test_a_benchmarks_time_is_the_tasks_and_longer_under_ncu() -> None:
    assert LIMITS.wall_s(job(timeout_s=20.0)) == 200.0
    assert LIMITS.wall_s(job(timeout_s=20.0, mode=Mode.TEST)) == 20.0


def test_launches_are_counted_over_all_benchmarks() -> None:
    ten = CaptureOptions(launch_count=51)
    assert LIMITS.refusal(job(count=1, capture=ten)) is None
    assert LIMITS.refusal(job(count=2, capture=ten, mode=Mode.TEST)) is None
    assert LIMITS.refusal(job(count=2, capture=ten)) == Failure(
        kind=FailureKind.LAUNCH_LIMIT,
        detail="2 benchmarks of 51 launches are 102 and 100 are allowed",
    )


def test_a_job_without_time_or_room_begins_no_further_benchmark() -> None:
    account = Account(LIMITS)
    assert account.used_up() is None
    account.took(1_000_000)
    assert account.used_up() == Failure(kind=FailureKind.REPORT_LIMIT, detail="1.0 MB")
    late = Account(Limits.of(RunnerSettings(job_timeout_s=1e-9)))
    assert late.used_up() == Failure(kind=FailureKind.JOB_TIME_LIMIT, detail="1e-09 s")


def test_words() -> None:
    words = [size_words(size) for size in (0, 999, 1_000, 2_500_000, 20_000_000_000)]
    assert words == ["0 bytes", "999 bytes", "1.0 kB", "2.5 MB", "20.0 GB"]
    assert [seconds_words(seconds) for seconds in (0.5, 480.0, 3_600.0)] == [
        "0.5 s",
        "480 s",
        "3,600 s",
    ]


def measured(tmp_path: Path) -> tuple[Workspace, Usage]:
    with workspace(tmp_path, "0" * 32) as work:
        (work.out / "profile.0.ncu-rep").write_bytes(b"x" * 1_000_000)
        (work.tmp / "deep").mkdir()
        (work.tmp / "deep" / "file").write_bytes(b"x" * 500_000)
        (work.tmp / "loop").symlink_to(work.root)
        (work.tmp / "outside").symlink_to("/usr")
        os.mkfifo(work.tmp / "fifo")
        return work, look(work)


def test_a_look_counts_files_and_follows_no_link(tmp_path: Path) -> None:
    _, usage = measured(tmp_path)
    assert 1_000_000 <= usage.report < 1_100_000
    assert 1_500_000 <= usage.job < 1_700_000
    assert usage.free > 0


async def test_the_watcher_asks_once_and_ends_with_its_program(tmp_path: Path) -> None:
    with workspace(tmp_path, "0" * 32) as work:
        halt = Halt()
        async with watched(halt, work, NEVER, LIMITS, poll_s=0.01):
            (work.out / "report").write_bytes(b"x" * 2_000_000)
            await halt.wait()
        assert (halt.reason, halt.figure) == (Stop.REPORT_LIMIT, "1.0 MB")
        assert halt.figure_of(Stop.TIME_LIMIT) == ""


def test_the_first_reason_to_halt_counts() -> None:
    halt = Halt()
    meter = Meter(10, halt)
    meter.feed(b"x" * 10)
    assert halt.figure == ""
    meter.feed(b"x")
    halt.ask(Stop.MEMORY_LIMIT, "1.0 GB")
    assert (halt.reason, halt.figure) == (Stop.OUTPUT_LIMIT, "10 bytes")
    Meter(None, halt).feed(b"x" * 100)


@pytest.fixture
def settings(settings: RunnerSettings, request: pytest.FixtureRequest) -> RunnerSettings:
    """Change the settings as the test's `changes` say."""
    call = getattr(request.node, "callspec", None)
    return replace(settings, **(call.params.get("changes", {}) if call else {}))


@pytest.mark.parametrize(
    ("changes", "source", "kind", "detail"),
    [
        ({"job_timeout_s": 0.7}, HANG, FailureKind.JOB_TIME_LIMIT, f"0.7 s, {KERNEL}"),
        (
            {"max_report_bytes": 100_000},
            HANG + "# standin-grow: 300000\n",
            FailureKind.REPORT_LIMIT,
            f"100.0 kB, {KERNEL}",
        ),
    ],
)
async def test_what_was_captured_before_a_limit_is_delivered(
    api: Api, changes: dict[str, float], source: str, kind: FailureKind, detail: str
) -> None:
    result = await api.run_one(job(source))
    assert result.status is BenchmarkStatus.PARTIAL
    assert result.failure == Failure(kind=kind, detail=detail)
    assert result.kernels > 0
    assert result.artifacts


FILLS = """
import os, time
def custom_kernel(line):
    for number in range(10):
        with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
            file.write(b"x" * 150_000)
    time.sleep(600)
"""


@pytest.mark.parametrize("changes", [{"max_job_bytes": 500_000}])
async def test_many_files_meet_the_jobs_limit(api: Api, changes: dict[str, int]) -> None:
    result = await api.run_one(job(FILLS, Mode.BENCHMARK))
    assert result.failure == Failure(kind=FailureKind.DISK_LIMIT, detail="500.0 kB")


@pytest.mark.parametrize("changes", [{"min_free_bytes": 2**62}])
async def test_a_full_disk_is_not_the_users_fault(api: Api, changes: dict[str, int]) -> None:
    result = await api.run_one(job(HANG))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.DISK_FULL


PRINTS = "def custom_kernel(line):\n    while True:\n        print('x' * 10_000)\n"


@pytest.mark.parametrize("changes", [{"max_output_bytes": 1_000_000}])
@pytest.mark.parametrize("mode", [Mode.BENCHMARK, Mode.PROFILE])
async def test_endless_output_is_ended(api: Api, mode: Mode, changes: dict[str, int]) -> None:
    result = await api.run_one(job(PRINTS, mode))
    assert result.failure == Failure(kind=FailureKind.OUTPUT_LIMIT, detail="1.0 MB")


@pytest.mark.parametrize("changes", [{"job_timeout_s": 0.7}])
async def test_later_benchmarks_of_a_job_without_time_are_not_begun(
    api: Api, changes: dict[str, float]
) -> None:
    result = await api.run(job(HANG, count=2))
    kinds = [one.failure.kind for one in result.benchmarks if one.failure]
    assert kinds == [FailureKind.JOB_TIME_LIMIT] * 2
    assert [one.kernels > 0 for one in result.benchmarks] == [True, False]


@pytest.mark.parametrize("changes", [{"max_job_launches": 19}])
async def test_more_launches_than_allowed_are_refused_with_the_figures(
    api: Api, changes: dict[str, int]
) -> None:
    spec = job(count=2)
    body = msgspec.json.encode(spec)
    status, said = await api.refusal("POST", "/jobs", body)
    assert (status, said) == (422, "2 benchmarks of 10 launches are 20 and 19 are allowed")
    assert (await api.post(job(count=1)))[0] == 201


@pytest.mark.parametrize("changes", [{"busy_retry_s": 0.1}])
async def test_busy_counters_are_tried_once_more(api: Api, changes: dict[str, float]) -> None:
    spec = job(f"# standin-first: {BUSY}\n{replaying('ok-triton-1024')}")
    result = await api.run_one(spec)
    assert result.status is BenchmarkStatus.SUCCEEDED
    retries = [event for event in await api.events(spec.id) if isinstance(event, Retrying)]
    assert [(one.benchmark, one.reason) for one in retries] == [(0, FailureKind.COUNTERS_BUSY)]


@pytest.mark.parametrize("changes", [{"busy_retry_s": 0.0}])
async def test_counters_that_stay_busy_fail_after_one_retry(
    api: Api, changes: dict[str, float]
) -> None:
    spec = job(replaying(BUSY))
    result = await api.run_one(spec)
    assert result.failure is not None
    assert result.failure.kind is FailureKind.COUNTERS_BUSY
    assert sum(isinstance(event, Retrying) for event in await api.events(spec.id)) == 1


@pytest.mark.parametrize("changes", [{"busy_retry_s": 60.0}])
async def test_a_cancel_ends_the_wait_for_counters(api: Api, changes: dict[str, float]) -> None:
    spec = job(replaying(BUSY))
    await api.post(spec)
    await api.until(spec.id, Retrying)
    await asyncio.gather(api.call("DELETE", f"/jobs/{spec.id}"), api.result(spec.id))


CLAIMS = f"""
print({made.DENIED.stdout!r}, flush=True)
{GOOD}"""


async def test_a_claim_of_closed_counters_beside_counters_is_nothing(api: Api) -> None:
    result = await api.run_one(job(f"{CLAIMS}# standin: ok-triton-1024\n"))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.failure is None
