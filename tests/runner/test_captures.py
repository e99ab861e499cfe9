"""Capture modes over HTTP, on stand-ins for ncu, nsys and the census library."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from runner.app import create_app
from runner.capture import modes
from runner.census import build
from runner.census.model import Library, Missing
from runner.settings import RunnerSettings
from runner_client.captures import (
    CaptureMode,
    CaptureOptions,
    CensusFound,
    Preset,
    capture_options,
)
from runner_client.wire import BenchmarkStatus, Capturing, FailureKind, Health
from tests.runner.api import Api
from tests.standin.census import EIGH, Kernel, counting
from tests.standin.problem import GOOD, WRONG, job
from tests.standin.tools import Tools

HOT = CaptureOptions(mode=CaptureMode.HOT)
RECORDED = "standin-hot: ok-hot-four-kernels"
TEN = "standin: ok-geqrf-four-kernels"


@pytest.fixture
def settings(settings: RunnerSettings, tools: Tools) -> RunnerSettings:
    """Return settings of a runner that has nsys as well."""
    return replace(settings, nsys=str(tools.nsys))


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a census library; the submissions here write its file themselves."""
    path = tmp_path / "libncubot-census.so"
    path.touch()

    async def found(_: RunnerSettings) -> Library:
        return Library(path=path, cupti=tmp_path, cuda="13.0")

    monkeypatch.setattr(build, "library", found)


@pytest.fixture
async def counted(library: None, api: Api) -> Api:
    """Return a runner that can count."""
    return api


@pytest.fixture
async def uncounted(
    settings: RunnerSettings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Api]:
    """Return a runner whose census library cannot be built, and which has no nsys."""

    async def missing(_: RunnerSettings) -> Missing:
        return Missing("no C compiler (gcc) was found")

    monkeypatch.setattr(build, "library", missing)
    elsewhere = settings.data.with_name("uncounted")
    app = create_app(replace(settings, nsys="no-such-nsys", data=elsewhere))
    async with TestServer(app) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


async def test_hot_kernels_are_captured_and_the_census_run_judges(
    counted: Api, settings: RunnerSettings
) -> None:
    # The census run tells the evaluator, too, that it is to be profiled.
    told = GOOD.replace("line.upper()", "line.upper() if os.environ['POPCORN_NCU'] == '1' else ''")
    spec = job(counting(EIGH, RECORDED, source=told), capture=HOT)
    result = await counted.run_one(spec)
    assert result.status is BenchmarkStatus.SUCCEEDED
    # ncu ended its own run early, which leaves no verdict.
    assert result.check is not None
    assert result.check.passed
    assert result.log["check"] == "pass"
    assert result.kernels == 4
    coverage = result.coverage
    assert coverage is not None
    assert (coverage.mode, coverage.fallback) == (CaptureMode.HOT, "")
    assert coverage.share == pytest.approx(0.99, abs=0.001)
    assert coverage.census is not None
    assert coverage.census.launches == 831_561
    assert coverage.place is not None
    assert (coverage.place.fewest, coverage.place.most) == (201_283, 209_426)
    assert 1 <= coverage.place.nth < 201_283
    folder = settings.folder / "jobs" / spec.id / "artifacts"
    census = json.loads((folder / "census.0.json").read_text())
    assert census["counted"][0]["name"] == "syevbj_batch_32x16"
    manifest = json.loads((folder / "manifest.json").read_text())
    options = manifest["capture_options"]
    assert (options["mode"], options["preset"], options["section_set"]) == ("hot", "full", "full")
    assert manifest["benchmarks"][0]["coverage"]["census"]["launches"] == 831_561
    names = {file.name for file in result.artifacts}
    assert {"census.0.json", "ncu-details.0.csv"} < names


async def test_the_events_say_that_it_counts_and_what_it_found(counted: Api) -> None:
    spec = job(counting(EIGH, RECORDED), capture=HOT)
    await counted.run_one(spec)
    seen = [event for event in await counted.events(spec.id) if isinstance(event, Capturing)]
    assert (seen[0].limit, seen[0].counting) == (0, False)
    assert seen[1].counting
    assert all(event.limit == 4 for event in seen[2:])
    found = CensusFound(launches=831_561, kernels=5, chosen=4)
    assert {event.census for event in seen[2:]} == {found}


async def test_a_range_is_one_result(api: Api) -> None:
    capture = CaptureOptions(mode=CaptureMode.RANGE)
    result = await api.run_one(job(f"# {TEN}\n{GOOD}", capture=capture))
    assert (result.status, result.kernels) == (BenchmarkStatus.SUCCEEDED, 1)
    assert not result.degraded
    assert result.coverage is not None
    assert result.coverage.mode is CaptureMode.RANGE
    none = await api.run_one(job(f"# standin: fail-no-range\n{GOOD}", capture=capture))
    assert none.failure is not None
    assert none.failure.kind is FailureKind.NOTHING_IN_RANGE


async def test_a_wrong_answer_of_the_census_run_is_told(counted: Api) -> None:
    result = await counted.run_one(job(counting(EIGH, RECORDED, source=WRONG), capture=HOT))
    assert result.check is not None
    assert not result.check.passed
    assert result.kernels == 4


