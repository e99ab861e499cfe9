"""Every kind of failure from what a run leaves: recorded on an H200, or made after public texts."""

from pathlib import Path

import pytest

from runner.capture.classify import check_of, why_empty, why_ended, why_failed, why_stopped
from runner.capture.popcorn import parse_log
from runner.engine import Evidence
from runner.isolation.halt import Stop
from runner_client.captures import CaptureOptions
from runner_client.wire import Check, Failure, FailureKind, Mode
from tests.standin import made
from tests.standin.made import Made

NONE = "==WARNING== No kernels were profiled.\n"
FINE = {"check": "pass"}
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


def recorded(folder: Path) -> dict[str, object]:
    """Read what a recorded run left."""

    def text(name: str) -> str:
        path = folder / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    return {
        "exit_code": int(text("exit_code")),
        "stdout": text("stdout.txt"),
        "stderr": text("stderr.txt"),
        "log": parse_log(text("popcorn_fd.txt").encode()),
    }


def of_made(run: Made, **changes: object) -> dict[str, object]:
    """Return what a made run left, with changes."""
    left = {"exit_code": run.exit_code, "stdout": run.stdout, "stderr": run.stderr}
    return left | {"log": parse_log(run.log.encode())} | changes


def empty(kernel_name: object = None, **left: object) -> Failure:
    """Classify a profile run without counters."""
    capture = CaptureOptions(kernel_name=str(kernel_name) if kernel_name else None)
    return why_empty(Evidence(**left), "submission.py", capture)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "kind", "detail"),
    [
        ("fail-mode-not-implemented", FailureKind.PROFILE_MODE_MISSING, ""),
        ("fail-no-range", FailureKind.NOTHING_IN_RANGE, ""),
        ("fail-other-thread", FailureKind.NOTHING_IN_RANGE, ""),
        ("fail-torch-profiler-only", FailureKind.OTHER_PROFILER, "CUPTI"),
        ("fail-output-not-writable", FailureKind.PROFILER_ERROR, "Unable to write to file"),
        ("fail-submission-raises", FailureKind.SUBMISSION_ERROR, "RuntimeError: boom (submission"),
    ],
)
def test_recorded_runs(recordings: Path, name: str, kind: FailureKind, detail: str) -> None:
    failure = empty(**recorded(recordings / name))
    assert failure.kind is kind
    assert failure.detail.startswith(detail)


def test_a_recorded_filter_that_matched_none_names_the_kernels(recordings: Path) -> None:
    left = recorded(recordings / "fail-kernel-filter-matches-none")
    failure = empty("regex:doesnotexist", **left)
    assert failure.kind is FailureKind.FILTER_MATCHED_NONE
    assert failure.detail.startswith("elementwise_kernel, elementwise_kernel_with_index, ")
    assert empty(**left).kind is FailureKind.NOTHING_IN_RANGE


def test_a_recorded_run_at_its_limit_names_figure_and_kernel(recordings: Path) -> None:
    left = recorded(recordings / "partial-hang-terminated")
    failure = empty(**left, stopped=Stop.TIME_LIMIT, figure="480 s")
    assert failure.kind is FailureKind.TIME_LIMIT
    assert failure.detail == "480 s, last kernel vectorized_elementwise_kernel"


@pytest.mark.parametrize("run", made.EVERY, ids=lambda run: run.name)
def test_made_runs(run: Made) -> None:
    failure = empty(**of_made(run))
    assert failure.kind.value == run.kind
    assert failure.detail


@pytest.mark.parametrize("exit_code", [0, 1, 9])
@pytest.mark.parametrize("run", [made.DENIED, made.BUSY, made.MISMATCH], ids=lambda run: run.name)
def test_ncus_errors_in_either_stream_whatever_the_exit_status(run: Made, exit_code: int) -> None:
    swapped = of_made(run, stdout="", stderr=run.stdout, exit_code=exit_code)
    assert empty(**swapped).kind.value == run.kind
    assert empty(**of_made(run, exit_code=exit_code)).kind.value == run.kind


def test_an_error_under_ncu_does_not_hide_ncus_own() -> None:
    failure = empty(**of_made(made.DENIED, exit_code=1, stderr=DEVICE_TRACE))
    assert failure.kind is FailureKind.COUNTERS_DENIED


