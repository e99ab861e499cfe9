"""From what a benchmark left to its BenchmarkResult; the same for every engine."""

from dataclasses import dataclass, field
from pathlib import Path

from counters.columns import REGISTERS, make_table
from counters.errors import NoTable
from counters.model import KernelReport
from counters.parse import read_report
from runner.capture.artifacts import measure
from runner.capture.classify import check_of, why_empty, why_ended, why_failed, why_stopped
from runner.capture.device import device_name, wrong_gpu
from runner.engine import Evidence, Exports
from runner.text import one_line
from runner_client.wire import (
    Artifact,
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    Failure,
    FailureKind,
    JobSpec,
    Mode,
)

TAIL = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A report that was taken out of the submission's reach, and what was made of it.

    `report` is None where ncu left none; `refused` says why one that was there was not taken.
    """

    report: Artifact | None = None
    refused: Failure | None = None
    exports: Exports = field(default_factory=Exports)
    kernels: KernelReport | None = None


def read_kernels(details_csv: Path | None) -> KernelReport | None:
    """Parse an exported CSV; None where there is no table in it. Blocking and CPU-bound."""
    if details_csv is None:
        return None
    try:
        return read_report(details_csv)
    except NoTable:
        return None


def result_of(
    spec: JobSpec, benchmark: Benchmark, evidence: Evidence, captured: Captured
) -> BenchmarkResult:
    """Judge one benchmark. Blocking: hashes the exports."""
    status, failure = _verdict(spec, evidence, captured)
    kernels = captured.kernels
    return BenchmarkResult(
        index=benchmark.index,
        spec=benchmark.spec,
        status=status,
        failure=failure,
        kernels=len(kernels.kernels) if kernels else 0,
        degraded=kernels.degraded if kernels and kernels.kernels else False,
        missing_share=kernels.missing_share if kernels and kernels.kernels else 0.0,
        check=check_of(evidence),
        log=evidence.log,
        output_tail=_output_tail(evidence),
        duration_s=evidence.duration_s,
        artifacts=_artifacts(captured),
    )


def never_run(benchmark: Benchmark, failure: Failure) -> BenchmarkResult:
    """Return the result of a benchmark that was not begun."""
    return BenchmarkResult(
        index=benchmark.index,
        spec=benchmark.spec,
        status=BenchmarkStatus.FAILED,
        failure=failure,
    )


def has_values(report: KernelReport | None) -> bool:
    """Return whether a kernel has a finite value that was measured, not only configured."""
    if report is None:
        return False
    return any(
        metric is not None and metric.value is not None and not REGISTERS.holds(metric)
        for row in make_table(report.kernels).rows
        for metric in row.cells
    )


def _verdict(
    spec: JobSpec, evidence: Evidence, captured: Captured
) -> tuple[BenchmarkStatus, Failure | None]:
    if evidence.failure is not None:
        return BenchmarkStatus.FAILED, evidence.failure
    submission = spec.submission.name
    if spec.mode is not Mode.PROFILE:
        failure = why_failed(evidence, submission, spec.mode)
        return (BenchmarkStatus.FAILED if failure else BenchmarkStatus.SUCCEEDED), failure
    if has_values(captured.kernels):
        wrong = wrong_gpu(spec.gpu, device_name(captured.exports.raw_csv))
        if wrong is not None:
            return BenchmarkStatus.FAILED, wrong
        failure = why_stopped(evidence) or why_ended(evidence, submission)
        return (BenchmarkStatus.PARTIAL if failure else BenchmarkStatus.SUCCEEDED), failure
    return BenchmarkStatus.FAILED, _no_values(spec, evidence, captured)


def _no_values(spec: JobSpec, evidence: Evidence, captured: Captured) -> Failure:
    if captured.refused is not None:
        return captured.refused
    if captured.report is None or evidence.stopped is not None:
        return why_empty(evidence, spec.submission.name, spec.capture)
    if captured.exports.details_csv is None:
        return Failure(kind=FailureKind.EXPORT_FAILED, detail=one_line(captured.exports.problem))
    if captured.kernels is None or not captured.kernels.kernels:
        detail = "the export of the report names no kernel"
        return Failure(kind=FailureKind.EXPORT_FAILED, detail=detail)
    detail = "the report names kernels, but not one counter has a value"
    return Failure(kind=FailureKind.PROFILER_ERROR, detail=detail)


def _artifacts(captured: Captured) -> tuple[Artifact, ...]:
    made = captured.exports
    paths = (made.details_csv, made.details_txt, made.raw_csv)
    exports = tuple(measure(path) for path in paths if path is not None)
    return exports if captured.report is None else (captured.report, *exports)


def _output_tail(evidence: Evidence) -> str:
    parts = (stream.strip()[-TAIL:] for stream in (evidence.stdout, evidence.stderr))
    return "\n".join(part for part in parts if part)
