"""One job from its first program to its result."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.capture.artifacts import NotTaken, keep_census, report_name, take
from runner.capture.manifest import manifest_of, write_manifest
from runner.capture.outcome import Captured, never_run, read_kernels, result_of
from runner.capture.progress import Progress, Publisher
from runner.capture.workspace import Workspace, workspace
from runner.engine import Engine, Evidence, Watch
from runner.isolation.limits import Account, Limits
from runner.jobs.events import NOW, EventLog
from runner.jobs.records import Capture, Reached, Records
from runner.jobs.store import Store
from runner.settings import RunnerSettings
from runner_client.captures import WITHOUT_COUNTERS, CaptureMode
from runner_client.wire import (
    Artifact,
    Benchmark,
    BenchmarkResult,
    Capturing,
    Exporting,
    Failure,
    FailureKind,
    JobResult,
    JobSpec,
    Mode,
    Preparing,
    Retrying,
    System,
)


@dataclass(slots=True)
class LiveJob:
    """A job that is queued or running.

    `cancel` is set once, by anybody. `gpu` is the one that it runs on, known when it starts.
    `ahead` is the place that was told last.
    """

    spec: JobSpec
    log: EventLog
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    gpu: str = ""
    ahead: int = -1


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs jobs with one engine; holds no state of any job."""

    engine: Engine
    store: Store
    settings: RunnerSettings

    @property
    def proven(self) -> bool:
        """Return whether this machine's counters were seen to work, without a submission."""
        return False

    def ended(self, job: LiveJob, result: JobResult) -> None:
        """Take note of a job whose result is kept, also of one that was never executed."""

    async def execute(self, job: LiveJob) -> JobResult:
        """Run every benchmark of a job and write its manifest.

        What an earlier run has reached is not done again: a benchmark that is finished keeps its
        result, of one that was captured only the export is made anew. Raises OSError.
        """
        records = self.store.records(job.spec.id)
        lost = await asyncio.to_thread(records.begin)
        try:
            return await self._run(job, records, lost)
        except asyncio.CancelledError:
            records.stopped()
            raise

    async def _run(self, job: LiveJob, records: Records, lost: int) -> JobResult:
        spec = job.spec
        system = await self.engine.system()
        reached = await asyncio.to_thread(records.reached)
        await job.log.emit(Preparing(number=0, at=NOW))
        async with _workspace(self.store.work, spec.id, job.gpu) as work:
            account = Account(Limits.of(self.settings))
            run = _Run(self, job, work, records, reached, account)
            refused = self._given_up(lost) or account.limits.refusal(spec)
            failure = refused or await self._prepare(job, work, reached)
            if failure is not None and not reached.any:
                return failed(failure, system, self.engine.recorded_on)
            results = tuple([await run.benchmark(one, failure) for one in spec.benchmarks])
        return await self._finish(spec, system, results, records.artifacts)

    def _given_up(self, lost: int) -> Failure | None:
        """Break the circle of a job that takes the runner down each time."""
        if lost < self.settings.max_starts:
            return None
        return Failure(kind=FailureKind.RUNNER_LOST, detail=f"it was begun {lost} times")

    async def _prepare(self, job: LiveJob, work: Workspace, reached: Reached) -> Failure | None:
        if all(reached.has(benchmark) for benchmark in job.spec.benchmarks):
            return None
        if not job.cancel.is_set():
            failure = await self.engine.prepare(job.spec, work, job.cancel)
            if failure is not None:
                return failure
        return Failure(kind=FailureKind.CANCELLED) if job.cancel.is_set() else None

    async def _finish(
        self, spec: JobSpec, system: System, results: tuple[BenchmarkResult, ...], folder: Path
    ) -> JobResult:
        limits = Limits.of(self.settings)
        manifest = manifest_of(spec, system, results, self.engine.recorded_on, limits)
        return JobResult(
            failure=None,
            benchmarks=results,
            system=system,
            manifest=await asyncio.to_thread(write_manifest, manifest, folder),
            recorded_on=self.engine.recorded_on,
        )


def failed(failure: Failure, system: System, recorded_on: str | None = None) -> JobResult:
    """Return the result of a job that ended before its first benchmark."""
    return JobResult(
        failure=failure, benchmarks=(), system=system, manifest=None, recorded_on=recorded_on
    )


