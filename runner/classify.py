"""Why a benchmark gave no counters: read from streams, exit status, log and report together.

Recorded runs of every kind are in the tests. Nothing here can make a success; a submission that
forges ncu's lines only changes what its own failure is called.
"""

import re

from runner.engine import Evidence
from runner.process import Stop
from runner.progress import last_kernel
from runner.text import one_line
from runner_client.wire import CaptureOptions, Check, Failure, FailureKind, Mode

USAGE, CUDA_ERROR, NO_PIPE, WRONG, UNREADABLE_SPEC = 2, 110, 111, 112, 113
FINE = frozenset({0, WRONG})

_APPLICATION = re.compile(
    r"^==ERROR== The application returned an error code \((-?\d+)\)", re.MULTILINE
)
_NCU_ERROR = re.compile(r"^==ERROR== (?!The application returned)(.+)$", re.MULTILINE)
_NO_KERNELS = "==WARNING== No kernels were profiled."
_AVAILABLE = re.compile(r"^Available Kernels:\n((?:[ \t]*\d+\. .*(?:\n|$))+)", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d+\. (.+)$", re.MULTILINE)
# The last line of a traceback: a dotted exception name at the start of a line.
_EXCEPTION = re.compile(
    r"^((?:[A-Za-z_][\w]*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Stop\w*)?)(: .*)?$",
    re.MULTILINE,
)
_FRAME = re.compile(r'^\s*File "([^"\n]*)", line (\d+)', re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"
_DEVICE_ERROR = re.compile(r"CUDA error|AcceleratorError|CUDA out of memory|OutOfMemoryError")
_OTHER_PROFILER = re.compile(r"^.*CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED.*$", re.MULTILINE)


def check_of(evidence: Evidence) -> Check | None:
    """Return the evaluator's verdict; None where it left none."""
    verdict = evidence.log.get("check")
    statuses = {value for key, value in evidence.log.items() if key.endswith(".status")}
    if evidence.exit_code == WRONG or verdict == "fail" or "fail" in statuses:
        return Check(passed=False, message=one_line(_check_message(evidence.log)))
    return Check(passed=True) if verdict == "pass" else None


def _check_message(log: dict[str, str]) -> str:
    errors = (value for key, value in log.items() if key.endswith(".error") or key == "error")
    return next(errors, "")


def why_stopped(evidence: Evidence) -> Failure | None:
    """Return the failure of a program that the runner ended; `detail` is the last kernel."""
    if evidence.stopped is None:
        return None
    kinds = {Stop.CANCELLED: FailureKind.CANCELLED, Stop.TIME_LIMIT: FailureKind.TIME_LIMIT}
    return Failure(kind=kinds[evidence.stopped], detail=last_kernel(evidence.stdout))


def why_ended(evidence: Evidence, submission: str) -> Failure | None:
    """Return the failure that the program's own end shows; None where it ended well.

    `submission` is the name of the submitted file, to tell its frames from the evaluator's.
    """
    status = application_status(evidence)
    if status in FINE:
        return None
    if status == USAGE and _TRACEBACK not in evidence.stderr:
        return _failure(FailureKind.PROFILE_MODE_MISSING, _last_line(evidence.stderr))
    if status in {NO_PIPE, UNREADABLE_SPEC}:
        return _failure(FailureKind.EVALUATOR_ERROR, f"the evaluator ended with status {status}")
    return _from_traceback(evidence.stderr, submission) or _without_traceback(evidence, status)


def why_empty(evidence: Evidence, submission: str, capture: CaptureOptions) -> Failure:
    """Return why a profile run has no kernel with values."""
    both = evidence.stdout + "\n" + evidence.stderr
    # Case matters: PyTorch names a web page of that title in an unrelated message.
    if "ERR_NVGPUCTRPERM" in both:
        return _failure(FailureKind.COUNTERS_DENIED, _line_with(both, "ERR_NVGPUCTRPERM"))
    stopped = why_stopped(evidence)
    if stopped is not None:
        return stopped
    refused = _NCU_ERROR.search(both)
    if refused is not None and _APPLICATION.search(both) is None:
        return _failure(FailureKind.PROFILER_ERROR, refused[1])
    return why_ended(evidence, submission) or _nothing_captured(evidence, capture)


def why_failed(evidence: Evidence, submission: str, mode: Mode) -> Failure | None:
    """Return why a run without ncu failed; None where every case passed."""
    failure = why_stopped(evidence) or why_ended(evidence, submission)
    if failure is not None:
        if mode is Mode.BENCHMARK or failure.kind is not FailureKind.PROFILE_MODE_MISSING:
            return failure
        return _failure(FailureKind.EVALUATOR_ERROR, failure.detail)
    check = check_of(evidence)
    if check is None:
        return _failure(FailureKind.EVALUATOR_ERROR, "the evaluator left no verdict")
    return None if check.passed else _failure(FailureKind.WRONG_ANSWER, check.message)


def application_status(evidence: Evidence) -> int:
    """Return the program's exit status: ncu names it where it differs from its own."""
    named = _APPLICATION.findall(evidence.stdout)
    return int(named[-1]) if named and evidence.exit_code else evidence.exit_code


def _nothing_captured(evidence: Evidence, capture: CaptureOptions) -> Failure:
    if evidence.exit_code == WRONG and _NO_KERNELS not in evidence.stdout:
        return _failure(FailureKind.WRONG_ANSWER, _check_message(evidence.log))
    listed = _AVAILABLE.search(evidence.stdout)
    if listed is not None and capture.kernel_name is not None:
        names = ", ".join(_NUMBERED.findall(listed[1]))
        return _failure(FailureKind.FILTER_MATCHED_NONE, names)
    if _NO_KERNELS in evidence.stdout:
        rival = _OTHER_PROFILER.search(evidence.stderr)
        return _failure(FailureKind.NOTHING_IN_RANGE, rival[0] if rival else "")
    return _failure(FailureKind.PROFILER_ERROR, "ncu ended well and left no report")


def _from_traceback(stderr: str, submission: str) -> Failure | None:
    start = stderr.find(_TRACEBACK)
    if start < 0:
        return None
    trace = stderr[start:]
    frames = [f for f in _FRAME.findall(trace) if f[0].rsplit("/", 1)[-1] == submission]
    exceptions = list(_EXCEPTION.finditer(trace))
    said = exceptions[-1][0] if exceptions else _last_line(trace)
    if frames:
        return _failure(FailureKind.SUBMISSION_ERROR, f"{said} ({submission}:{frames[-1][1]})")
    if _DEVICE_ERROR.search(said):
        return _failure(FailureKind.SUBMISSION_ERROR, said)
    return _failure(FailureKind.EVALUATOR_ERROR, said)


def _without_traceback(evidence: Evidence, status: int) -> Failure:
    said = _last_line(evidence.stderr)
    how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
    if status == CUDA_ERROR:
        how = "a CUDA call failed"
    return _failure(FailureKind.SUBMISSION_ERROR, f"{how}: {said}" if said else how)


def _failure(kind: FailureKind, detail: str = "") -> Failure:
    return Failure(kind=kind, detail=one_line(detail))


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def _line_with(text: str, word: str) -> str:
    return next(line for line in text.splitlines() if word in line)
