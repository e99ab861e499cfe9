"""A tiny kernel, profiled on the whole way of a job: files, sandbox, ncu, export, counters."""

import asyncio
import hashlib
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from counters.errors import NoTable
from counters.model import KernelReport, Metric
from counters.parse import read_report
from runner.capture.artifacts import export_names
from runner.engine import Engine
from runner.health.checks import bad, doubt, good
from runner.jobs.events import EventLog
from runner.jobs.job import Executor, LiveJob
from runner.jobs.store import Store
from runner.settings import RunnerSettings
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Benchmark,
    BenchmarkStatus,
    Failure,
    FailureKind,
    Finding,
    JobResult,
    JobSpec,
    Mode,
    PythonEvaluator,
    SourceFile,
)

PROBLEM = Path(__file__).parent / "selftest"
TIMEOUT_S = 120.0
"""Wall seconds under ncu; one that takes longer cannot profile anything."""
LOST_ABOVE = 0.05
"""Share of counters that ncu prints as no number, above which its version is doubted."""
_NO_NUMBER = frozenset({"", "nan", "-nan", "+nan", "inf", "-inf", "+inf", "n/a", "no data"})
_PERMIT = (
    "let everybody read counters: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
    "/etc/modprobe.d/, then load the driver anew; in a container, add the capability SYS_ADMIN"
)
MENDS: dict[FailureKind, str] = {
    FailureKind.COUNTERS_DENIED: _PERMIT,
    FailureKind.COUNTERS_BUSY: "stop the other profiler; for DCGM: `dcgmi profile --pause`",
    FailureKind.DRIVER_MISMATCH: "install an ncu that fits the driver, and name it in `ncu`",
    FailureKind.PROFILER_LOCK: "remove ncu's stale lock file from the temporary folder",
    FailureKind.WRONG_GPU: "set `gpu` to the name of the GPU that is really there, or unset it",
    FailureKind.SUBMISSION_ERROR: "look at the finding named python",
    FailureKind.EVALUATOR_ERROR: "look at the finding named python",
    FailureKind.NOTHING_IN_RANGE: "install a CUDA build of PyTorch whose NVTX ranges work",
}
_GENERAL = "run `ncu` by hand on this machine and mend what it says"


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What a profile of the tiny kernel left."""

    result: JobResult
    kernels: KernelReport | None


async def self_findings(
    engine: Engine, settings: RunnerSettings, scratch: Path, gpu: str = ""
) -> tuple[Finding, ...]:
    """Profile the tiny kernel and say whether its counters have values.

    `scratch` takes the files of the test, in a folder that is gone afterwards.
    """
    try:
        folder = await asyncio.to_thread(_fresh_folder, scratch)
    except OSError as error:
        return (bad("counters", f"{scratch}: {error.strerror}", "give it to the runner's user"),)
    try:
        return findings_of(await _profile(engine, settings, folder, gpu))
    except OSError as error:
        return (bad("counters", f"the tiny kernel could not be profiled: {error}", _GENERAL),)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def findings_of(test: SelfTest) -> tuple[Finding, ...]:
    """Turn a self test into findings."""
    failure = test.result.failure
    benchmark = next(iter(test.result.benchmarks), None)
    if failure is None and benchmark is not None:
        failure = benchmark.failure
        if benchmark.status is BenchmarkStatus.SUCCEEDED:
            took = f"a tiny kernel was profiled in {benchmark.duration_s:.1f} s"
            return (good("counters", took), _values(test))
    return (_failed(failure),)


def _failed(failure: Failure | None) -> Finding:
    if failure is None:
        return bad("counters", "the tiny kernel was not profiled", _GENERAL)
    text = f"the tiny kernel was not profiled: {failure.kind.value}"
    detail = f" ({failure.detail})" if failure.detail else ""
    return bad("counters", text + detail, MENDS.get(failure.kind, _GENERAL))


def _values(test: SelfTest) -> Finding:
    kernels = test.kernels.kernels if test.kernels else ()
    metrics = [metric for kernel in kernels for metric in kernel.metrics]
    lost = [metric for metric in metrics if _is_lost(metric)]
    version, gpu = test.result.system.ncu_version, test.result.system.gpu
    numbers = f"{len(metrics) - len(lost)} of {len(metrics)} counters have values"
    degraded = test.kernels is not None and test.kernels.degraded
    if degraded or len(lost) > LOST_ABOVE * len(metrics):
        mend = "install another version of Nsight Compute beside it and name its ncu in `ncu`"
        return doubt("values", f"under ncu {version} on {gpu} only {numbers}", mend)
    return good("values", f"{numbers} under ncu {version}")


def _is_lost(metric: Metric) -> bool:
    return metric.value is None and metric.text.strip().lower() in _NO_NUMBER


async def _profile(engine: Engine, settings: RunnerSettings, folder: Path, gpu: str) -> SelfTest:
    store = Store(folder)
    timeout_s = TIMEOUT_S / settings.replay_factor
    spec = await asyncio.to_thread(self_test_spec, await engine.gpu(), timeout_s)
    await asyncio.to_thread(store.create, spec)
    job = LiveJob(spec, EventLog(store, spec.id, []), gpu=gpu)
    result = await Executor(engine, store, settings).execute(job)
    csv = store.artifacts(spec.id) / export_names(0)["details_csv"]
    kernels = await asyncio.to_thread(_whole_report, csv)
    return SelfTest(result, kernels)


def _whole_report(csv: Path) -> KernelReport | None:
    try:
        return read_report(csv)
    except (NoTable, FileNotFoundError):
        return None


def self_test_spec(gpu: str, timeout_s: float) -> JobSpec:
    """Return the job that profiles the tiny kernel. Blocking."""
    evaluator, submission = (_source(name) for name in ("eval.py", "submission.py"))
    return JobSpec(
        id=uuid.uuid4().hex,
        requester="doctor",
        leaderboard="self test",
        problem_commit=None,
        gpu=gpu or "unknown",
        mode=Mode.PROFILE,
        evaluator=PythonEvaluator(main=evaluator.name),
        files=(evaluator,),
        submission=submission,
        benchmarks=(Benchmark(index=0, spec="n: 1048576"),),
        capture=CaptureOptions(launch_count=1),
        timeout_s=timeout_s,
        seed=None,
        config_sha256="0" * 64,
        submission_sha256=hashlib.sha256(submission.content.encode()).hexdigest(),
    )


def _source(name: str) -> SourceFile:
    return SourceFile(name=name, content=(PROBLEM / name).read_text(encoding="utf-8"))


def _fresh_folder(parent: Path) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="self-test-", dir=parent))