@dataclass(frozen=True, slots=True)
class _Run:
    executor: Executor
    job: LiveJob
    work: Workspace
    records: Records
    reached: Reached
    account: Account

    async def benchmark(self, benchmark: Benchmark, unprepared: Failure | None) -> BenchmarkResult:
        """Return the result, from disk as far as an earlier run has come."""
        finished = self.reached.results.get(benchmark.index)
        if finished is not None:
            return finished
        capture = self.reached.captures.get(benchmark.index)
        if capture is not None:
            return await self._taken_up(benchmark, capture, unprepared)
        if unprepared is not None:
            return never_run(benchmark, unprepared)
        if self.job.cancel.is_set():
            return never_run(benchmark, Failure(kind=FailureKind.CANCELLED))
        used_up = self.account.used_up()
        if used_up is not None:
            return never_run(benchmark, used_up)
        result = await self._once(benchmark)
        return await self._once(benchmark) if await self._again(benchmark, result) else result

    async def _again(self, benchmark: Benchmark, result: BenchmarkResult) -> bool:
        """Wait, and return True, where another tool held the counters."""
        failure = result.failure
        if failure is None or failure.kind is not FailureKind.COUNTERS_BUSY:
            return False
        wait_s = self.executor.settings.busy_retry_s
        await self.job.log.emit(_retrying(benchmark, failure.kind, wait_s))
        with suppress(TimeoutError):
            await asyncio.wait_for(self.job.cancel.wait(), wait_s)
        return not self.job.cancel.is_set()

    async def _once(self, benchmark: Benchmark) -> BenchmarkResult:
        evidence = await self._capture(benchmark)
        try:
            report = await self._take(benchmark, evidence)
        except NotTaken as error:
            return await self._result(benchmark, evidence, Captured(refused=error.failure))
        return await self._judge(benchmark, evidence, report)

    async def _taken_up(
        self, benchmark: Benchmark, capture: Capture, unprepared: Failure | None
    ) -> BenchmarkResult:
        if unprepared is not None and unprepared.kind is FailureKind.RUNNER_LOST:
            # The export itself may be what takes the runner down: the report goes out as it is.
            evidence = replace(capture.evidence, failure=unprepared)
            return await self._result(benchmark, evidence, Captured(report=capture.report))
        return await self._judge(benchmark, capture.evidence, capture.report)

    async def _judge(
        self, benchmark: Benchmark, evidence: Evidence, report: Artifact | None
    ) -> BenchmarkResult:
        if report is None:
            return await self._result(benchmark, evidence, Captured())
        captured = await self._export(benchmark, evidence, report)
        if captured.exports.details_csv is None and self.job.cancel.is_set():
            evidence = replace(evidence, failure=Failure(kind=FailureKind.CANCELLED))
        return await self._result(benchmark, evidence, captured)

    async def _result(
        self, benchmark: Benchmark, evidence: Evidence, captured: Captured
    ) -> BenchmarkResult:
        if evidence.census is not None:
            folder = self.records.artifacts
            census = await asyncio.to_thread(keep_census, evidence.census, benchmark.index, folder)
            captured = replace(captured, census=census)
        result = await asyncio.to_thread(result_of, self.job.spec, benchmark, evidence, captured)
        await asyncio.to_thread(self.records.save_result, result)
        return result

    async def _capture(self, benchmark: Benchmark) -> Evidence:
        spec = self.job.spec
        await self.job.log.emit(_capturing(benchmark, _beginning(spec)))

        async def tell(seen: Progress) -> None:
            await self.job.log.emit(_capturing(benchmark, seen))

        publisher = Publisher(tell)
        watch = Watch(self.job.cancel, publisher.show, self.account.budget)
        try:
            evidence = await self.executor.engine.capture(spec, benchmark, self.work, watch)
        finally:
            await publisher.close()
        return replace(evidence, proven=self.executor.proven)

    async def _take(self, benchmark: Benchmark, evidence: Evidence) -> Artifact | None:
        """Copy the report out of the submission's reach, and keep that it is captured."""
        if evidence.report is None:
            return None
        mode = evidence.mode or CaptureMode.FIRST
        target = self.records.artifacts / report_name(benchmark, mode)
        limit = self.account.limits.largest_report
        report = await asyncio.to_thread(take, evidence.report, target, limit)
        if report is not None:
            self.account.took(report.size)
            await asyncio.to_thread(self.records.save_capture, benchmark.index, evidence, report)
        return report

    async def _export(self, benchmark: Benchmark, evidence: Evidence, report: Artifact) -> Captured:
        await self.job.log.emit(Exporting(number=0, at=NOW, benchmark=benchmark.index))
        folder = self.records.artifacts
        # What a cancelled capture left is still exported.
        cancel = asyncio.Event() if self.job.cancel.is_set() else self.job.cancel
        exports = await self.executor.engine.export(
            evidence, benchmark.index, folder / report.name, self.work, cancel
        )
        kernels = await asyncio.to_thread(read_kernels, exports.details_csv)
        return Captured(report=report, exports=exports, kernels=kernels)


def _beginning(spec: JobSpec) -> Progress:
    """Return what is told before the first program: a census says itself that it begins."""
    counted = spec.capture.mode is CaptureMode.HOT or spec.capture.mode in WITHOUT_COUNTERS
    without_ncu = counted or spec.mode is not Mode.PROFILE
    return Progress(0, 0 if without_ncu else spec.capture.launch_count, "", connected=False)


def _capturing(benchmark: Benchmark, seen: Progress) -> Capturing:
    return Capturing(
        number=0,
        at=NOW,
        benchmark=benchmark.index,
        kernel=seen.kernel,
        limit=seen.limit,
        name=seen.name,
        connected=seen.connected,
        percent=seen.percent,
        passes=seen.passes,
        counting=seen.counting,
        census=seen.census,
    )


def _retrying(benchmark: Benchmark, reason: FailureKind, wait_s: float) -> Retrying:
    return Retrying(number=0, at=NOW, benchmark=benchmark.index, reason=reason, wait_s=wait_s)


@asynccontextmanager
async def _workspace(parent: Path, job_id: str, gpu: str) -> AsyncIterator[Workspace]:
    manager = workspace(parent, job_id, gpu)
    work = await asyncio.to_thread(manager.__enter__)
    try:
        yield work
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)
