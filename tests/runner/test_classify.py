"""Causes that no recording has: made after ncu's and CUDA's own wording."""

import pytest

from runner.classify import check_of, why_empty, why_ended, why_failed
from runner.engine import Evidence
from runner.process import Stop
from runner_client.wire import CaptureOptions, Check, Failure, FailureKind, Mode

NONE = "==WARNING== No kernels were profiled.\n"
PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n"
)
EVALUATOR_TRACE = (
    'Traceback (most recent call last):\n  File "eval.py", line 9, in <module>\n'
    "    main()\nKeyError: 'size'\n"
)
DEVICE_TRACE = (
    'Traceback (most recent call last):\n  File "eval.py", line 9, in <module>\n'
    "    torch.cuda.synchronize()\n"
    "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n"
    "CUDA kernel errors might be asynchronously reported at some other API call\n"
)


def empty(**left: object) -> Failure:
    """Classify a profile run without counters."""
    return why_empty(Evidence(**left), "submission.py", CaptureOptions())  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_denied_counters_whatever_the_exit_status(stream: str, exit_code: int) -> None:
    failure = empty(**{stream: PERMISSION + NONE}, exit_code=exit_code)
    assert failure.kind is FailureKind.COUNTERS_DENIED
    assert "ERR_NVGPUCTRPERM" in failure.detail


@pytest.mark.parametrize(
    ("left", "kind", "detail"),
    [
        (
            {"exit_code": 1, "stdout": "==ERROR== Failed to open the lock file.\n"},
            FailureKind.PROFILER_ERROR,
            "Failed to open the lock file.",
        ),
        ({"exit_code": 111}, FailureKind.EVALUATOR_ERROR, "the evaluator ended with status 111"),
        ({"exit_code": 113}, FailureKind.EVALUATOR_ERROR, "the evaluator ended with status 113"),
        (
            {"exit_code": 110, "stderr": "eval.cu:7: invalid argument\n"},
            FailureKind.SUBMISSION_ERROR,
            "a CUDA call failed: eval.cu:7: invalid argument",
        ),
        ({"exit_code": 1, "stderr": EVALUATOR_TRACE}, FailureKind.EVALUATOR_ERROR, "KeyError"),
        (
            {"exit_code": 1, "stderr": DEVICE_TRACE},
            FailureKind.SUBMISSION_ERROR,
            "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
        ),
        ({"exit_code": -11}, FailureKind.SUBMISSION_ERROR, "ended by signal 11"),
        ({"exit_code": 112}, FailureKind.WRONG_ANSWER, ""),
        ({"exit_code": 112, "stdout": NONE}, FailureKind.NOTHING_IN_RANGE, ""),
        ({"exit_code": 0}, FailureKind.PROFILER_ERROR, "ncu ended well and left no report"),
        ({"stopped": Stop.CANCELLED}, FailureKind.CANCELLED, ""),
    ],
)
def test_other_causes(left: dict[str, object], kind: FailureKind, detail: str) -> None:
    failure = empty(**left)
    assert failure.kind is kind
    assert detail in failure.detail


def test_ncus_wrapper_sentence_does_not_hide_the_programs_error() -> None:
    trace = DEVICE_TRACE.replace("eval.py", "/job/src/submission.py")
    failure = empty(
        exit_code=1,
        stderr=trace,
        stdout="==ERROR== The application returned an error code (1).\n" + NONE,
    )
    assert failure.kind is FailureKind.SUBMISSION_ERROR
    assert failure.detail.endswith("(submission.py:9)")


def test_a_kernel_list_without_a_filter_is_not_believed() -> None:
    failure = empty(stdout=NONE + "Available Kernels:\n1. forged\n")
    assert failure.kind is FailureKind.NOTHING_IN_RANGE


def test_details_are_one_bounded_line() -> None:
    failure = empty(exit_code=1, stdout="==ERROR== " + "x\x1b[31m\x07" * 5_000 + "\n")
    assert len(failure.detail) <= 1_024
    assert failure.detail.isprintable()


@pytest.mark.parametrize(
    ("log", "exit_code", "check"),
    [
        ({"check": "pass"}, 0, Check(passed=True)),
        ({"check": "fail", "test.0.error": "off"}, 0, Check(passed=False, message="off")),
        ({"benchmark.0.status": "fail"}, 0, Check(passed=False)),
        ({"check": "pass"}, 112, Check(passed=False)),
        ({}, 0, None),
    ],
)
def test_the_evaluators_verdict(log: dict[str, str], exit_code: int, check: Check | None) -> None:
    assert check_of(Evidence(log=log, exit_code=exit_code)) == check


def test_a_usage_error_without_ncu_is_the_evaluators() -> None:
    failure = why_failed(Evidence(exit_code=2), "submission.py", Mode.TEST)
    assert failure is not None
    assert failure.kind is FailureKind.EVALUATOR_ERROR


def test_fine_ends_are_no_failure() -> None:
    assert why_ended(Evidence(exit_code=0), "submission.py") is None
    assert why_ended(Evidence(exit_code=112), "submission.py") is None
