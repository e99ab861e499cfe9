"""The capture modes: which programs are started for a benchmark, and what follows from each."""

import asyncio
import shutil
from dataclasses import dataclass, replace

from runner.capture import command
from runner.capture.classify import FINE
from runner.capture.counting import found_by, place_of, report_of
from runner.capture.programs import Around, Programs
from runner.capture.progress import Progress
from runner.capture.workspace import report_file
from runner.census import build
from runner.census.choose import choose
from runner.census.environment import binds, environment
from runner.census.model import Census, Choice, Library, Missing
from runner.census.reading import clear, read
from runner.engine import Evidence, Judged
from runner.isolation.limits import Limits
from runner.settings import EngineName, RunnerSettings, SandboxName
from runner_client.captures import TIMED, CaptureMode, CaptureOptions
from runner_client.wire import Failure, FailureKind, Mode

LEAST_S = 5.0
"""A second run gets this long, however long the census before it took."""
NO_CENSUS = "the operator has switched the census off"
NO_NSYS = "this machine has no Nsight Systems: name its program in the runner's setting `nsys`"
PROGRAM_FAILED = "the program failed while its kernels were counted"
NOTHING_COUNTED = "the census saw no kernel in the range that ncu could capture"
NOT_MET = "ncu met none of the kernels that the census named"


