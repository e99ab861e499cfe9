"""One start of an evaluator, plain or under a profiler, watched and to its end."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.capture import command
from runner.capture.environment import evaluator_environment
from runner.capture.progress import ProgressReader
from runner.capture.workspace import Workspace
from runner.engine import Evidence, Watch
from runner.isolation.halt import Halt
from runner.isolation.jail import Jail
from runner.isolation.limits import Limits, watched
from runner.isolation.process import CannotStart, Command, run
from runner.isolation.sandbox import Bind
from runner.settings import RunnerSettings
from runner.text import one_line, seconds_words
from runner_client.captures import CensusFound
from runner_client.wire import Benchmark, Failure, FailureKind, JobSpec, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What an evaluator gets beside its job: the profiler's command, a library, a time limit.

    `argv` is the profiler's command before the evaluator's own. `limit` launches are captured at
    most. `report` is where the profiler writes, as the runner sees it. `census` is what was found
    in a run before.
    """

    wall_s: float
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    binds: tuple[Bind, ...] = ()
    limit: int = 0
    report: Path | None = None
    census: CensusFound | None = None


@dataclass(frozen=True, slots=True)
class Programs:
    """Starts the evaluator of one benchmark."""

    settings: RunnerSettings
    jail: Jail
    spec: JobSpec
    benchmark: Benchmark
    work: Workspace
    watch: Watch

    async def start(self, mode: Mode, around: Around) -> Evidence:
        """Run one evaluator process; afterwards none of its processes is alive."""
        spec, work = self.spec, self.work
        await asyncio.to_thread(work.write_files, spec)
        reader = ProgressReader(around.limit, self.watch.progress, around.census)
        limits, halt = Limits.of(self.settings), Halt()
        try:
            async with watched(halt, work, self.watch.budget, limits):
                finished = await run(
                    await self._command(mode, around),
                    cancel=self.watch.cancel,
                    halt=halt,
                    on_stdout=reader.feed if around.limit else None,
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
            report=around.report,
        )

    async def _command(self, mode: Mode, around: Around) -> Command:
        spec, settings = self.spec, self.settings
        seen = await self.jail.places(self.work)
        spec_file = seen.given / await asyncio.to_thread(self.work.write_spec, self.benchmark)
        cell = await self.jail.evaluator(self.work, spec)
        own = evaluator_environment(spec, seen.home, seen.tmp, self.work.gpu, mode)
        argv = command.evaluator(settings.python, spec.evaluator, mode, spec_file)
        return Command(
            argv=(*around.argv, *argv),
            cwd=seen.src,
            env={**own, **around.env},
            wall_s=around.wall_s,
            grace_s=settings.grace_s,
            popcorn=True,
            max_output=settings.max_output_bytes,
            cell=replace(cell, binds=(*cell.binds, *around.binds)),
        )


def _changed(names: tuple[str, ...]) -> Failure:
    return Failure(kind=FailureKind.EVALUATOR_CHANGED, detail=one_line(", ".join(names)))
