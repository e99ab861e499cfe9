"""manifest.json: what was measured, where, how. Written when all programs are dead."""

from dataclasses import asdict
from pathlib import Path

import msgspec
from msgspec import Struct

from runner.capture import command
from runner.capture.artifacts import measure
from runner.isolation.limits import Limits
from runner.jobs.files import write_atomic
from runner_client.captures import CaptureOptions, Coverage
from runner_client.wire import Artifact, BenchmarkResult, Check, Failure, JobSpec, System

NAME = "manifest.json"


class ManifestCapture(Struct, frozen=True, kw_only=True):
    """The options of every capture; times under ncu are not the leaderboard's."""

    kernel_name: str | None
    kernel_name_base: str | None
    launch_count: int
    mode: str
    preset: str
    section_set: str
    replay_mode: str
    cache_control: str = command.CACHE_CONTROL
    clock_control: str = command.CLOCK_CONTROL


class ManifestLimits(Struct, frozen=True, kw_only=True):
    """The runner's limits: seconds, bytes, launches; all but the replay factor for a whole job."""

    replay_factor: float
    job_s: float
    launches: int
    report_bytes: int
    job_bytes: int
    free_bytes: int


class ManifestBenchmark(Struct, frozen=True, kw_only=True):
    """One benchmark's outcome."""

    index: int
    spec: str
    status: str
    failure: Failure | None
    kernels: int
    degraded: bool
    missing_share: float
    check: Check | None
    duration_s: float
    artifacts: tuple[Artifact, ...]
    coverage: Coverage | None = None


class Manifest(Struct, frozen=True, kw_only=True):
    """The whole file; `benchmark_specs` maps the selected indices to their lines."""

    job: str
    leaderboard: str
    problem_commit: str | None
    mode: str
    gpu: str
    system: System
    driver: str
    ncu_version: str
    recorded_on: str | None
    benchmark_specs: dict[str, str]
    capture_options: ManifestCapture
    limits: ManifestLimits
    config_sha256: str
    submission_sha256: str
    benchmarks: tuple[ManifestBenchmark, ...]


def manifest_of(
    spec: JobSpec,
    system: System,
    results: tuple[BenchmarkResult, ...],
    recorded_on: str | None,
    limits: Limits,
) -> Manifest:
    """Put the manifest of a job together."""
    return Manifest(
        job=spec.id,
        leaderboard=spec.leaderboard,
        problem_commit=spec.problem_commit,
        mode=spec.mode.value,
        gpu=spec.gpu,
        system=system,
        driver=system.driver,
        ncu_version=system.ncu_version,
        recorded_on=recorded_on,
        benchmark_specs={str(one.index): one.spec for one in spec.benchmarks},
        capture_options=_capture(spec.capture),
        limits=ManifestLimits(**asdict(limits)),
        config_sha256=spec.config_sha256,
        submission_sha256=spec.submission_sha256,
        benchmarks=tuple(_benchmark(result) for result in results),
    )


def write_manifest(manifest: Manifest, folder: Path) -> Artifact:
    """Write manifest.json into `folder` and measure it. Blocking."""
    path = folder / NAME
    write_atomic(path, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return measure(path)


def _capture(capture: CaptureOptions) -> ManifestCapture:
    base = capture.kernel_name_base
    return ManifestCapture(
        kernel_name=capture.kernel_name,
        kernel_name_base=base.value if base is not None else None,
        launch_count=capture.launch_count,
        mode=capture.mode.value,
        preset=capture.preset.value,
        section_set=command.SETS[capture.preset],
        replay_mode=command.replay_mode(capture.mode),
    )


def _benchmark(result: BenchmarkResult) -> ManifestBenchmark:
    return ManifestBenchmark(
        index=result.index,
        spec=result.spec,
        status=result.status.value,
        failure=result.failure,
        kernels=result.kernels,
        degraded=result.degraded,
        missing_share=result.missing_share,
        check=result.check,
        duration_s=result.duration_s,
        artifacts=result.artifacts,
        coverage=result.coverage,
    )
