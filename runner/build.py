"""What happens once a job before its benchmarks: nvcc, or one unprofiled import in Python."""

import asyncio
import re

from runner.command import compile_cuda
from runner.environment import base_environment
from runner.process import CannotStart, Command, Finished, Stop, run
from runner.settings import RunnerSettings
from runner.text import one_line
from runner.workspace import Workspace
from runner_client.wire import CudaEvaluator, Failure, FailureKind, JobSpec

_ERROR = re.compile(r"^.*(?:\berror\b|undefined reference).*$", re.MULTILINE | re.IGNORECASE)


async def prepare(
    spec: JobSpec, work: Workspace, settings: RunnerSettings, cancel: asyncio.Event
) -> Failure | None:
    """Compile or warm up; a failure ends the job. A failed import is left to the benchmarks."""
    if isinstance(spec.evaluator, CudaEvaluator):
        argv = compile_cuda(settings.nvcc, spec.evaluator)
        try:
            return compile_failure(await _run(argv, work, settings, cancel))
        except CannotStart as error:
            return Failure(kind=FailureKind.RUNNER_ERROR, detail=one_line(str(error)))
    try:
        await _run((settings.python, spec.submission.name), work, settings, cancel, warm_up=True)
    except CannotStart as error:
        return Failure(kind=FailureKind.RUNNER_ERROR, detail=one_line(str(error)))
    return None


def compile_failure(nvcc: Finished) -> Failure | None:
    """Say what nvcc had against the sources, by its first error line."""
    if nvcc.stopped is Stop.CANCELLED:
        return Failure(kind=FailureKind.CANCELLED)
    if nvcc.stopped is Stop.TIME_LIMIT:
        return Failure(kind=FailureKind.COMPILE_ERROR, detail="nvcc did not end in time")
    if nvcc.exit_code == 0:
        return None
    errors = [one_line(line, 600) for line in _ERROR.findall(nvcc.stderr + "\n" + nvcc.stdout)]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    detail = errors[0] + more if errors else f"nvcc ended with status {nvcc.exit_code}"
    return Failure(kind=FailureKind.COMPILE_ERROR, detail=detail)


async def _run(
    argv: tuple[str, ...],
    work: Workspace,
    settings: RunnerSettings,
    cancel: asyncio.Event,
    *,
    warm_up: bool = False,
) -> Finished:
    env = base_environment(work.home, work.tmp)
    command = Command(
        argv=argv,
        cwd=work.src,
        env=env | {"POPCORN_SEED": "1"} if warm_up else env,
        wall_s=settings.prepare_timeout_s,
        popcorn=warm_up,
    )
    return await run(command, cancel=cancel)
