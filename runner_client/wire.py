"""The wire types of the runner's HTTP contract, version 1. Frozen, validated once when decoded.

Both sides treat what they decode as hostile: names come from closed patterns, texts and lists are
bounded, and an unknown field is an error, so that a misspelt one cannot be dropped in silence.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, field

from runner_client.captures import CaptureMode, CaptureOptions, CensusFound, Coverage
from runner_client.values import Count, Index, Seconds, ShortText, Text, Value

API = "/v1"
SHA256_HEADER = "X-Content-SHA256"
"""Beside every artifact: the hex SHA-256 of its bytes."""
MAX_SOURCE_BYTES = 1_000_000
"""Largest submission, as users of the hosted command line know it."""

JobId = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
"""A flat name: no separator, no leading dot or dash."""
ArtifactName = Annotated[
    str,
    Meta(
        pattern=r"^(profile\.\d{1,4}(-[A-Za-z0-9._-]{1,80})?\.(ncu|nsys)-rep"
        r"|census\.\d{1,4}\.json|nsys-kernels\.\d{1,4}\.csv"
        r"|ncu-details\.\d{1,4}\.(csv|txt)|ncu-raw\.\d{1,4}\.csv|manifest\.json)$"
    ),
]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]


class Mode(StrEnum):
    """What the evaluator is asked to do; only `profile` runs under ncu."""

    PROFILE = "profile"
    TEST = "test"
    BENCHMARK = "benchmark"


class PythonEvaluator(Value, frozen=True, tag="py", tag_field="lang"):
    """Run as `python3 MAIN MODE SPEC_FILE`."""

    main: FileName


class CudaEvaluator(Value, frozen=True, tag="cu", tag_field="lang"):
    """Compiled from `sources` with nvcc, then run as `./eval.out MODE SPEC_FILE`."""

    sources: Annotated[tuple[FileName, ...], Meta(min_length=1, max_length=50)]
    defines: dict[Annotated[str, Meta(pattern=r"^[A-Za-z_]\w{0,99}$")], ShortText] = field(
        default_factory=dict
    )


Evaluator = PythonEvaluator | CudaEvaluator


class SourceFile(Value, frozen=True):
    """One text file of the problem, or the submission."""

    name: FileName
    content: Annotated[str, Meta(max_length=4_000_000)]


class Benchmark(Value, frozen=True):
    """One entry of the task's `benchmarks` (or `tests`) list.

    `index` is its place there; `spec` the line the evaluator reads, as in `batch: 20; n: 32`.
    """

    index: Index
    spec: ShortText


class JobSpec(Value, frozen=True):
    """Everything a runner needs for one job. The same id posted twice is one job.

    `timeout_s` is the task's own limit for one benchmark; the runner multiplies it by its replay
    factor. `requester` is opaque and tells users apart in the queue. `submission.name` is the name
    under which the problem wants the file.
    """

    id: JobId
    requester: Annotated[str, Meta(min_length=1, max_length=100)]
    leaderboard: Annotated[str, Meta(min_length=1, max_length=200)]
    problem_commit: Commit | None
    gpu: Annotated[str, Meta(min_length=1, max_length=100)]
    mode: Mode
    evaluator: Evaluator
    files: Annotated[tuple[SourceFile, ...], Meta(max_length=200)]
    submission: SourceFile
    benchmarks: Annotated[tuple[Benchmark, ...], Meta(min_length=1, max_length=1_000)]
    capture: CaptureOptions
    timeout_s: Annotated[float, Meta(gt=0, le=86_400)]
    seed: int | None
    config_sha256: Sha256
    submission_sha256: Sha256


class FailureKind(StrEnum):
    """Why a job or a benchmark gave no counters, or not all. Each has a row in bot/failures.py."""

    PROFILE_MODE_MISSING = "profile-mode-missing"
    NOTHING_IN_RANGE = "nothing-in-range"
    OTHER_PROFILER = "other-profiler"
    FILTER_MATCHED_NONE = "filter-matched-none"
    PROGRAM_DIED = "program-died"
    SUBMISSION_ERROR = "submission-error"
    COMPILE_ERROR = "compile-error"
    WRONG_ANSWER = "wrong-answer"
    EVALUATOR_ERROR = "evaluator-error"
    EVALUATOR_CHANGED = "evaluator-changed"
    TIME_LIMIT = "time-limit"
    JOB_TIME_LIMIT = "job-time-limit"
    LAUNCH_LIMIT = "launch-limit"
    REPORT_LIMIT = "report-limit"
    DISK_LIMIT = "disk-limit"
    MEMORY_LIMIT = "memory-limit"
    PROCESS_LIMIT = "process-limit"
    OUTPUT_LIMIT = "output-limit"
    DISK_FULL = "disk-full"
    COUNTERS_DENIED = "counters-denied"
    COUNTERS_BUSY = "counters-busy"
    DRIVER_MISMATCH = "driver-mismatch"
    PROFILER_LOCK = "profiler-lock"
    PROFILER_ERROR = "profiler-error"
    WRONG_GPU = "wrong-gpu"
    EXPORT_FAILED = "export-failed"
    CAPTURE_UNAVAILABLE = "capture-unavailable"
    CANCELLED = "cancelled"
    NOT_RECORDED = "not-recorded"
    RUNNER_LOST = "runner-lost"
    RUNNER_ERROR = "runner-error"


class Failure(Value, frozen=True):
    """A failure's kind and the one line of evidence that goes with it.

    `detail` comes from the submission or the profiler and is never trusted: an exception line,
    ncu's own error, names of kernels.
    """

    kind: FailureKind
    detail: ShortText = ""


class Queued(Value, frozen=True, tag="queued", tag_field="event"):
    """The job waits; `ahead` jobs have to end before it starts. It can change either way."""

    number: Count
    at: datetime
    ahead: Count


class Preparing(Value, frozen=True, tag="preparing", tag_field="event"):
    """The submission is compiled, or imported once unprofiled."""

    number: Count
    at: datetime


class Capturing(Value, frozen=True, tag="capturing", tag_field="event"):
    """Kernel `kernel` of at most `limit` is being captured; 0 before the first.

    `connected`: ncu has hold of the program. `percent` of the kernel's passes are done; `passes` is
    their number once ncu said it, else 0. Without ncu (modes test and benchmark) the evaluator
    runs, and `kernel` and `limit` stay 0. A forged value is possible: it is only shown.
    `counting`: a census is made, without ncu. `census` is what one found before this run.
    """

    number: Count
    at: datetime
    benchmark: Index
    kernel: Count
    limit: Count
    name: ShortText = ""
    connected: bool = False
    percent: Annotated[int, Meta(ge=0, le=100)] = 0
    passes: Annotated[int, Meta(ge=0, le=9_999)] = 0
    counting: bool = False
    census: CensusFound | None = None


class Retrying(Value, frozen=True, tag="retrying", tag_field="event"):
    """The capture of `benchmark` failed by `reason` and is tried again in `wait_s` seconds."""

    number: Count
    at: datetime
    benchmark: Index
    reason: FailureKind
    wait_s: Seconds


class Exporting(Value, frozen=True, tag="exporting", tag_field="event"):
    """The report of `benchmark` is turned into text and CSV."""

    number: Count
    at: datetime
    benchmark: Index


class Ended(Value, frozen=True, tag="ended", tag_field="event"):
    """The last event: the job's result can be fetched."""

    number: Count
    at: datetime


