"""Failures that are the operator's, and how many jobs in a row ended by one."""

from runner_client.wire import FailureKind, JobResult

OPERATORS = frozenset(
    {
        FailureKind.COUNTERS_BUSY,
        FailureKind.COUNTERS_DENIED,
        FailureKind.DISK_FULL,
        FailureKind.DRIVER_MISMATCH,
        FailureKind.PROFILER_ERROR,
        FailureKind.PROFILER_LOCK,
        FailureKind.RUNNER_ERROR,
        FailureKind.WRONG_GPU,
    }
)
"""Kinds that speak against this machine. A submission can feign some of them."""
MANY = 3


class FaultStreak:
    """Counts jobs in a row that failed by the operator's fault; one that captured ends the row.

    Only a row of several requesters tells: one of them alone could feign it.
    """

    def __init__(self) -> None:
        self._requesters: list[str] = []
        self._last = ""

    def note(self, requester: str, result: JobResult) -> None:
        """Take note of a job that ended."""
        if any(one.kernels for one in result.benchmarks):
            self._requesters.clear()
        elif found := kinds(result) & OPERATORS:
            self._requesters.append(requester)
            self._last = min(found).value

    def problems(self) -> tuple[str, ...]:
        """Return one sentence where the row is long, for the runner's health."""
        count, users = len(self._requesters), len(set(self._requesters))
        if count < MANY or users < 2:
            return ()
        row = f"the last {count} profiles of {users} users failed by this machine"
        return (f"{row}, the newest by {self._last}: see the log and run `ncubot doctor`",)


def kinds(result: JobResult) -> set[FailureKind]:
    """Return every kind of failure in a job."""
    failures = (result.failure, *(one.failure for one in result.benchmarks))
    return {failure.kind for failure in failures if failure is not None}
