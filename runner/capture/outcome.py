"""From what a benchmark left to its BenchmarkResult; the same for every engine."""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from counters.columns import COLUMNS, REGISTERS
from counters.errors import NoTable
from counters.launches import Summary
from counters.parse import read_summary
from runner.capture.artifacts import measure
from runner.capture.classify import check_of, why_empty, why_ended, why_failed, why_stopped
from runner.capture.coverage import coverage_of
from runner.capture.device import device_name, wrong_gpu
from runner.engine import Evidence, Exports
from runner.text import one_line
from runner_client.captures import TIMED, WITHOUT_COUNTERS, CaptureMode
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

    `report` is None where the profiler left none; `refused` says why one that was there was not
    taken. `census` is the file of what was counted.
    """

    report: Artifact | None = None
    refused: Failure | None = None
    exports: Exports = field(default_factory=Exports)
    kernels: Summary | None = None
    census: Artifact | None = None


def read_kernels(details_csv: Path | None) -> Summary | None:
    """Sum up an exported CSV; None where there is no table in it. Blocking and CPU-bound."""
    if details_csv is None:
        return None
    try:
        return read_summary(details_csv)
    except NoTable:
        return None


def result_of(
    spec: JobSpec, benchmark: Benchmark, evidence: Evidence, captured: Captured
) -> BenchmarkResult:
    """Judge one benchmark. Blocking: hashes the exports."""
    status, failure = _verdict(spec, evidence, captured)
    kernels, program = captured.kernels, evidence.of_program
    return BenchmarkResult(
        index=benchmark.index,
        spec=benchmark.spec,
        status=status,
        failure=failure,
        kernels=kernels.launches if kernels else 0,
        degraded=kernels.coverage.degraded if kernels and kernels.launches else False,
        missing_share=kernels.coverage.missing_share if kernels and kernels.launches else 0.0,
        check=None if evidence.mode in TIMED else check_of(program),
        log=program.log,
        output_tail=_output_tail(evidence if failure and evidence.judged else program),
        duration_s=evidence.duration_s,
        artifacts=_artifacts(captured),
        coverage=coverage_of(evidence, kernels),
    )


def never_run(benchmark: Benchmark, failure: Failure) -> BenchmarkResult:
    """Return the result of a benchmark that was not begun."""
    return BenchmarkResult(
        index=benchmark.index,
        spec=benchmark.spec,
        status=BenchmarkStatus.FAILED,
        failure=failure,
    )


def has_values(summary: Summary | None) -> bool:
    """Return whether a kernel has a finite value that was measured, not only configured."""
    if summary is None:
        return False
    lacking = zip(COLUMNS, summary.coverage.lacking, strict=True)
    return any(
        launches < summary.launches for column, launches in lacking if column is not REGISTERS
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
    if evidence.mode in WITHOUT_COUNTERS:
        failure = why_stopped(evidence) or why_ended(evidence, submission)
        return _without_counters(evidence, captured, failure)
    if has_values(captured.kernels):
        wrong = wrong_gpu(spec.gpu, device_name(captured.exports.raw_csv))
        if wrong is not None:
            return BenchmarkStatus.FAILED, wrong
        failure = why_stopped(evidence) or why_ended(evidence.of_program, submission)
        return (BenchmarkStatus.PARTIAL if failure else BenchmarkStatus.SUCCEEDED), failure
    return BenchmarkStatus.FAILED, _no_values(spec, evidence, captured)


def _without_counters(
    evidence: Evidence, captured: Captured, failure: Failure | None
) -> tuple[BenchmarkStatus, Failure | None]:
    """Judge a census or a timeline, which succeeds where it names a kernel."""
    counted = evidence.census is not None and evidence.census.launches > 0
    if counted or _names_kernel(captured.exports.kernels_csv):
        return (BenchmarkStatus.PARTIAL if failure else BenchmarkStatus.SUCCEEDED), failure
    if failure is not None or captured.refused is not None:
        return BenchmarkStatus.FAILED, failure or captured.refused
    if evidence.mode is CaptureMode.CENSUS:
        return BenchmarkStatus.FAILED, Failure(kind=FailureKind.NOTHING_IN_RANGE)
    detail = captured.exports.problem or "the timeline holds no kernel in a cudaProfiler range"
    return BenchmarkStatus.FAILED, Failure(kind=FailureKind.PROFILER_ERROR, detail=detail)


def _names_kernel(kernels_csv: Path | None) -> bool:
    """Return whether a timeline's summary has a line after its header."""
    if kernels_csv is None:
        return False
    with kernels_csv.open(encoding="utf-8", errors="replace") as file:
        lines = [line for line in islice(file, 1_000) if line.strip()]
    header = next((at for at, line in enumerate(lines) if line.startswith("Time (%)")), None)
    return header is not None and header + 1 < len(lines)


def _no_values(spec: JobSpec, evidence: Evidence, captured: Captured) -> Failure:
    if captured.refused is not None:
        return captured.refused
    if captured.report is None or evidence.stopped is not None:
        return why_empty(evidence, spec.submission.name, spec.capture)
    if captured.exports.details_csv is None:
        return Failure(kind=FailureKind.EXPORT_FAILED, detail=one_line(captured.exports.problem))
    if captured.kernels is None or not captured.kernels.launches:
        detail = "the export of the report names no kernel"
        return Failure(kind=FailureKind.EXPORT_FAILED, detail=detail)
    detail = "the report names kernels, but not one counter has a value"
    return Failure(kind=FailureKind.PROFILER_ERROR, detail=detail)


def _artifacts(captured: Captured) -> tuple[Artifact, ...]:
    made = captured.exports
    paths = (made.details_csv, made.details_txt, made.raw_csv, made.kernels_csv)
    exports = tuple(measure(path) for path in paths if path is not None)
    taken = (captured.report, captured.census)
    return (*(file for file in taken if file is not None), *exports)


def _output_tail(evidence: Evidence) -> str:
    parts = (stream.strip()[-TAIL:] for stream in (evidence.stdout, evidence.stderr))
    return "\n".join(part for part in parts if part)