@pytest.mark.parametrize(
    ("kernels", "why"),
    [
        ((), modes.NOTHING_COUNTED),
        ((Kernel("worker", 5, 1_000, other_thread=True),), modes.NOTHING_COUNTED),
    ],
)
async def test_without_kernels_to_choose_it_is_the_first_ones(
    counted: Api, kernels: tuple[Kernel, ...], why: str
) -> None:
    result = await counted.run_one(job(counting(kernels, TEN), capture=HOT))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.coverage is not None
    assert (result.coverage.mode, result.coverage.fallback) == (CaptureMode.FIRST, why)


async def test_kernels_that_ncu_does_not_meet_are_captured_from_the_first_on(counted: Api) -> None:
    missed = "standin-hot: fail-kernel-filter-matches-none"
    result = await counted.run_one(job(counting(EIGH, missed, TEN), capture=HOT))
    assert result.coverage is not None
    assert (result.coverage.mode, result.coverage.fallback) == (CaptureMode.FIRST, modes.NOT_MET)
    assert result.status is BenchmarkStatus.SUCCEEDED


async def test_a_program_that_fails_when_counted_is_named_as_ever(counted: Api) -> None:
    raises = "def custom_kernel(line):\n    raise ValueError('bad shape')\n"
    result = await counted.run_one(job(counting(EIGH, source=raises), capture=HOT))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.SUBMISSION_ERROR
    assert result.failure.detail.startswith("ValueError: bad shape")


async def test_without_a_library_hot_is_first_and_says_why(uncounted: Api) -> None:
    result = await uncounted.run_one(job(f"# {TEN}\n{GOOD}", capture=HOT))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.coverage is not None
    assert result.coverage.mode is CaptureMode.FIRST
    assert result.coverage.fallback == "no C compiler (gcc) was found"
    assert result.coverage.census is None


async def test_the_first_launches_are_set_against_the_census(counted: Api) -> None:
    capture = capture_options(launch_count=10)
    result = await counted.run_one(job(counting(EIGH, TEN), capture=capture))
    coverage = result.coverage
    assert coverage is not None
    assert coverage.mode is CaptureMode.FIRST
    assert coverage.share is not None
    assert 0 < coverage.share < 0.01
    plain = await counted.run_one(job(counting(EIGH, TEN)))
    assert plain.coverage is not None
    assert plain.coverage.census is None


async def test_a_census_alone_names_kernels_by_time(counted: Api) -> None:
    capture = CaptureOptions(mode=CaptureMode.CENSUS)
    result = await counted.run_one(job(counting(EIGH), capture=capture))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.kernels == 0
    assert [file.name for file in result.artifacts] == ["census.0.json"]
    assert result.coverage is not None
    assert result.coverage.census is not None
    assert len(result.coverage.census.counted) == len(EIGH)
    empty = await counted.run_one(job(counting(()), capture=capture))
    assert empty.failure is not None
    assert empty.failure.kind is FailureKind.NOTHING_IN_RANGE


async def test_a_census_without_a_library_says_what_is_missing(uncounted: Api) -> None:
    result = await uncounted.run_one(job(capture=CaptureOptions(mode=CaptureMode.CENSUS)))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.CAPTURE_UNAVAILABLE
    assert result.failure.detail == "no C compiler (gcc) was found"


async def test_the_timed_launches_are_captured_and_nothing_is_checked(api: Api) -> None:
    capture = CaptureOptions(mode=CaptureMode.PROFILER_API, preset=Preset.QUICK)
    result = await api.run_one(job(f"# {TEN}\n{GOOD}", capture=capture))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.check is None
    none = await api.run_one(job(capture=capture))
    assert none.failure is not None
    assert none.failure.kind is FailureKind.NOTHING_IN_RANGE
    assert "cudaProfiler" in none.failure.detail


async def test_a_timeline_comes_with_its_kernels(api: Api) -> None:
    capture = CaptureOptions(mode=CaptureMode.TIMELINE)
    result = await api.run_one(job(capture=capture))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.check is None
    names = [file.name for file in result.artifacts]
    assert names == ["profile.0-size-1024-seed-31232.nsys-rep", "nsys-kernels.0.csv"]
    empty = await api.run_one(job(f"# standin-no-range\n{GOOD}", capture=capture))
    assert empty.failure is not None
    assert empty.failure.kind is FailureKind.PROFILER_ERROR


async def test_a_mode_that_is_not_offered_is_refused_at_once(uncounted: Api, api: Api) -> None:
    spec = job(capture=CaptureOptions(mode=CaptureMode.TIMELINE))
    status, body = await uncounted.post(spec)
    assert status == 400
    assert b"does not offer timeline" in body
    health: Health = await uncounted.health()
    assert CaptureMode.TIMELINE not in health.captures
    assert CaptureMode.HOT in health.captures
    assert CaptureMode.TIMELINE in (await api.health()).captures


def test_a_timeline_on_the_command_line_without_nsys_is_one_failure(
    settings: RunnerSettings,
) -> None:
    timeline = CaptureOptions(mode=CaptureMode.TIMELINE)
    assert modes.unavailable(settings, timeline) is None
    failure = modes.unavailable(replace(settings, nsys="no-such-nsys"), timeline)
    assert failure is not None
    assert failure.kind is FailureKind.CAPTURE_UNAVAILABLE
    assert "setting `nsys`" in failure.detail
