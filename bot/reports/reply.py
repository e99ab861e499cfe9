"""What a user is told about a job that ended: one message a benchmark, as plain values.

Texts are ready for Discord: neutralised, within its limits. Files are packed for its upload limit.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from bot.jobs.model import BenchmarkOutcome, Job, JobOutcome
from bot.reports.coverage import captured_words, census_table, coverage_lines
from bot.reports.message import (
    DESCRIPTION_LIMIT,
    TABLE_LIMIT,
    TITLE_LIMIT,
    Fact,
    ReplyMessage,
    Tone,
    left_on_disk,
)
from bot.reports.neutral import block, clip, closed, code, inline
from bot.reports.parts import in_parts
from bot.reports.picker import Picker, picker_of, table_text
from bot.reports.uploads import Packed, pack
from bot.wording import failure_sentence
from runner_client.captures import TIMED, CaptureMode
from runner_client.wire import BenchmarkResult, BenchmarkStatus, Failure, FailureKind, System

TAIL_LIMIT = 900
SENTENCE_LIMIT = 1_500

_MORE = re.compile(r"^(census\.\d{1,4}\.json|nsys-kernels\.\d{1,4}\.csv)$")
_DETAILS = re.compile(r"^ncu-details\.\d{1,4}\.(csv|txt)$")
_SUFFIXES = (".ncu-rep", ".nsys-rep", ".csv", ".txt", ".json")
# The program's own last lines help where the program or its evaluator failed.
_TAIL_KINDS = {
    FailureKind.SUBMISSION_ERROR,
    FailureKind.PROGRAM_DIED,
    FailureKind.COMPILE_ERROR,
    FailureKind.EVALUATOR_ERROR,
    FailureKind.PROFILER_ERROR,
}


def compose(outcome: JobOutcome, upload_limit: int) -> tuple[ReplyMessage, ...]:
    """Return the messages of a job, in order; the manifest goes with the first.

    `upload_limit` is in bytes a file. Blocks on the disk and the CPU: call it in a thread.
    """
    messages = [*_lead(outcome), *_benchmarks(outcome, upload_limit)]
    if outcome.manifest is not None:
        packed = pack([("manifest.json", outcome.manifest)], upload_limit)
        messages[0] = replace(messages[0], files=(*messages[0].files, *packed.uploads))
    if outcome.job.notes:
        notes = "\n".join(inline(note) for note in outcome.job.notes[:3])
        messages[0] = _with_lines(messages[0], notes)
    return in_parts(messages)


def _with_lines(message: ReplyMessage, lines: str) -> ReplyMessage:
    room = DESCRIPTION_LIMIT - len(lines) - 1
    return replace(message, description=f"{lines}\n{closed(message.description, room)}")


def _lead(outcome: JobOutcome) -> Iterator[ReplyMessage]:
    failure = outcome.result.failure
    if failure is None and outcome.benchmarks:
        return
    failure = failure or Failure(kind=FailureKind.RUNNER_ERROR, detail="no benchmark in the result")
    ending, tone = _ending(failure)
    title = f"{outcome.job.leaderboard} on {outcome.job.gpu}: {ending}"
    yield ReplyMessage(
        title=clip(title, TITLE_LIMIT),
        tone=tone,
        description=_paragraphs(_recorded(outcome), _sentence(failure)),
    )


def _ending(failure: Failure) -> tuple[str, Tone]:
    if failure.kind is FailureKind.CANCELLED:
        return "cancelled", Tone.WARNING
    return "no counters", Tone.BAD


def _benchmarks(outcome: JobOutcome, limit: int) -> Iterator[ReplyMessage]:
    shown = [b for b in outcome.benchmarks if outcome.result.failure is None or b.files]
    for failure, group in groupby(shown, key=_bare_failure):
        if failure is None:
            yield from (_benchmark(outcome, benchmark, limit) for benchmark in group)
        else:
            yield _failed_together(outcome, failure, list(group))


def _bare_failure(benchmark: BenchmarkOutcome) -> Failure | None:
    """Return the failure of a benchmark that left nothing to show."""
    failure = benchmark.result.failure
    if benchmark.report is not None or benchmark.files or failure is None:
        return None
    # Where each one stood when the author cancelled is no news to them.
    return Failure(kind=failure.kind) if failure.kind is FailureKind.CANCELLED else failure


def _failed_together(
    outcome: JobOutcome, failure: Failure, group: list[BenchmarkOutcome]
) -> ReplyMessage:
    """Word one failure once for all neighbouring benchmarks that share it."""
    results = [benchmark.result for benchmark in group]
    label = "benchmark" if len(group) == 1 else "benchmarks"
    indices = ", ".join(str(result.index) for result in results)
    ending, tone = _ending(failure)
    return ReplyMessage(
        title=clip(f"{outcome.job.leaderboard} · {label} {indices}: {ending}", TITLE_LIMIT),
        tone=tone,
        description=_paragraphs(
            _recorded(outcome), _sentence(failure), _tail(failure, results[0].output_tail)
        ),
        facts=(Fact("GPU", code(outcome.job.gpu)), _shapes(results)),
    )


def _shapes(results: list[BenchmarkResult]) -> Fact:
    if len(results) == 1:
        return Fact("Shape", code(results[0].spec), wide=True)
    lines = "\n".join(f"{result.index} · {result.spec}" for result in results)
    return Fact("Shapes", block(lines, 1_000), wide=True)


def _benchmark(outcome: JobOutcome, benchmark: BenchmarkOutcome, limit: int) -> ReplyMessage:
    result = benchmark.result
    several = len(outcome.job.benchmarks) > 1
    packed = pack(attached(benchmark.files, several=several), limit)
    return ReplyMessage(
        title=clip(f"{outcome.job.leaderboard} · benchmark {result.index}", TITLE_LIMIT),
        tone=_tone(benchmark),
        table=_table(benchmark),
        description=_description(outcome, benchmark, packed),
        facts=_facts(outcome, benchmark),
        footer=_viewer_hint(outcome.result.system, packed),
        files=packed.uploads,
        kept=packed.kept,
        picker=_picker(outcome.job, benchmark),
    )


def attached(files: dict[str, Path], *, several: bool) -> list[tuple[str, Path]]:
    """Return what users get, the report first.

    Of one benchmark under the names that they know, of several under names that differ.
    """
    wanted = [
        (name if several else _DETAILS.sub(r"ncu-details.\1", name), path)
        for name, path in files.items()
        if name.endswith((".ncu-rep", ".nsys-rep")) or _DETAILS.match(name) or _MORE.match(name)
    ]
    return sorted(wanted, key=lambda item: _SUFFIXES.index(Path(item[0]).suffix))


def _tone(benchmark: BenchmarkOutcome) -> Tone:
    result = benchmark.result
    if result.status is BenchmarkStatus.FAILED:
        return Tone.BAD
    wrong = result.check is not None and not result.check.passed
    doubtful = wrong or result.degraded or result.status is BenchmarkStatus.PARTIAL
    return Tone.WARNING if doubtful else Tone.GOOD


def _table(benchmark: BenchmarkOutcome) -> str:
    coverage = benchmark.result.coverage
    if coverage is not None and coverage.mode is CaptureMode.CENSUS:
        told = coverage.census
        return block(census_table(told), TABLE_LIMIT) if told and told.launches else ""
    return "" if benchmark.report is None else table_text(benchmark.report)


def _picker(job: Job, benchmark: BenchmarkOutcome) -> Picker | None:
    if benchmark.report is None or not benchmark.report.kernels:
        return None
    return picker_of(job.id, benchmark.result.index, benchmark.report)


def _description(outcome: JobOutcome, benchmark: BenchmarkOutcome, packed: Packed) -> str:
    result = benchmark.result
    kept = left_on_disk(packed.kept, "over Discord's limit even when zipped") if packed.kept else ""
    return _paragraphs(
        _recorded(outcome),
        _wrong_answer(benchmark),
        _failure(result),
        _degraded(outcome, benchmark),
        _cut(outcome, benchmark),
        _coverage(result),
        kept,
        _tail(result.failure, result.output_tail),
    )


def _paragraphs(*parts: str) -> str:
    return closed("\n".join(part for part in parts if part), DESCRIPTION_LIMIT)


def _recorded(outcome: JobOutcome) -> str:
    gpu = outcome.result.recorded_on
    if gpu is None:
        return ""
    return f"**recorded on {inline(gpu, 100)}**, replayed here"


def _wrong_answer(benchmark: BenchmarkOutcome) -> str:
    check = benchmark.result.check
    if check is None or check.passed:
        return ""
    said = f": {inline(check.message, 400)}" if check.message else "."
    return (
        f"⚠️ **Wrong answer**, the evaluator said{said}\nThe counters above are what was measured."
    )


def _failure(result: BenchmarkResult) -> str:
    """Word the failure of a benchmark that left something; a wrong answer has its own banner."""
    failure = result.failure
    if failure is None or failure.kind is FailureKind.WRONG_ANSWER:
        return ""
    if result.status is not BenchmarkStatus.PARTIAL:
        return _sentence(failure)
    return f"⚠️ **Partial**, only what was captured until then: {_sentence(failure)}"


def _sentence(failure: Failure | None) -> str:
    return "" if failure is None else inline(failure_sentence(failure), SENTENCE_LIMIT)


def _degraded(outcome: JobOutcome, benchmark: BenchmarkOutcome) -> str:
    if not benchmark.result.degraded:
        return ""
    system = outcome.result.system
    names = benchmark.report.coverage.missing_words if benchmark.report else ""
    return (
        f"⚠️ **Degraded**: {benchmark.result.missing_share:.0%} of the table's counters are missing"
        f"{f': {inline(names)}' if names else ''} "
        f"(ncu {inline(system.ncu_version, 60)}, driver {inline(system.driver, 60)})."
    )


def _cut(outcome: JobOutcome, benchmark: BenchmarkOutcome) -> str:
    cap = outcome.job.capture.launch_count
    coverage = benchmark.result.coverage
    told = coverage is not None and (coverage.mode is not CaptureMode.FIRST or coverage.census)
    if told or benchmark.result.kernels < cap:
        return ""
    return f"⚠️ capture was cut at {_launches(cap)}, later kernels are not in the report"


def _coverage(result: BenchmarkResult) -> str:
    lines = coverage_lines(result.coverage, result.kernels)
    return "\n".join(inline(line, 600) for line in lines)


def _launches(count: int) -> str:
    return "1 launch" if count == 1 else f"{count} launches"


def _tail(failure: Failure | None, tail: str) -> str:
    if failure is None or failure.kind not in _TAIL_KINDS or not tail.strip():
        return ""
    return block("\n".join(tail.rstrip().splitlines()[-12:]), TAIL_LIMIT)


def _facts(outcome: JobOutcome, benchmark: BenchmarkOutcome) -> tuple[Fact, ...]:
    result = benchmark.result
    check = result.check
    said = "nothing" if check is None else "pass" if check.passed else "fail"
    coverage = result.coverage
    timed = coverage is not None and coverage.mode in TIMED
    cap = outcome.job.capture.launch_count
    return (
        Fact("GPU", code(outcome.result.system.gpu or outcome.job.gpu)),
        Fact("Captured", captured_words(coverage, result.kernels, cap)),
        Fact("Check", "not checked" if timed else f"evaluator said: {said}"),
        Fact("Shape", code(result.spec), wide=True),
    )


def _viewer_hint(system: System, packed: Packed) -> str:
    report = any(".ncu-rep" in file.name for file in (*packed.uploads, *packed.kept))
    version = re.match(r"\d{4}\.\d+(\.\d+)?", system.ncu_version)
    if not report or version is None:
        return ""
    return f"Open the .ncu-rep with Nsight Compute {version[0]} or newer."
