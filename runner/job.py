"""One job from its first program to its result."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.artifacts import NotTaken, report_name, take
from runner.engine import Engine, Evidence, Watch
from runner.events import NOW, EventLog
from runner.manifest import manifest_of, write_manifest
from runner.outcome import Captured, never_run, read_kernels, result_of
from runner.progress import Progress
from runner.settings import RunnerSettings
from runner.store import Store
from runner.workspace import Workspace, workspace
from runner_client.wire import (
    Artifact,
    Benchmark,
    BenchmarkResult,
    Capturing,
    Exporting,
    Failure,
    FailureKind,
    JobEvent,
    JobResult,
    JobSpec,
    Mode,
    Preparing,
    System,
)


@dataclass(slots=True)
class LiveJob:
    """A job that is queued or running. `cancel` is set once, by anybody."""

    spec: JobSpec
    log: EventLog
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    ahead: int = -1


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs jobs with one engine; holds no state of any job."""

    engine: Engine
    store: Store
    settings: RunnerSettings

    async def execute(self, job: LiveJob) -> JobResult:
        """Run every benchmark of a job and write its manifest."""
        spec = job.spec
        system = await self.engine.system()
        folder = await asyncio.to_thread(self.store.clear_artifacts, spec.id)
        await job.log.emit(Preparing(number=0, at=NOW))
        async with _workspace(self.store.work, spec.id) as work:
            run = _Run(self, job, work, folder)
            failure = await self.engine.prepare(spec, work, job.cancel)
            if failure is None and job.cancel.is_set():
                failure = Failure(kind=FailureKind.CANCELLED)
            if failure is not None:
                return failed(failure, system, self.engine.recorded_on)
            results = tuple([await run.benchmark(one) for one in spec.benchmarks])
        return await self._finish(spec, system, results, folder)

    async def _finish(
        self, spec: JobSpec, system: System, results: tuple[BenchmarkResult, ...], folder: Path
    ) -> JobResult:
        manifest = manifest_of(spec, system, results, self.engine.recorded_on)
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
    folder: Path

    async def benchmark(self, benchmark: Benchmark) -> BenchmarkResult:
        if self.job.cancel.is_set():
            return never_run(benchmark, FailureKind.CANCELLED)
        evidence = await self._capture(benchmark)
        captured = await self._take(benchmark, evidence)
        return await asyncio.to_thread(result_of, self.job.spec, benchmark, evidence, captured)

    async def _capture(self, benchmark: Benchmark) -> Evidence:
        spec = self.job.spec
        limit = spec.capture.launch_count if spec.mode is Mode.PROFILE else 0
        await self.job.log.emit(_capturing(benchmark, Progress(0, limit, "")))
        queue: asyncio.Queue[JobEvent | None] = asyncio.Queue()

        def progress(seen: Progress) -> None:
            queue.put_nowait(_capturing(benchmark, seen))

        watch = Watch(self.job.cancel, progress)
        publisher = asyncio.create_task(self._publish(queue))
        try:
            return await self.executor.engine.capture(spec, benchmark, self.work, watch)
        finally:
            queue.put_nowait(None)
            await publisher

    async def _publish(self, queue: "asyncio.Queue[JobEvent | None]") -> None:
        while (event := await queue.get()) is not None:
            await self.job.log.emit(event)

    async def _take(self, benchmark: Benchmark, evidence: Evidence) -> Captured:
        if evidence.report is None:
            return Captured()
        try:
            report = await self._copy(benchmark, evidence.report)
        except NotTaken as error:
            return Captured(refused=str(error))
        return Captured() if report is None else await self._export(benchmark, evidence, report)

    async def _copy(self, benchmark: Benchmark, source: Path) -> Artifact | None:
        target = self.folder / report_name(benchmark)
        limit = self.executor.settings.max_report_bytes
        return await asyncio.to_thread(take, source, target, limit)

    async def _export(self, benchmark: Benchmark, evidence: Evidence, report: Artifact) -> Captured:
        await self.job.log.emit(Exporting(number=0, at=NOW, benchmark=benchmark.index))
        exports = await self.executor.engine.export(
            evidence, benchmark.index, self.folder / report.name, self.folder, self.work
        )
        kernels = await asyncio.to_thread(read_kernels, exports.details_csv)
        return Captured(report=report, exports=exports, kernels=kernels)


def _capturing(benchmark: Benchmark, seen: Progress) -> Capturing:
    return Capturing(
        number=0,
        at=NOW,
        benchmark=benchmark.index,
        kernel=seen.kernel,
        limit=seen.limit,
        name=seen.name,
    )


@asynccontextmanager
async def _workspace(parent: Path, job_id: str) -> AsyncIterator[Workspace]:
    manager = workspace(parent, job_id)
    work = await asyncio.to_thread(manager.__enter__)
    try:
        yield work
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)