JobEvent = Queued | Preparing | Capturing | Retrying | Exporting | Ended


class JobEvents(Value, frozen=True):
    """Answer to a long poll: the events after the asked number, oldest first; maybe none."""

    events: tuple[JobEvent, ...]


class Artifact(Value, frozen=True):
    """A file of the result: bytes, and the SHA-256 the runner measured."""

    name: ArtifactName
    size: Count
    sha256: Sha256


class BenchmarkStatus(StrEnum):
    """`succeeded` is said only where the CSV names a kernel with finite values."""

    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"


class Check(Value, frozen=True):
    """What the evaluator said of the output's correctness. It is not believed, only shown."""

    passed: bool
    message: ShortText = ""


class BenchmarkResult(Value, frozen=True):
    """What became of one benchmark.

    `kernels`: launches in the CSV. `missing_share`: table cells without a finite value over all
    table cells. `log`: what the evaluator wrote to POPCORN_FD, bounded. `output_tail`: the end of
    its two streams, bounded. `coverage`: how much of the call it stands for.
    """

    index: Index
    spec: ShortText
    status: BenchmarkStatus
    failure: Failure | None = None
    kernels: Count = 0
    degraded: bool = False
    missing_share: Annotated[float, Meta(ge=0, le=1)] = 0.0
    check: Check | None = None
    log: dict[ShortText, Text] = field(default_factory=dict)
    output_tail: Text = ""
    duration_s: Seconds = 0.0
    artifacts: Annotated[tuple[Artifact, ...], Meta(max_length=8)] = ()
    coverage: Coverage | None = None