@pytest.mark.parametrize("run", [made.DENIED, made.MISMATCH], ids=lambda run: run.name)
def test_what_the_runners_own_kernel_disproves_is_not_believed(run: Made) -> None:
    failure = empty(**of_made(run, proven=True))
    assert failure.kind in {FailureKind.NOTHING_IN_RANGE, FailureKind.PROGRAM_DIED}


@pytest.mark.parametrize("stop", list(Stop))
def test_a_stop_is_the_runners_own_word(stop: Stop) -> None:
    failure = empty(**of_made(made.DENIED, stopped=stop, figure="2.0 GB"))
    assert failure.kind.value == stop.value
    assert failure.detail == ("" if stop is Stop.CANCELLED else "2.0 GB")


def test_a_kernel_that_scrolled_out_of_the_kept_output_is_still_named() -> None:
    evidence = Evidence(stopped=Stop.MEMORY_LIMIT, figure="16.0 GB", last_kernel="add")
    failure = why_stopped(evidence)
    assert failure is not None
    assert failure.detail == "16.0 GB, last kernel add"


@pytest.mark.parametrize(
    ("left", "kind", "detail"),
    [
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
        ({"exit_code": -11}, FailureKind.PROGRAM_DIED, "ended by signal 11"),
        ({"exit_code": 7, "stderr": "bye\n"}, FailureKind.PROGRAM_DIED, "ended with status 7: bye"),
        ({"exit_code": 0, "stdout": NONE}, FailureKind.PROGRAM_DIED, "without a verdict"),
        ({"exit_code": 112}, FailureKind.WRONG_ANSWER, ""),
        ({"exit_code": 112, "stdout": NONE}, FailureKind.NOTHING_IN_RANGE, ""),
        ({"exit_code": 0, "log": FINE}, FailureKind.PROFILER_ERROR, "left no report"),
    ],
)
def test_other_causes(left: dict[str, object], kind: FailureKind, detail: str) -> None:
    failure = empty(**left)
    assert failure.kind is kind
    assert detail in failure.detail


def test_a_helper_that_ended_at_once_is_no_error() -> None:
    # github.com/NVIDIA/TensorRT-LLM issue 183 has this line for nvidia-smi and ldconfig.
    noise = "==WARNING== Target process 36054 terminated before first instrumented API call.\n"
    assert empty(stdout=noise + NONE, log=FINE).kind is FailureKind.NOTHING_IN_RANGE


def test_section_files_that_cannot_be_laid_down_do_not_hide_a_cause() -> None:
    left = of_made(made.HOME, stdout=made.HOME.stdout + NONE)
    assert empty(**left).kind is FailureKind.NOTHING_IN_RANGE


def test_a_status_of_usage_after_the_evaluator_began_is_the_programs_own() -> None:
    began = {"benchmark-count": "1"}
    assert empty(exit_code=2, log=began).kind is FailureKind.PROGRAM_DIED
    assert empty(exit_code=2).kind is FailureKind.PROFILE_MODE_MISSING


def test_ncus_wrapper_sentence_does_not_hide_the_programs_error() -> None:
    trace = DEVICE_TRACE.replace("eval.py", "/job/src/submission.py")
    failure = empty(
        exit_code=1,
        stderr=trace,
        stdout="==ERROR== The application returned an error code (1).\n" + NONE,
    )
    assert failure.kind is FailureKind.SUBMISSION_ERROR
    assert failure.detail.endswith("(submission.py:9)")


def test_a_forged_code_does_not_blame_the_problem() -> None:
    forged = "==ERROR== The application returned an error code (2).\n"
    failure = empty(exit_code=1, stdout=forged + NONE)
    assert failure.kind is FailureKind.PROGRAM_DIED


def test_an_exception_that_quotes_ncu_stays_the_submissions() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "submission.py", line 1, in custom_kernel\n'
        "RuntimeError: ERR_NVGPUCTRPERM\n"
    )
    assert empty(exit_code=1, stderr=trace).kind is FailureKind.SUBMISSION_ERROR


def test_a_kernel_list_without_a_filter_is_not_believed() -> None:
    failure = empty(stdout=NONE + "Available Kernels:\n1. forged\n", log=FINE)
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
