"""Capture modes of real kernels, through the local engine; never in CI.

About two minutes on an H200.
"""

import json
import uuid
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.jobs.spec import all_benchmarks, build_spec
from bot.leaderboards.task import load_task
from cli.profile_job import run_jobs
from cli.runner_settings import runner_settings
from runner.capture.modes import offered
from runner.jobs.store import Store
from runner_client.captures import CaptureMode, CaptureOptions, Preset
from runner_client.wire import BenchmarkResult, BenchmarkStatus

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(240)]
PROBLEMS = Path(__file__).resolve().parents[2] / "problems"


async def captured(tmp_path: Path, capture: CaptureOptions, index: int = 0) -> BenchmarkResult:
    """Profile qr_v2's template."""
    directory = PROBLEMS / "linalg" / "qr_v2"
    task = load_task(directory, PROBLEMS)
    spec = build_spec(
        id=uuid.uuid4().hex,
        requester="gpu-test",
        leaderboard="qr_v2",
        commit=None,
        gpu="local",
        task=task,
        submission=(directory / "template.py").read_text(encoding="utf-8"),
        benchmarks=(all_benchmarks(task)[index],),
        capture=capture,
    )
    settings = replace(runner_settings(None, {"data": tmp_path}), self_test=False)
    [result] = await run_jobs([spec], settings, Store(settings.folder))
    assert result.failure is None
    [benchmark] = result.benchmarks
    print(json.dumps([capture.mode, str(benchmark.failure), benchmark.output_tail[-300:]]))
    return benchmark


async def test_hot_kernels_hold_the_time_and_the_verdict_is_there(tmp_path: Path) -> None:
    result = await captured(tmp_path, CaptureOptions(mode=CaptureMode.HOT, preset=Preset.QUICK), 2)
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.check is not None
    assert result.check.passed
    assert result.coverage is not None
    assert (result.coverage.mode, result.coverage.fallback) == (CaptureMode.HOT, "")
    assert result.coverage.share is not None
    assert result.coverage.share >= 0.95


async def test_the_first_launches_know_their_share(tmp_path: Path) -> None:
    capture = CaptureOptions(launch_count=2, preset=Preset.QUICK, census=True)
    result = await captured(tmp_path, capture)
    assert result.kernels == 2
    assert result.coverage is not None
    assert result.coverage.share is not None
    assert result.coverage.census is not None
    assert result.coverage.census.launches >= 2


async def test_the_range_is_one_result(tmp_path: Path) -> None:
    capture = CaptureOptions(mode=CaptureMode.RANGE, preset=Preset.QUICK)
    result = await captured(tmp_path, capture)
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.kernels == 1


async def test_the_timed_launches_alone_are_recorded(tmp_path: Path) -> None:
    capture = CaptureOptions(mode=CaptureMode.PROFILER_API, preset=Preset.QUICK, launch_count=8)
    result = await captured(tmp_path, capture)
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.check is None
    csv = next(iter((tmp_path / "jobs").rglob("ncu-details.0.csv"))).read_text(encoding="utf-8")
    assert "geqr" in csv.casefold()
    # The flush of L2 and the clone of the input stand before the range.
    assert "FillFunctor" not in csv


async def test_a_census_names_kernels_without_counters(tmp_path: Path) -> None:
    result = await captured(tmp_path, CaptureOptions(mode=CaptureMode.CENSUS))
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.coverage is not None
    assert result.coverage.census is not None
    assert result.coverage.census.total_ns > 0


async def test_a_timeline_where_nsys_is_there(tmp_path: Path) -> None:
    settings = runner_settings(None, {"data": tmp_path})
    if CaptureMode.TIMELINE not in offered(settings, census=True):
        pytest.skip("no nsys here")
    result = await captured(tmp_path, CaptureOptions(mode=CaptureMode.TIMELINE))
    assert result.status is BenchmarkStatus.SUCCEEDED
