"""Why a benchmark gave no counters: read from streams, exit status, log and report together.

What can be forged. ncu and the submission share stdout and stderr, and the submission can write to
the evaluator's pipe and choose the exit status; so every text here is a claim. What cannot: that
the runner ended the program and for what (`Evidence.stopped`), that a report was taken and its
export names kernels with values, and that the runner's own kernel was profiled (`proven`).

Hence the order. Nothing here is asked where the export has values, so that no line makes a success
or spoils one. The runner's own reason comes first. ncu's errors come next, since under them the
program fails as well; a claim of closed counters or of a driver that does not fit is dropped where
the runner's own kernel proved the contrary, and what is left to a forger is to have his own failure
called another's, once, for his own job. Then the program's own error, and last what ncu says of a
run that ended well.
"""

import re
from dataclasses import dataclass

from runner.capture.progress import last_kernel
from runner.engine import Evidence
from runner.isolation.halt import Stop
from runner.text import one_line
from runner_client.captures import CaptureMode, CaptureOptions
from runner_client.wire import Check, Failure, FailureKind, Mode

USAGE, CUDA_ERROR, NO_PIPE, WRONG, UNREADABLE_SPEC = 2, 110, 111, 112, 113
FINE = frozenset({0, WRONG})


@dataclass(frozen=True, slots=True)
class Sign:
    """A line of either stream that shows a kind; `machine`: it cannot change from job to job."""

    kind: FailureKind
    line: re.Pattern[str]
    machine: bool = False


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:.*==(?:ERROR|WARNING)== )?{pattern}.*$", re.MULTILINE)


# Case matters: PyTorch names a web page of that title in an unrelated message.
_NCU_SIGNS = (
    Sign(FailureKind.COUNTERS_DENIED, _line("ERR_NVGPUCTRPERM"), machine=True),
    Sign(
        FailureKind.COUNTERS_BUSY,
        _line("Profiling failed because a driver resource was unavailable"),
    ),
    Sign(
        FailureKind.DRIVER_MISMATCH,
        _line("Cuda driver is not compatible with Nsight Compute"),
        machine=True,
    ),
    Sign(
        FailureKind.DRIVER_MISMATCH,
        _line("Failed to load Nsight Compute CUDA modules"),
        machine=True,
    ),
    Sign(FailureKind.PROFILER_LOCK, _line("(?:Failed to open/create lock file|InterprocessLock)")),
    Sign(FailureKind.PROFILER_ERROR, _line("Failed to prepare kernel for profiling")),
)
# ncu warns of its folder in HOME and mostly goes on: a cause only where nothing else is one.
_HOME = re.compile(r"^==(?:ERROR|WARNING)== .*\bdeploy\b.*\bsection files\b.*$", re.MULTILINE)
_OTHER_PROFILER = re.compile(r"^.*CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED.*$", re.MULTILINE)
_APPLICATION = re.compile(
    r"^==ERROR== The application returned an error code \((-?\d{1,9})\)", re.MULTILINE
)
_NCU_ERROR = re.compile(r"^==ERROR== (?!The application returned)(.+)$", re.MULTILINE)
_NO_KERNELS = re.compile(r"^==WARNING== No (?:kernels|ranges) were profiled\.", re.MULTILINE)
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
    """Return the failure of a program that the runner ended: the limit and the last kernel."""
    if evidence.stopped is None:
        return None
    kernel = evidence.last_kernel or last_kernel(evidence.stdout)
    figure = "" if evidence.stopped is Stop.CANCELLED else evidence.figure
    parts = (figure, f"last kernel {kernel}" if kernel else "")
    return _failure(FailureKind(evidence.stopped.value), ", ".join(part for part in parts if part))


def why_ended(evidence: Evidence, submission: str) -> Failure | None:
    """Return the failure that the program's own end shows; None where it ended well.

    `submission` is the name of the submitted file, to tell its frames from the evaluator's.
    """
    status = application_status(evidence)
    if status in FINE:
        return None
    if evidence.exit_code == USAGE and _TRACEBACK not in evidence.stderr and not evidence.log:
        return _failure(FailureKind.PROFILE_MODE_MISSING, _last_line(evidence.stderr))
    if status in {NO_PIPE, UNREADABLE_SPEC}:
        return _failure(FailureKind.EVALUATOR_ERROR, f"the evaluator ended with status {status}")
    return _from_traceback(evidence.stderr, submission) or _without_traceback(evidence, status)


def why_empty(evidence: Evidence, submission: str, capture: CaptureOptions) -> Failure:
    """Return why a profile run has no kernel with values."""
    return (
        why_stopped(evidence)
        or _from_ncu(evidence)
        or _ended_early(evidence, submission)
        or _nothing_captured(evidence, capture)
    )


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


def _from_ncu(evidence: Evidence) -> Failure | None:
    both = evidence.stdout + "\n" + evidence.stderr
    for sign in _NCU_SIGNS:
        found = sign.line.search(both)
        if found is not None and not (sign.machine and evidence.proven):
            return _failure(sign.kind, found[0])
    errors = [line for line in _NCU_ERROR.findall(both) if not _is_sign(line)]
    if errors and _APPLICATION.search(both) is None:
        return _failure(FailureKind.PROFILER_ERROR, " ".join(dict.fromkeys(errors[:3])))
    return None


def _is_sign(line: str) -> bool:
    return any(sign.line.match(line) for sign in _NCU_SIGNS)


def _ended_early(evidence: Evidence, submission: str) -> Failure | None:
    """Return the program's own failure; under ncu one without a traceback is a death."""
    failure = why_ended(evidence, submission)
    if failure is not None and failure.kind is FailureKind.SUBMISSION_ERROR:
        device = evidence.exit_code == CUDA_ERROR
        if _TRACEBACK not in evidence.stderr and not device:
            return _failure(FailureKind.PROGRAM_DIED, failure.detail)
    if failure is None and "check" not in evidence.log and evidence.exit_code == 0:
        return _failure(FailureKind.PROGRAM_DIED, "it ended with status 0 and without a verdict")
    return failure


def _nothing_captured(evidence: Evidence, capture: CaptureOptions) -> Failure:
    if evidence.exit_code == WRONG and _NO_KERNELS.search(evidence.stdout) is None:
        return _failure(FailureKind.WRONG_ANSWER, _check_message(evidence.log))
    listed = _AVAILABLE.search(evidence.stdout)
    if listed is not None and capture.kernel_name is not None:
        names = ", ".join(_NUMBERED.findall(listed[1]))
        return _failure(FailureKind.FILTER_MATCHED_NONE, names)
    rival = _OTHER_PROFILER.search(evidence.stderr)
    if rival is not None:
        return _failure(FailureKind.OTHER_PROFILER, "CUPTI had more than one subscriber")
    if _NO_KERNELS.search(evidence.stdout) is not None:
        return _nothing_in_range(capture)
    home = _HOME.search(evidence.stdout) or _HOME.search(evidence.stderr)
    if home is not None:
        return _failure(FailureKind.PROFILER_LOCK, home[0])
    return _failure(FailureKind.PROFILER_ERROR, "ncu ended well and left no report")


def _nothing_in_range(capture: CaptureOptions) -> Failure:
    """Name it; ncu says the same for all causes, which a census of the launches would tell apart.

    They are: a range that never opened, one without kernels, kernels of another thread.
    """
    timed = capture.mode is CaptureMode.PROFILER_API
    detail = "the benchmark mode opens no cudaProfiler range around kernels" if timed else ""
    return _failure(FailureKind.NOTHING_IN_RANGE, detail)


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
