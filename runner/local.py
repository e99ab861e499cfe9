"""The engine that runs evaluators as processes on this machine."""

import asyncio
import shutil
from pathlib import Path

from runner import build, command, export
from runner.engine import Evidence, Exports, Watch
from runner.environment import evaluator_environment
from runner.process import CannotStart, Command, run
from runner.progress import ProgressReader
from runner.settings import RunnerSettings
from runner.system import competition_name, describe
from runner.text import one_line
from runner.workspace import Workspace
from runner_client.wire import Benchmark, Failure, FailureKind, JobSpec, Mode, System


class LocalEngine:
    """Processes on this machine, one benchmark at a time."""

    name: str = "local"
    recorded_on: str | None = None

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._system: System | None = None

    async def system(self) -> System:
        """Ask this machine's own programs, once: to import PyTorch takes seconds."""
        if self._system is None:
            settings = self._settings
            self._system = await describe(settings.folder, settings.ncu, settings.python)
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
        return tuple(found)

    async def prepare(
        self, spec: JobSpec, work: Workspace, cancel: asyncio.Event
    ) -> Failure | None:
        """Write the files, then compile or import once."""
        await asyncio.to_thread(work.write_files, spec)
        return await build.prepare(spec, work, self._settings, cancel)

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Run the evaluator, under ncu in profile mode."""
        await asyncio.to_thread(work.write_files, spec)
        reader = ProgressReader(spec.capture.launch_count, watch.progress)
        try:
            finished = await run(
                await asyncio.to_thread(self._command, spec, benchmark, work),
                cancel=watch.cancel,
                on_stdout=reader.feed if spec.mode is Mode.PROFILE else None,
            )
        except CannotStart as error:
            detail = one_line(str(error))
            return Evidence(failure=Failure(kind=FailureKind.RUNNER_ERROR, detail=detail))
        return Evidence(
            exit_code=finished.exit_code,
            stopped=finished.stopped,
            stdout=finished.stdout,
            stderr=finished.stderr,
            log=finished.log,
            duration_s=finished.duration_s,
            report=work.report(benchmark) if spec.mode is Mode.PROFILE else None,
        )

    async def export(
        self, evidence: Evidence, index: int, report: Path, folder: Path, work: Workspace
    ) -> Exports:
        """Run ncu's import on the copied report."""
        return await export.export(report, index, folder, work, self._settings)

    def _command(self, spec: JobSpec, benchmark: Benchmark, work: Workspace) -> Command:
        spec_file = work.write_spec(benchmark)
        argv = command.evaluator(self._settings.python, spec.evaluator, spec.mode, spec_file)
        wall_s = spec.timeout_s
        if spec.mode is Mode.PROFILE:
            report = work.report(benchmark)
            argv = command.profiled(self._settings.ncu, spec.capture, report, argv)
            wall_s *= self._settings.replay_factor
        return Command(
            argv=argv,
            cwd=work.src,
            env=evaluator_environment(spec, work.home, work.tmp),
            wall_s=wall_s,
            grace_s=self._settings.grace_s,
            popcorn=True,
        )