class LimitsInForce(Value, frozen=True):
    """The sandbox and the bounds around a program. Bytes, seconds; 0 where there is no bound.

    `sandbox` is `bubblewrap` or `none`. `enforced_by` says who bounds memory and processes of a
    whole program: `cgroup v2`, `cgroup v1`, or `rlimit and watch` (the kernel bounds processes of
    the user, the runner sums the memory) or `watch` (the runner sums both). CPU time, open files
    and file size are bounded for each process by the kernel.
    """

    sandbox: ShortText
    enforced_by: ShortText
    user: ShortText
    memory_bytes: Count
    processes: Count
    open_files: Count
    file_bytes: Count
    job_bytes: Count
    shm_bytes: Count
    cpu_s: Count
    capabilities: Annotated[tuple[ShortText, ...], Meta(max_length=50)] = ()


class System(Value, frozen=True):
    """The machine a job ran on; goes into the manifest."""

    gpu: ShortText
    device_count: Count = 0
    driver: ShortText = ""
    ncu_version: ShortText = ""
    cpu: ShortText = ""
    platform: ShortText = ""
    runtime: ShortText = "CUDA"
    torch: ShortText = ""
    hostname: ShortText = ""
    limits: LimitsInForce | None = None


class JobState(StrEnum):
    """A job's state on the runner."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


class JobResult(Value, frozen=True):
    """The outcome of a job, one entry a benchmark in the order asked.

    `failure` is set when the job ended before any benchmark could (compile error, cancelled,
    runner error). `recorded_on` names the GPU where a recording was replayed in place of a run.
    """

    failure: Failure | None
    benchmarks: tuple[BenchmarkResult, ...]
    system: System
    manifest: Artifact | None
    recorded_on: ShortText | None = None


class JobStatus(Value, frozen=True):
    """Answer to POST and GET of a job."""

    id: JobId
    state: JobState
    result: JobResult | None = None


class Level(StrEnum):
    """How bad a finding is; only a problem keeps a runner from profiling."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(Value, frozen=True):
    """What one check of `ncubot doctor` found, and what to do about it."""

    check: ShortText
    level: Level
    text: ShortText
    mend: ShortText = ""


class Health(Value, frozen=True):
    """Answer to GET /v1/health. `gpu` is the name as the competition YAMLs write it (`H200`).

    `slots` jobs can run at the same time, one a GPU. `findings` are those of the last check;
    `checking` while the first one runs, when jobs are taken and wait. `captures` are the modes that
    this runner offers.
    """

    engine: ShortText
    gpu: ShortText
    system: System
    queued: Count
    running: Count
    slots: Count = 1
    problems: Annotated[tuple[ShortText, ...], Meta(max_length=50)] = ()
    """What keeps this runner from profiling, one sentence each; empty when it can."""
    recorded_on: ShortText | None = None
    checking: bool = False
    findings: Annotated[tuple[Finding, ...], Meta(max_length=50)] = ()
    captures: Annotated[tuple[CaptureMode, ...], Meta(max_length=20)] = (CaptureMode.FIRST,)


class Refusal(Value, frozen=True):
    """Body of every answer that is not 2xx."""

    error: ShortText
