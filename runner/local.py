"""The engine that runs evaluators as processes on this machine."""

import asyncio
import shutil
from pathlib import Path

from msgspec.structs import replace

from runner.capture import build, command, export
from runner.capture.environment import evaluator_environment
from runner.capture.progress import ProgressReader
from runner.capture.workspace import Workspace, report_file
from runner.engine import Evidence, Exports, Watch
from runner.health.gpus import gpus_to_use
from runner.health.system import competition_name, describe
from runner.isolation.gpu_holders import GpuHolders
from runner.isolation.halt import Halt
from runner.isolation.jail import Jail
from runner.isolation.limits import Limits, watched
from runner.isolation.process import CannotStart, Command, run
from runner.settings import RunnerSettings
from runner.text import one_line, seconds_words
from runner_client.wire import Benchmark, Failure, FailureKind, JobSpec, Mode, System


class LocalEngine:
    """Processes on this machine, one benchmark at a time."""

    name: str = "local"
    recorded_on: str | None = None

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._system: System | None = None
        self._jail = Jail(settings)
        self._holders = GpuHolders(settings.folder)

    async def system(self) -> System:
        """Ask this machine's own programs, once: to import PyTorch takes seconds."""
        if self._system is None:
            settings = self._settings
            system = await describe(settings.folder, settings.ncu, settings.python)
            self._system = replace(system, limits=await self._jail.limits())
        return self._system

    async def gpu(self) -> str:
        """Return the configured name, else the driver's shortened."""
        return self._settings.gpu or competition_name((await self.system()).gpu)

    async def problems(self) -> tuple[str, ...]:
        """Name what is missing for a capture."""
        found = []
        if not await self.gpu():
            found.append("no NVIDIA GPU was found: is the driver loaded?")
        for program, use in ((self._settings.ncu, "profile"), (self._settings.python, "evaluate")):
            if await asyncio.to_thread(shutil.which, program) is None:
                found.append(f"`{program}` was not found: this runner cannot {use}")
        return (*found, *await self._jail.problems())

    async def gpus(self) -> tuple[str, ...]:
        """Ask the driver, and narrow as the settings say."""
        settings = self._settings
        return await gpus_to_use(settings.folder, settings.gpus, await self.gpu())

    async def sandbox_fault(self) -> str:
        """Start a trivial program in the sandbox."""
        return await self._jail.fault()

    async def prepare(
        self, spec: JobSpec, work: Workspace, cancel: asyncio.Event
    ) -> Failure | None:
        """Wait until an earlier job has left the GPU; write the files, compile or import once."""
        await self._holders.gone(work.gpu)
        await asyncio.to_thread(work.write_files, spec)
        return await build.prepare(spec, work, self._settings, self._jail, cancel)

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Run the evaluator, under ncu in profile mode."""
        await asyncio.to_thread(work.write_files, spec)
        reader = ProgressReader(spec.capture.launch_count, watch.progress)
        limits, halt = Limits.of(self._settings), Halt()
        try:
            async with watched(halt, work, watch.budget, limits):
                finished = await run(
                    await self._command(spec, benchmark, work),
                    cancel=watch.cancel,
                    halt=halt,
                    on_stdout=reader.feed if spec.mode is Mode.PROFILE else None,
                )
        except CannotStart as error:
            detail = one_line(str(error))
            return Evidence(failure=Failure(kind=FailureKind.RUNNER_ERROR, detail=detail))
        changed = await asyncio.to_thread(work.changed, spec)
        return Evidence(
            failure=_changed(changed) if changed else None,
            exit_code=finished.exit_code,
            stopped=finished.stopped,
            figure=halt.figure_of(finished.stopped) or seconds_words(limits.wall_s(spec)),
            last_kernel=reader.seen.name,
            stdout=finished.stdout,
            stderr=finished.stderr,
            log=finished.log,
            duration_s=finished.duration_s,
            report=work.report(benchmark) if spec.mode is Mode.PROFILE else None,
        )

    async def export(
        self,
        evidence: Evidence,
        index: int,
        report: Path,
        work: Workspace,
        cancel: asyncio.Event,
    ) -> Exports:
        """Run ncu's import on the copied report."""
        return await export.export(report, index, work, self._settings, self._jail, cancel)

    async def _command(self, spec: JobSpec, benchmark: Benchmark, work: Workspace) -> Command:
        seen = await self._jail.places(work)
        spec_file = seen.given / await asyncio.to_thread(work.write_spec, benchmark)
        argv = command.evaluator(self._settings.python, spec.evaluator, spec.mode, spec_file)
        if spec.mode is Mode.PROFILE:
            report = seen.out / report_file(benchmark)
            argv = command.profiled(self._settings.ncu, spec.capture, report, argv)
        return Command(
            argv=argv,
            cwd=seen.src,
            env=evaluator_environment(spec, seen.home, seen.tmp, work.gpu),
            wall_s=Limits.of(self._settings).wall_s(spec),
            grace_s=self._settings.grace_s,
            popcorn=True,
            max_output=self._settings.max_output_bytes,
            cell=await self._jail.evaluator(work, spec),
        )


def _changed(names: tuple[str, ...]) -> Failure:
    return Failure(kind=FailureKind.EVALUATOR_CHANGED, detail=one_line(", ".join(names)))
