"""The one table of failures: whose fault each is, what is said, and what it costs.

`docs/failures.md` shows the same rows; a test compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from runner_client.wire import FailureKind, JobResult


class Fault(StrEnum):
    """Who can mend it."""

    SUBMISSION = "submission"
    PROBLEM = "problem"
    OPERATOR = "operator"
    USER = "user"


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One kind of failure.

    `cause` and `mend` make the sentence `cause (evidence): mend.`; `charged` says whether the job
    counts against its author's quota, `retry` whether the same job could go well a second time.
    An operator's or a problem's fault is never charged.
    """

    kind: FailureKind
    fault: Fault
    cause: str
    mend: str
    charged: bool = False
    retry: bool = False


_NOT_YOURS = "this is not your fault, try again and tell an admin if it stays"
_MEND = "mend the error and profile again"
_ASK_LESS = "ask for fewer launches or one kernel, or warm up before the range opens"

_ROWS = (
    FailureRow(
        FailureKind.PROFILE_MODE_MISSING,
        Fault.PROBLEM,
        "This problem's evaluator has no profile mode",
        "it cannot give counters until its author adds one",
    ),
    FailureRow(
        FailureKind.NOTHING_IN_RANGE,
        Fault.SUBMISSION,
        "No kernel was launched inside the range custom_kernel",
        "look first whether your code launches kernels at all for this shape, then whether it "
        "launches them from another thread than its caller's, which the range does not see, and "
        "last whether the problem's evaluator opens that push/pop range",
        charged=True,
    ),
    FailureRow(
        FailureKind.OTHER_PROFILER,
        Fault.PROBLEM,
        "Another profiler, such as torch.profiler, ran under Nsight Compute and no kernel was "
        "captured",
        "neither your code nor the problem's evaluator may start one where POPCORN_NCU is 1",
    ),
    FailureRow(
        FailureKind.FILTER_MATCHED_NONE,
        Fault.USER,
        "The kernel filter matched nothing",
        "choose one of the kernels that were launched",
        charged=True,
    ),
    FailureRow(
        FailureKind.PROGRAM_DIED,
        Fault.SUBMISSION,
        "The program ended before a kernel of the range was captured",
        "look for a crash or an exit in your code, which left no Python error",
        charged=True,
    ),
    FailureRow(
        FailureKind.SUBMISSION_ERROR,
        Fault.SUBMISSION,
        "Your submission failed",
        _MEND,
        charged=True,
    ),
    FailureRow(
        FailureKind.COMPILE_ERROR,
        Fault.SUBMISSION,
        "Your submission did not compile",
        _MEND,
        charged=True,
    ),
    FailureRow(
        FailureKind.WRONG_ANSWER,
        Fault.SUBMISSION,
        "The evaluator said that the output is wrong",
        "run the problem's tests first",
        charged=True,
    ),
    FailureRow(
        FailureKind.EVALUATOR_ERROR,
        Fault.PROBLEM,
        "The problem's evaluator failed",
        "this is not your fault, tell the problem's author",
    ),
    FailureRow(
        FailureKind.EVALUATOR_CHANGED,
        Fault.SUBMISSION,
        "Files of the evaluator were changed while your submission ran, so nothing of this run is "
        "believed",
        "leave every file but your own alone",
        charged=True,
    ),
    FailureRow(
        FailureKind.TIME_LIMIT,
        Fault.SUBMISSION,
        "The time limit of a benchmark was reached",
        "ask for fewer launches or one kernel, since profiling is far slower than a plain run, and "
        "see that your code returns",
        charged=True,
    ),
    FailureRow(
        FailureKind.JOB_TIME_LIMIT,
        Fault.USER,
        "The time limit of a whole job was reached",
        "ask for one benchmark, fewer launches or one kernel",
        charged=True,
    ),
    FailureRow(
        FailureKind.LAUNCH_LIMIT,
        Fault.USER,
        "The job asks for more launches than this runner allows",
        "ask for fewer launches or one benchmark",
    ),
    FailureRow(
        FailureKind.REPORT_LIMIT,
        Fault.SUBMISSION,
        "The report grew to its limit",
        _ASK_LESS,
        charged=True,
    ),
    FailureRow(
        FailureKind.DISK_LIMIT,
        Fault.SUBMISSION,
        "The job's files grew to their limit on the runner's disk",
        "write less, " + _ASK_LESS,
        charged=True,
    ),
    FailureRow(
        FailureKind.MEMORY_LIMIT,
        Fault.SUBMISSION,
        "The job's programs took more memory than a job may",
        "use less memory on the host",
        charged=True,
    ),
    FailureRow(
        FailureKind.PROCESS_LIMIT,
        Fault.SUBMISSION,
        "The job started more processes than a job may",
        "start fewer processes and threads",
        charged=True,
    ),
    FailureRow(
        FailureKind.OUTPUT_LIMIT,
        Fault.SUBMISSION,
        "The program printed more than a job may",
        "print less",
        charged=True,
    ),
    FailureRow(
        FailureKind.DISK_FULL,
        Fault.OPERATOR,
        "The runner's disk is full",
        "this is not your fault, an admin must make room on it",
        retry=True,
    ),
    FailureRow(
        FailureKind.COUNTERS_DENIED,
        Fault.OPERATOR,
        "The GPU's counters are closed to the runner",
        "this is not your fault, an admin must permit them in the driver",
    ),
    FailureRow(
        FailureKind.COUNTERS_BUSY,
        Fault.OPERATOR,
        "Another tool, such as DCGM, holds the GPU's counters",
        "this is not your fault, try again later, and an admin may pause that tool",
        retry=True,
    ),
    FailureRow(
        FailureKind.DRIVER_MISMATCH,
        Fault.OPERATOR,
        "Nsight Compute and the GPU's driver do not fit",
        "this is not your fault, an admin must install versions that do",
    ),
    FailureRow(
        FailureKind.PROFILER_LOCK,
        Fault.OPERATOR,
        "Nsight Compute could not use its lock file or its folder in HOME",
        _NOT_YOURS,
        retry=True,
    ),
    FailureRow(
        FailureKind.PROFILER_ERROR,
        Fault.OPERATOR,
        "Nsight Compute failed",
        _NOT_YOURS,
        retry=True,
    ),
    FailureRow(
        FailureKind.WRONG_GPU,
        Fault.OPERATOR,
        "The report was made on another GPU than the one that was asked for",
        "this is not your fault, an admin must look at the runner's gpu setting",
    ),
    FailureRow(
        FailureKind.EXPORT_FAILED,
        Fault.OPERATOR,
        "The report was captured but could not be read into a table",
        "open the .ncu-rep file in Nsight Compute",
    ),
    FailureRow(
        FailureKind.CAPTURE_UNAVAILABLE,
        Fault.USER,
        "This runner cannot make such a capture",
        "choose another capture mode, `first` is always there",
    ),
    FailureRow(
        FailureKind.CANCELLED,
        Fault.USER,
        "The job was cancelled",
        "type /profile to start another",
        charged=True,
        retry=True,
    ),
    FailureRow(
        FailureKind.NOT_RECORDED,
        Fault.USER,
        "This runner has no GPU and replays recordings only",
        "choose one that it has",
    ),
    FailureRow(
        FailureKind.RUNNER_LOST,
        Fault.OPERATOR,
        "The runner stopped in the middle of the job",
        "this is not your fault, type /profile again",
        retry=True,
    ),
    FailureRow(
        FailureKind.RUNNER_ERROR,
        Fault.OPERATOR,
        "The runner failed",
        _NOT_YOURS,
        retry=True,
    ),
)
FAILURES: Mapping[FailureKind, FailureRow] = MappingProxyType({row.kind: row for row in _ROWS})
"""Every kind, in the order of the table."""


def charged(kind: str) -> bool:
    """Whether a job that failed so counts; what is not in the table is the operator's fault."""
    return kind in FAILURES and FAILURES[FailureKind(kind)].charged


def result_charged(result: JobResult) -> bool:
    """Whether a job counts that ended so: if a benchmark gave counters, or failed by its author."""
    if result.failure is not None:
        return charged(result.failure.kind)
    failures = [entry.failure for entry in result.benchmarks]
    return any(failure is None or charged(failure.kind) for failure in failures)
