"""From a task and a submission to the JobSpec that a runner takes."""

import hashlib

from bot.leaderboards.digest import config_sha256
from bot.leaderboards.model import Task, spec_line
from runner_client.captures import CaptureOptions
from runner_client.wire import Benchmark, JobSpec, Mode, SourceFile


def all_benchmarks(task: Task, mode: Mode = Mode.PROFILE) -> tuple[Benchmark, ...]:
    """Every entry of the list that `mode` runs: `tests` for test, `benchmarks` otherwise."""
    cases = task.tests if mode is Mode.TEST else task.benchmarks
    return tuple(Benchmark(index=index, spec=spec_line(case)) for index, case in enumerate(cases))


def build_spec(  # noqa: PLR0913 - an argument an entry of JobSpec, all by name
    *,
    id: str,  # noqa: A002 - the wire's own word
    requester: str,
    leaderboard: str,
    commit: str | None,
    gpu: str,
    task: Task,
    submission: str,
    benchmarks: tuple[Benchmark, ...],
    capture: CaptureOptions,
    mode: Mode = Mode.PROFILE,
) -> JobSpec:
    """Put a job together; `submission` is its text, `id` 32 hex digits (uuid4().hex)."""
    return JobSpec(
        id=id,
        requester=requester,
        leaderboard=leaderboard,
        problem_commit=commit,
        gpu=gpu,
        mode=mode,
        evaluator=task.evaluator,
        files=tuple(
            SourceFile(name=file.name, content=file.content)
            for file in task.files
            if file.content is not None
        ),
        submission=SourceFile(name=task.submission_name, content=submission),
        benchmarks=benchmarks,
        capture=capture,
        timeout_s=float(task.test_timeout if mode is Mode.TEST else task.benchmark_timeout),
        seed=task.seed,
        config_sha256=config_sha256(task, capture),
        submission_sha256=hashlib.sha256(submission.encode()).hexdigest(),
    )
