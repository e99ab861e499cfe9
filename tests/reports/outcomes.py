"""Outcomes of jobs, made by hand where no recording has them."""

import random
from pathlib import Path

from bot.jobs.model import BenchmarkOutcome, Job, JobOutcome, JobPhase
from counters.launches import Summary, summarize
from counters.model import Kernel, Metric
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    Check,
    Failure,
    FailureKind,
    JobResult,
    System,
)

SPECS = ("batch: 20; n: 32", "batch: 40; n: 64", "batch: 640; n: 512")
SYSTEM = System(gpu="NVIDIA H200", driver="580.159", ncu_version="2025.3.1.0 (build 36398880)")


def kernel(number: int, name: str = "geqrf_kernel") -> Kernel:
    """Return a kernel with a duration and nothing else."""
    duration = Metric("GPU Speed Of Light Throughput", "Duration", "ns", 1_500.0, "1.5")
    return Kernel(
        number, f"void {name}<int>()", name, (8, 1, 1), (128, 1, 1), "0", "9.0", (duration,), ()
    )


def report(count: int, name: str = "geqrf_kernel") -> Summary:
    """Return a report of `count` launches."""
    return summarize(kernel(number, name) for number in range(count))


def files(folder: Path, index: int, report_size: int = 100) -> dict[str, Path]:
    """Write the files of a benchmark; the report cannot be compressed."""
    contents = {
        f"profile.{index}-batch-20-n-32.ncu-rep": incompressible(report_size),
        f"ncu-details.{index}.csv": b"ID,Kernel Name\n",
        f"ncu-details.{index}.txt": b"details",
        f"ncu-raw.{index}.csv": b"raw",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def incompressible(size: int) -> bytes:
    """Return bytes that no zip makes smaller, the same each time."""

    return random.Random(1).randbytes(size)  # noqa: S311 - no secret


def result(index: int = 0, **changes: object) -> BenchmarkResult:
    """Return the result of a benchmark that succeeded, with `changes`."""
    values: dict[str, object] = {
        "index": index,
        "spec": SPECS[index],
        "status": BenchmarkStatus.SUCCEEDED,
        "kernels": 4,
        "check": Check(passed=True),
    }
    return BenchmarkResult(**values | changes)  # type: ignore[arg-type]


def failed(index: int, kind: FailureKind, detail: str = "", tail: str = "") -> BenchmarkOutcome:
    """Return a benchmark that left nothing."""
    failure = Failure(kind=kind, detail=detail)
    changes = {"status": BenchmarkStatus.FAILED, "failure": failure, "output_tail": tail}
    return BenchmarkOutcome(
        result=result(index, kernels=0, check=None, **changes), report=None, files={}
    )


def succeeded(folder: Path, index: int = 0, size: int = 100, **changes: object) -> BenchmarkOutcome:
    """Return a benchmark with four kernels and its files."""
    return BenchmarkOutcome(
        result=result(index, **changes), report=report(4), files=files(folder, index, size)
    )


def outcome(
    *benchmarks: BenchmarkOutcome,
    failure: Failure | None = None,
    manifest: Path | None = None,
    recorded_on: str | None = None,
    cap: int = 10,
    notes: tuple[str, ...] = (),
) -> JobOutcome:
    """Return a job that ended with these benchmarks."""
    job = Job(
        id="0" * 32,
        user_id=1,
        leaderboard="qr_v2",
        gpu="H200",
        runner="embedded",
        file_name="submission.py",
        benchmarks=tuple(Benchmark(index=b.result.index, spec=b.result.spec) for b in benchmarks),
        capture=CaptureOptions(launch_count=cap),
        phase=JobPhase.FETCHED,
        notes=notes,
    )
    ended = JobResult(
        failure=failure,
        benchmarks=tuple(b.result for b in benchmarks),
        system=SYSTEM,
        manifest=None,
        recorded_on=recorded_on,
    )
    return JobOutcome(job=job, result=ended, benchmarks=benchmarks, manifest=manifest)
