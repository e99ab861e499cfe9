"""Whether kernels can be counted on this machine: the tiny kernel, counted as in a job."""

import asyncio
from dataclasses import replace
from pathlib import Path

from runner.capture import command
from runner.capture.environment import evaluator_environment
from runner.capture.workspace import Workspace, workspace
from runner.census import build
from runner.census.environment import binds, environment
from runner.census.model import Census, Library, Missing
from runner.census.reading import read
from runner.health.checks import doubt, good
from runner.health.selfcheck import TIMEOUT_S, self_test_spec
from runner.isolation.jail import Jail
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.settings import RunnerSettings, SandboxName
from runner.text import one_line
from runner_client.wire import Finding, JobSpec

CHECK = "census"
_MEND = "without it `hot` captures fall back to the first launches; install gcc and a CUDA toolkit"


async def census_finding(settings: RunnerSettings, scratch: Path, gpu: str = "") -> Finding:
    """Build the library and let the tiny kernel's evaluator run with it, in its sandbox.

    `scratch` takes the files, in a folder that is gone afterwards.
    """
    library = await build.library(settings)
    if isinstance(library, Missing):
        return doubt(CHECK, f"not available: {library.reason}", _MEND)
    try:
        census, said = await _counted(settings, library, scratch, gpu)
    except (OSError, CannotStart) as error:
        return doubt(CHECK, f"not available: {one_line(str(error))}", _MEND)
    if not census.launches:
        return doubt(CHECK, f"not available: the tiny kernel was not counted ({said})", _MEND)
    return good(CHECK, f"kernels are counted by a library built for CUDA {library.cuda}")


async def _counted(
    settings: RunnerSettings, library: Library, scratch: Path, gpu: str
) -> tuple[Census, str]:
    spec = await asyncio.to_thread(self_test_spec, "", TIMEOUT_S)
    with workspace(scratch, spec.id, gpu) as work:
        finished = await run(await _command(settings, library, spec, work))
        census = await asyncio.to_thread(read, work.out)
    lines = finished.stderr.strip().splitlines()
    return census, one_line(lines[-1], 200) if lines else _status(finished)


async def _command(
    settings: RunnerSettings, library: Library, spec: JobSpec, work: Workspace
) -> Command:
    await asyncio.to_thread(work.write_files, spec)
    jail = Jail(settings)
    cell, seen = await jail.evaluator(work, spec), await jail.places(work)
    spec_file = seen.given / await asyncio.to_thread(work.write_spec, spec.benchmarks[0])
    sandboxed = settings.sandbox is not SandboxName.NONE
    env = evaluator_environment(spec, seen.home, seen.tmp, work.gpu)
    return Command(
        argv=command.evaluator(settings.python, spec.evaluator, spec.mode, spec_file),
        cwd=seen.src,
        env=env | environment(library, seen.out, sandboxed=sandboxed),
        wall_s=TIMEOUT_S,
        popcorn=True,
        cell=replace(cell, binds=(*cell.binds, *binds(library))),
    )


def _status(finished: Finished) -> str:
    return f"its program ended with status {finished.exit_code}"
