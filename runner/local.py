"""The engine that runs evaluators as processes on this machine."""

import asyncio
import shutil
from pathlib import Path

from msgspec.structs import replace

from runner.capture import build, export
from runner.capture.modes import Capture, CensusLibrary, unavailable
from runner.capture.programs import Programs
from runner.capture.workspace import Workspace
from runner.engine import Evidence, Exports, Watch
from runner.health.gpus import gpus_to_use
from runner.health.system import competition_name, describe
from runner.isolation.gpu_holders import GpuHolders
from runner.isolation.jail import Jail
from runner.settings import RunnerSettings
from runner_client.wire import Benchmark, Failure, JobSpec, System


class LocalEngine:
    """Processes on this machine, one benchmark at a time."""

    name: str = "local"
    recorded_on: str | None = None

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._system: System | None = None
        self._jail = Jail(settings)
        self._holders = GpuHolders(settings.folder)
        self._library = CensusLibrary(settings)

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
        missing = await asyncio.to_thread(unavailable, self._settings, spec.capture)
        if missing is not None:
            return missing
        await self._holders.gone(work.gpu)
        await asyncio.to_thread(work.write_files, spec)
        return await build.prepare(spec, work, self._settings, self._jail, cancel)

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Run the evaluator, in profile mode as the capture's mode says."""
        programs = Programs(self._settings, self._jail, spec, benchmark, work, watch)
        return await Capture(programs, self._library).run()

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
