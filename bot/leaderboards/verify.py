"""The five observations that make a problem one that gives counters, from results of its runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.leaderboards.model import Task, spec_line
from counters.model import KernelReport
from runner_client.wire import (
    Benchmark,
    BenchmarkResult,
    BenchmarkStatus,
    JobResult,
    Mode,
)

_CALLED = re.compile(r"(\w+)\s*\(", re.ASCII)
_DEFINED = re.compile(r"(?:async )?def (\w+)")
MAX_SIGNATURE = 400


@dataclass(frozen=True, slots=True)
class Observation:
    """One of the five, whether it was made, and what was seen in one line."""

    title: str
    seen: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Runs:
    """What the runs gave; `reports` are by benchmark index, of exported CSVs.

    `test` is None where task.yml declares no tests.
    """

    profile: JobResult
    test: JobResult | None
    benchmark: JobResult
    reports: dict[int, KernelReport]


def two_shapes(task: Task) -> tuple[Benchmark, ...]:
    """Return the first benchmark and the next one that differs from it, if there is one."""
    every = [Benchmark(index, spec_line(case)) for index, case in enumerate(task.benchmarks)]
    other = [one for one in every if one.spec != every[0].spec]
    return (*every[:1], *other[:1])


def observe(task: Task, submission: str, runs: Runs) -> tuple[Observation, ...]:
    """Judge the runs."""
    return (
        _resolved(task, runs.profile),
        _report(runs),
        _kernels(submission, runs),
        _second_shape(runs),
        _modes(runs),
    )


def _resolved(task: Task, result: JobResult) -> Observation:
    title = "the run resolved the intended problem and benchmark"
    if result.failure is not None:
        return Observation(title, False, result.failure.kind)
    for one in result.benchmarks:
        wanted = spec_line(task.benchmarks[one.index])
        said = one.log.get("benchmark.0.spec", wanted)
        if said.strip() != wanted:
            return Observation(title, False, f"benchmark {one.index} ran `{said[:100]}`")
    lines = "; ".join(f"{one.index}: `{one.spec}`" for one in result.benchmarks)
    return Observation(title, bool(result.benchmarks), lines or "no benchmark ran")


def _report(runs: Runs) -> Observation:
    title = "a non-empty .ncu-rep was saved and opens again"
    if not runs.profile.benchmarks:
        return Observation(title, False, "no benchmark ran")
    first = runs.profile.benchmarks[0]
    saved = [one for one in first.artifacts if one.name.endswith(".ncu-rep") and one.size]
    if not saved:
        return Observation(title, False, _why(first))
    opened = first.index in runs.reports
    return Observation(title, opened, f"{saved[0].name}, {saved[0].size:,} bytes")


def _kernels(submission: str, runs: Runs) -> Observation:
    title = "the details name the submitted kernel and hold actual values"
    if not runs.profile.benchmarks:
        return Observation(title, False, "no benchmark ran")
    first = runs.profile.benchmarks[0]
    report = runs.reports.get(first.index)
    if report is None or first.status is not BenchmarkStatus.SUCCEEDED:
        return Observation(title, False, _why(first))
    names = [kernel.short_name for kernel in report.kernels]
    said = ", ".join(f"`{name[:80]}`" for name in dict.fromkeys(names))
    own = own_kernels(submission)
    if own and not any(name in kernel.name for name in own for kernel in report.kernels):
        return Observation(title, False, f"none of {', '.join(own)}, but {said}")
    missing = f"{report.missing_share:.0%} of the table's counters missing"
    return Observation(title, not report.degraded, f"{said}; {missing}")


def own_kernels(submission: str) -> tuple[str, ...]:
    """Return the names of kernels that a submission defines, CUDA C++ or Triton."""
    return tuple(dict.fromkeys((*_cuda_kernels(submission), *_triton_kernels(submission))))


def _cuda_kernels(submission: str) -> Iterator[str]:
    for behind in submission.split("__global__")[1:]:
        names: list[str] = _CALLED.findall(behind[:MAX_SIGNATURE])
        yield from [name for name in names if name != "__launch_bounds__"][:1]


def _triton_kernels(submission: str) -> Iterator[str]:
    decorated = False
    for line in map(str.strip, submission.splitlines()):
        if line.startswith(("@", "#")):
            decorated = decorated or line.startswith("@triton.jit")
            continue
        found = _DEFINED.match(line)
        if decorated and found:
            yield found[1]
        decorated = False


def _second_shape(runs: Runs) -> Observation:
    title = "a second benchmark index captured the other shape"
    results = runs.profile.benchmarks
    if len(results) < 2:
        return Observation(title, False, "task.yml declares one shape only")
    if results[1].status is not BenchmarkStatus.SUCCEEDED:
        return Observation(title, False, f"benchmark {results[1].index}: {_why(results[1])}")
    said = f"benchmark {results[1].index}: `{results[1].spec}`, {results[1].kernels} launches"
    return Observation(title, results[1].index in runs.reports, said)


def _modes(runs: Runs) -> Observation:
    title = "test and benchmark modes still work"
    test = _mode(Mode.TEST, runs.test)
    benchmark = _mode(Mode.BENCHMARK, runs.benchmark)
    return Observation(title, test[0] and benchmark[0], f"{test[1]}; {benchmark[1]}")


def _mode(mode: Mode, result: JobResult | None) -> tuple[bool, str]:
    if result is None:
        return False, f"{mode}: task.yml declares none"
    if result.failure is not None:
        return False, f"{mode}: {result.failure.kind}"
    for one in result.benchmarks:
        if one.status is not BenchmarkStatus.SUCCEEDED:
            return False, f"{mode} {one.index}: {_why(one)}"
    return True, f"{mode}: {len(result.benchmarks)} passed"


def _why(result: BenchmarkResult) -> str:
    if result.failure is None:
        return str(result.status)
    detail = " ".join(result.failure.detail.split())[:150]
    return f"{result.failure.kind} ({detail})" if detail else str(result.failure.kind)
