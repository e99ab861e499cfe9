"""Real captures on a real GPU through a real runner process; never in CI.

NCUBOT_GPU_TABLE names a file that gets one JSON line a capture.
"""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from bot.jobs.spec import all_benchmarks, build_spec
from bot.leaderboards.task import load_task
from counters.model import KernelReport
from counters.parse import read_report
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    BenchmarkResult,
    BenchmarkStatus,
    FailureKind,
    JobResult,
    JobSpec,
    Mode,
)
from tests.runner.api import Api

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(540),
]
PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
PROGRAM = (sys.executable, "-c", "from cli.main import main; main()", "runner")
TOKEN = "only-for-this-test"


@dataclass(frozen=True, slots=True)
class Case:
    """A sample submission, the shapes to capture, and the kernel that must be among them."""

    name: str
    directory: str
    submission: str
    indices: tuple[int, ...]
    kernel: str = ""


QR = Case("qr_v2", "linalg/qr_v2", "starter.py", (0, 1), "householder_panel_kernel")
EIGH = Case("eigh", "linalg/eigh_py", "starter.py", (0,), "jacobi_eigh_kernel")
SHARED = Case("vectoradd", "nvidia/vectoradd", "starter.py", (0, 1), "vector_add")
CUDA = Case("saxpy_cuda", "nvidia/saxpy_cuda", "starter.cu", (0, 1), "saxpy")
CASES = (QR, EIGH, SHARED, CUDA)


def spec_of(case: Case, gpu: str, mode: Mode, **capture: object) -> JobSpec:
    """Build the job from the problem's own files."""
    directory = PROBLEMS / case.directory
    task = load_task(directory, PROBLEMS)
    every = all_benchmarks(task, mode)
    chosen = tuple(every[index] for index in case.indices) if mode is Mode.PROFILE else every[:2]
    return build_spec(
        id=uuid.uuid4().hex,
        requester="gpu-test",
        leaderboard=case.name,
        commit=None,
        gpu=gpu,
        task=task,
        submission=(directory / "submissions" / case.submission).read_text(encoding="utf-8"),
        benchmarks=chosen,
        capture=CaptureOptions(**capture),  # type: ignore[arg-type]
        mode=mode,
    )


@asynccontextmanager
async def real_runner(data: Path) -> AsyncIterator[Api]:
    """Start `ncubot runner` with its own defaults."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *("--port", "0", "--data", str(data)),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"NCUBOT_RUNNER_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().split()[-1]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with ClientSession(headers=headers) as session:
            yield Api(session, url + "/v1")
    finally:
        process.terminate()
        await process.wait()


async def run(api: Api, case: Case, mode: Mode, **capture: object) -> tuple[JobSpec, JobResult]:
    """Run a job of a case on whatever GPU the runner has."""
    gpu = (await api.health()).gpu
    spec = await asyncio.to_thread(spec_of, case, gpu, mode, **capture)
    return spec, await api.run(spec)


async def fetch(api: Api, spec: JobSpec, name: str, folder: Path) -> Path:
    """Download an artifact."""
    _, body = await api.call("GET", f"/jobs/{spec.id}/artifacts/{name}")
    path = folder / name
    await asyncio.to_thread(path.write_bytes, body)
    return path


async def opens_again(report: Path) -> bool:
    """Return whether ncu can read the report."""
    process = await asyncio.create_subprocess_exec(
        "ncu", "--import", str(report), "--page", "raw", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return process.returncode == 0 and b"gpu__time_duration" in out


def note(case: Case, result: BenchmarkResult, report: KernelReport, size: int) -> None:
    """Add a line to the table that NCUBOT_GPU_TABLE names."""
    target = os.environ.get("NCUBOT_GPU_TABLE")
    if not target:
        return
    row = {
        "name": case.name,
        "index": result.index,
        "spec": result.spec,
        "kernels": [kernel.short_name for kernel in report.kernels],
        "seconds": round(result.duration_s, 1),
        "report_bytes": size,
        "missing_share": result.missing_share,
        "check": result.check.passed if result.check else None,
    }
    with Path(target).open("a", encoding="utf-8") as table:
        table.write(json.dumps(row) + "\n")


async def examine(
    api: Api, case: Case, spec: JobSpec, result: BenchmarkResult, folder: Path
) -> KernelReport:
    """Check one capture: counters, the kernel's name, a report that opens again."""
    assert result.status is BenchmarkStatus.SUCCEEDED, result
    assert not result.degraded
    assert result.check is not None
    assert result.check.passed
    files = {file.name.split(".")[0]: file for file in result.artifacts}
    rep = await fetch(api, spec, files["profile"].name, folder)
    assert await opens_again(rep)
    csv = await fetch(api, spec, f"ncu-details.{result.index}.csv", folder)
    report = await asyncio.to_thread(read_report, csv)
    assert len(report.kernels) == result.kernels > 0
    assert any(case.kernel in kernel.name for kernel in report.kernels)
    await asyncio.to_thread(note, case, result, report, files["profile"].size)
    return report


def launches(report: KernelReport) -> list[object]:
    """Return what tells two shapes apart."""
    durations = [m.value for k in report.kernels for m in k.metrics if m.name == "Duration"]
    return [[(k.grid, k.block) for k in report.kernels], durations]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_problem_is_capable(case: Case, tmp_path: Path) -> None:
    async with real_runner(tmp_path / "data") as api:
        spec, result = await run(api, case, Mode.PROFILE)
        assert result.failure is None, result.failure
        reports = [await examine(api, case, spec, one, tmp_path) for one in result.benchmarks]
        assert len({str(launches(report)) for report in reports}) == len(case.indices)
        manifest = await fetch(api, spec, "manifest.json", tmp_path)
        assert b'"ncu_version": "20' in await asyncio.to_thread(manifest.read_bytes)
        for mode in (Mode.TEST, Mode.BENCHMARK):
            _, result = await run(api, case, mode)
            assert result.failure is None, result.failure
            assert all(one.failure is None for one in result.benchmarks), result.benchmarks
            assert all(one.check is not None and one.check.passed for one in result.benchmarks)


async def test_failures_have_their_names(tmp_path: Path) -> None:
    expected = {
        "raises.py": FailureKind.SUBMISSION_ERROR,
        "thread.py": FailureKind.NOTHING_IN_RANGE,
    }
    async with real_runner(tmp_path / "data") as api:
        for submission, kind in expected.items():
            case = Case("qr_v2", "linalg/qr_v2", submission, (0,))
            _, result = await run(api, case, Mode.PROFILE)
            failure = result.benchmarks[0].failure
            assert failure is not None
            assert failure.kind is kind
        _, result = await run(api, QR, Mode.PROFILE, kernel_name="regex:doesnotexist")
        failure = result.benchmarks[0].failure
        assert failure is not None
        assert failure.kind is FailureKind.FILTER_MATCHED_NONE
        assert failure.detail


async def test_a_wrong_answer_is_delivered(tmp_path: Path) -> None:
    async with real_runner(tmp_path / "data") as api:
        _, result = await run(api, Case("qr_v2", "linalg/qr_v2", "wrong.py", (0,)), Mode.PROFILE)
    (benchmark,) = result.benchmarks
    assert benchmark.status is BenchmarkStatus.SUCCEEDED
    assert benchmark.check is not None
    assert not benchmark.check.passed
