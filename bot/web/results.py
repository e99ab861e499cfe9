"""A job's outcome as the client's one result, its traces left open for what is streamed."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from bot.jobs.model import BenchmarkOutcome, JobOutcome
from bot.reports.table import render_table
from bot.web.payloads import Answer, FullResult, Ran, Run, Trace, ZipFile, as_json
from bot.web.zips import wanted
from bot.wording import failure_sentence
from runner_client.captures import CaptureOptions
from runner_client.wire import BenchmarkResult, BenchmarkStatus, FailureKind

WRONG = "the evaluator said that the output is wrong"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the answer: text, then the zip of `files` in base64, if there are any."""

    text: str
    files: dict[str, Path]


def answer_pieces(outcome: JobOutcome, now: datetime) -> tuple[Piece, ...]:
    """Return the answer cut where the traces go. Blocks on the CPU: call it in a thread."""
    marks = {entry.result.index: secrets.token_hex(16) for entry in outcome.benchmarks}
    text = as_json(_answer(outcome, marks, now))
    pieces = []
    for entry in outcome.benchmarks:
        files = trace_files(entry)
        if files:
            before, _, text = text.partition(marks[entry.result.index])
            pieces.append(Piece(before, files))
    return (*pieces, Piece(text, {}))


def trace_files(entry: BenchmarkOutcome) -> dict[str, Path]:
    """Return what goes into the zip of a benchmark; nothing where there is no report."""
    names = wanted(entry.files)
    if not any(name.endswith(".ncu-rep") for name in names):
        return {}
    return {name: entry.files[name] for name in names}


def zip_files(outcome: JobOutcome) -> Iterator[tuple[str, dict[str, Path]]]:
    """Return the zips of a job by their names, one a benchmark that has a report."""
    for entry in outcome.benchmarks:
        files = trace_files(entry)
        report = next((name for name in files if name.endswith(".ncu-rep")), None)
        if report is not None:
            yield f"{report.removesuffix('.ncu-rep')}.zip", files


def downloads(outcome: JobOutcome) -> tuple[ZipFile, ...]:
    """Return the zips as the client fetches them."""
    return tuple(
        ZipFile(name=name, url=f"/jobs/{outcome.job.id}/artifacts/{name}")
        for name, _ in zip_files(outcome)
    )


def failures(outcome: JobOutcome) -> tuple[str, ...]:
    """Say in sentences what gave no counters, and which output was wrong."""
    said = [failure_sentence(outcome.result.failure)] if outcome.result.failure else []
    for entry in outcome.benchmarks:
        said += [f"benchmark {entry.result.index}: {words}" for words in _faults(entry.result)]
    return tuple(said)


def job_status(outcome: JobOutcome) -> str:
    """Word how a job ended as the client knows it."""
    if any(trace_files(entry) for entry in outcome.benchmarks):
        return "succeeded"
    kinds = {entry.result.failure.kind for entry in outcome.benchmarks if entry.result.failure}
    return "timed_out" if kinds == {FailureKind.TIME_LIMIT} else "failed"


def _faults(result: BenchmarkResult) -> Iterator[str]:
    if result.failure is not None:
        yield failure_sentence(result.failure)
    if result.check is not None and not result.check.passed:
        yield f"{WRONG}{f' ({result.check.message})' if result.check.message else ''}"


def _answer(outcome: JobOutcome, marks: dict[int, str], now: datetime) -> Answer:
    failure = outcome.result.failure
    full = FullResult(
        success=bool(outcome.benchmarks),
        error=failure_sentence(failure) if failure else "",
        system=outcome.result.system,
        runs={
            f"profile.{entry.result.index}": _run(entry, marks[entry.result.index], now)
            for entry in outcome.benchmarks
        },
        profile_metadata=_metadata(outcome),
    )
    # The screen shows the list's own quotes and commas: one text reads best.
    return Answer(results=(full,), reports=("\n\n".join(map(_report, outcome.benchmarks)),))


def _run(entry: BenchmarkOutcome, mark: str, now: datetime) -> Run:
    result = entry.result
    faults = " ".join(_faults(result))
    has_trace = bool(trace_files(entry))
    ran = Ran(
        success=has_trace and result.status is not BenchmarkStatus.FAILED,
        passed=result.check is not None and result.check.passed,
        stdout=result.output_tail,
        stderr=faults,
        duration=result.duration_s,
        result=result.log | {"benchmark.0.spec": result.spec},
    )
    return Run(
        start=_local(now - timedelta(seconds=result.duration_s)),
        end=_local(now),
        run=ran,
        profile=Trace(trace=mark) if has_trace else None,
    )


def _local(moment: datetime) -> str:
    return moment.astimezone().replace(tzinfo=None).isoformat()


def _metadata(outcome: JobOutcome) -> dict[str, Any]:
    """Return what the client copies into its manifest: the options, shapes and hashes."""
    kept: dict[str, Any] = {
        "job_id": outcome.job.id,
        "capture_options": _given(outcome.job.capture),
        "benchmark_specs": {str(one.index): one.spec for one in outcome.job.benchmarks},
    }
    if outcome.manifest is not None:
        kept["manifest"] = json.loads(outcome.manifest.read_bytes())
        kept["config_sha256"] = kept["manifest"].get("config_sha256")
    return kept


def _given(capture: CaptureOptions) -> dict[str, Any]:
    options: dict[str, Any] = msgspec.to_builtins(capture)
    return {name: value for name, value in options.items() if value is not None}


def _report(entry: BenchmarkOutcome) -> str:
    head = f"benchmark {entry.result.index}: {entry.result.spec}"
    table = [render_table(entry.report)] if entry.report is not None else []
    return "\n".join([head, *table, *_faults(entry.result)])
