"""What happens once a job before its benchmarks: nvcc, or one unprofiled import in Python."""

import asyncio
import re

from runner.capture.command import compile_cuda
from runner.capture.environment import base_environment
from runner.capture.workspace import Workspace
from runner.isolation.halt import Stop
from runner.isolation.jail import Jail
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.settings import RunnerSettings
from runner.text import one_line
from runner_client.wire import CudaEvaluator, Failure, FailureKind, JobSpec

_ERROR = re.compile(r"^.*(?:\berror\b|undefined reference).*$", re.MULTILINE | re.IGNORECASE)


async def prepare(
    spec: JobSpec, work: Workspace, settings: RunnerSettings, jail: Jail, cancel: asyncio.Event
) -> Failure | None:
    """Compile or warm up; a failure ends the job. A failed import is left to the benchmarks."""
    argv: tuple[str, ...] = (settings.python, spec.submission.name)
    warm_up = not isinstance(spec.evaluator, CudaEvaluator)
    if isinstance(spec.evaluator, CudaEvaluator):
        argv = compile_cuda(settings.nvcc, spec.evaluator)
    command = await _command(argv, spec, work, settings, jail, warm_up=warm_up)
    try:
        finished = await run(command, cancel=cancel)
    except CannotStart as error:
        return Failure(kind=FailureKind.RUNNER_ERROR, detail=one_line(str(error)))
    return None if warm_up else await asyncio.to_thread(_compiled, finished, work)


def _compiled(nvcc: Finished, work: Workspace) -> Failure | None:
    failure = compile_failure(nvcc)
    if failure is not None:
        return failure
    try:
        work.keep_binary()
    except OSError as error:
        detail = f"nvcc left no program ({error.strerror})"
        return Failure(kind=FailureKind.COMPILE_ERROR, detail=detail)
    return None


def compile_failure(nvcc: Finished) -> Failure | None:
    """Say what nvcc had against the sources, by its first error line."""
    if nvcc.stopped is Stop.CANCELLED:
        return Failure(kind=FailureKind.CANCELLED)
    if nvcc.stopped is Stop.TIME_LIMIT:
        return Failure(kind=FailureKind.COMPILE_ERROR, detail="nvcc did not end in time")
    if nvcc.stopped is not None:
        return Failure(kind=FailureKind(nvcc.stopped.value))
    if nvcc.exit_code == 0:
        return None
    errors = [one_line(line, 600) for line in _ERROR.findall(nvcc.stderr + "\n" + nvcc.stdout)]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    detail = errors[0] + more if errors else f"nvcc ended with status {nvcc.exit_code}"
    return Failure(kind=FailureKind.COMPILE_ERROR, detail=detail)


async def _command(
    argv: tuple[str, ...],
    spec: JobSpec,
    work: Workspace,
    settings: RunnerSettings,
    jail: Jail,
    *,
    warm_up: bool,
) -> Command:
    seen = await jail.places(work)
    env = base_environment(seen.home, seen.tmp, work.gpu)
    return Command(
        argv=argv,
        cwd=seen.src,
        env=env | {"POPCORN_SEED": "1"} if warm_up else env,
        wall_s=settings.prepare_timeout_s,
        popcorn=warm_up,
        cell=await jail.evaluator(work, spec),
    )
