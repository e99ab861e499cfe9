"""Jobs in a row that failed by this machine, in the runner's health."""

from runner.health.faults import FaultStreak
from runner.jobs.job import failed
from runner_client.wire import (
    BenchmarkResult,
    BenchmarkStatus,
    Failure,
    FailureKind,
    JobResult,
    System,
)
from tests.runner.api import Api
from tests.standin import made
from tests.standin.problem import job, replaying

SYSTEM = System(gpu="NVIDIA H200")


def result(kind: FailureKind | None) -> JobResult:
    """Return a job whose only benchmark failed so, or captured."""
    status = BenchmarkStatus.FAILED if kind else BenchmarkStatus.SUCCEEDED
    failure = Failure(kind=kind) if kind else None
    one = BenchmarkResult(
        index=0, spec="n: 1", status=status, failure=failure, kernels=0 if kind else 4
    )
    return JobResult(failure=None, benchmarks=(one,), system=SYSTEM, manifest=None)


def streak(*jobs: tuple[str, FailureKind | None]) -> tuple[str, ...]:
    """Return what the health says after these jobs."""
    faults = FaultStreak()
    for requester, kind in jobs:
        faults.note(requester, result(kind))
    return faults.problems()


DENIED, WRONG = FailureKind.COUNTERS_DENIED, FailureKind.WRONG_ANSWER


def test_three_jobs_of_two_users_are_told() -> None:
    (said,) = streak(("a", DENIED), ("b", WRONG), ("b", DENIED), ("a", DENIED))
    assert said.startswith("the last 3 profiles of 2 users failed by this machine, the newest by ")
    assert said.endswith("counters-denied: see the log and run `ncubot doctor`")


def test_one_user_alone_could_feign_it() -> None:
    assert streak(*[("a", DENIED)] * 9) == ()


def test_a_capture_ends_the_row() -> None:
    assert streak(("a", DENIED), ("b", DENIED), ("b", None), ("a", DENIED)) == ()


def test_a_job_that_ended_before_its_first_benchmark_counts() -> None:
    faults = FaultStreak()
    for requester in ("a", "b", "c"):
        faults.note(requester, failed(Failure(kind=FailureKind.RUNNER_ERROR), SYSTEM))
    assert "runner-error" in faults.problems()[0]


async def test_the_health_of_a_runner_says_it(api: Api) -> None:
    source = replaying(f"made:{made.DENIED.name}")
    for requester in ("a", "b", "b"):
        await api.run(job(source, requester=requester))
    (problem,) = (await api.health()).problems
    assert "failed by this machine, the newest by counters-denied" in problem