class CensusLibrary:
    """The census library of one runner, built when it is first asked for."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._found: Library | Missing | None = None
        self._finding = asyncio.Lock()

    async def get(self) -> Library | Missing:
        """Return the library, or why there is none; what is missing is looked for again."""
        if not self._settings.census:
            return Missing(NO_CENSUS)
        async with self._finding:
            if not isinstance(self._found, Library):
                self._found = await build.library(self._settings)
            return self._found


def offered(settings: RunnerSettings, *, census: bool) -> tuple[CaptureMode, ...]:
    """Return the modes that a runner offers; `census` says that it can count. Blocking."""
    modes = [CaptureMode.HOT, CaptureMode.FIRST]
    if settings.engine is EngineName.RECORDED:
        return tuple(modes)
    modes += [CaptureMode.RANGE, CaptureMode.PROFILER_API]
    if settings.engine is EngineName.LOCAL and shutil.which(settings.nsys):
        modes.append(CaptureMode.TIMELINE)
    if census and settings.census:
        modes.append(CaptureMode.CENSUS)
    return tuple(modes)


def unavailable(settings: RunnerSettings, capture: CaptureOptions) -> Failure | None:
    """Return why a mode cannot be run on this machine. Blocking."""
    if capture.mode is CaptureMode.TIMELINE and shutil.which(settings.nsys) is None:
        return Failure(kind=FailureKind.CAPTURE_UNAVAILABLE, detail=NO_NSYS)
    return None


@dataclass(frozen=True, slots=True)
class Count:
    """What one run under the census library left."""

    evidence: Evidence
    census: Census

    @property
    def ended(self) -> bool:
        """Return whether nothing more is to be run: it was stopped, or the job is at fault."""
        return self.evidence.stopped is not None or self.evidence.failure is not None

    @property
    def fine(self) -> bool:
        """Return whether the program came to its end, be its answer right or wrong."""
        return self.evidence.exit_code in FINE

    @property
    def judged(self) -> Judged:
        """Return by what the program is judged."""
        one = self.evidence
        return Judged(exit_code=one.exit_code, stdout=one.stdout, stderr=one.stderr, log=one.log)


@dataclass(frozen=True, slots=True)
class Capture:
    """The capture of one benchmark, by the mode that the job asks for."""

    programs: Programs
    library: CensusLibrary

    async def run(self) -> Evidence:
        """Start what the mode needs, one program after the other."""
        spec = self.programs.spec
        if spec.mode is not Mode.PROFILE:
            return await self.programs.start(spec.mode, Around(wall_s=self._wall_s))
        match spec.capture.mode:
            case CaptureMode.HOT:
                return await self._hot()
            case CaptureMode.FIRST:
                return await self._first_counted()
            case CaptureMode.CENSUS:
                return await self._census()
            case _:
                return await self._profiled(spec.capture.mode)

    async def _hot(self) -> Evidence:
        count = await self.count()
        if isinstance(count, Missing):
            return await self._first(count.reason)
        if count.ended:
            return replace(count.evidence, mode=CaptureMode.HOT)
        if not count.fine:
            return await self._first(PROGRAM_FAILED, count)
        choice = choose(count.census, self.programs.spec.capture.launch_count)
        if choice is None:
            return await self._first(NOTHING_COUNTED, count)
        found = await self._profiled(CaptureMode.HOT, choice, count)
        if found.failure is None and found.stopped is None and not await self._has_report():
            return await self._first(NOT_MET, count, found.duration_s)
        return replace(found, judged=count.judged, chosen=choice.kernels, place=place_of(choice))

    async def _first_counted(self) -> Evidence:
        if not self.programs.spec.capture.census:
            return await self._first()
        count = await self.count()
        if isinstance(count, Missing):
            return await self._first()
        if count.ended:
            return replace(count.evidence, mode=CaptureMode.FIRST)
        return await self._first("", count)

    async def _first(
        self, fallback: str = "", count: Count | None = None, taken_s: float = 0.0
    ) -> Evidence:
        found = await self._profiled(CaptureMode.FIRST, None, count, taken_s)
        return replace(found, fallback=fallback)

    async def _census(self) -> Evidence:
        count = await self.count()
        if isinstance(count, Missing):
            failure = Failure(kind=FailureKind.CAPTURE_UNAVAILABLE, detail=count.reason)
            return Evidence(failure=failure, mode=CaptureMode.CENSUS)
        return replace(count.evidence, mode=CaptureMode.CENSUS, census=report_of(count.census))

    async def count(self) -> Count | Missing:
        """Run the evaluator as ncu would have it, with the census library in place of ncu."""
        library = await self.library.get()
        if isinstance(library, Missing):
            return library
        programs = self.programs
        programs.watch.progress(Progress(0, 0, "", connected=False, counting=True))
        folder = programs.work.out
        await asyncio.to_thread(clear, folder)
        seen = await programs.jail.places(programs.work)
        sandboxed = programs.settings.sandbox is not SandboxName.NONE
        around = Around(
            wall_s=self._wall_s,
            env=environment(library, seen.out, sandboxed=sandboxed),
            binds=binds(library) if sandboxed else (),
        )
        evidence = await programs.start(Mode.PROFILE, around)
        census = await asyncio.to_thread(read, folder)
        await asyncio.to_thread(clear, folder)
        return Count(evidence, census)

    async def _profiled(
        self,
        mode: CaptureMode,
        choice: Choice | None = None,
        count: Count | None = None,
        taken_s: float = 0.0,
    ) -> Evidence:
        programs = self.programs
        capture, settings = programs.spec.capture, programs.settings
        taken_s += count.evidence.duration_s if count else 0.0
        seen = await programs.jail.places(programs.work)
        report = seen.out / report_file(programs.benchmark, mode)
        if mode is CaptureMode.TIMELINE:
            argv, limit = command.timeline(settings.nsys, report, ()), 0
        else:
            asked = _as(capture, mode)
            argv = command.profiled(settings.ncu, asked, report, (), choice)
            limit = choice.count if choice else capture.launch_count
        around = Around(
            wall_s=max(self._wall_s - taken_s, LEAST_S) if taken_s else self._wall_s,
            argv=argv,
            limit=limit,
            report=programs.work.report(programs.benchmark, mode),
            census=found_by(count.census, choice) if count and count.fine else None,
        )
        if around.census is not None:
            told = Progress(0, limit, "", connected=False, census=around.census)
            programs.watch.progress(told)
        found = await programs.start(Mode.BENCHMARK if mode in TIMED else Mode.PROFILE, around)
        return replace(
            found,
            mode=mode,
            duration_s=found.duration_s + taken_s,
            census=report_of(count.census) if count and count.census.launches else None,
        )

    async def _has_report(self) -> bool:
        path = self.programs.work.report(self.programs.benchmark)
        return await asyncio.to_thread(path.is_file)

    @property
    def _wall_s(self) -> float:
        return Limits.of(self.programs.settings).wall_s(self.programs.spec)


def _as(capture: CaptureOptions, mode: CaptureMode) -> CaptureOptions:
    return CaptureOptions(
        kernel_name=capture.kernel_name,
        kernel_name_base=capture.kernel_name_base,
        launch_count=capture.launch_count,
        mode=mode,
        preset=capture.preset,
    )
