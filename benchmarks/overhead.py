"""What the runner adds to a capture, beside the bare ncu command. Needs an NVIDIA GPU and ncu.

`python -m benchmarks.overhead [REPETITIONS]`; about 80 s a repetition on an H200.

Runner: a real `ncubot runner` over HTTP, in its sandbox. The clock runs from the job's acceptance
to its last event, without the unprofiled import run that comes before the captures. Baseline: the
same ncu command and the same three exports, one after the other, without a sandbox, in a fresh
folder with a clean environment. Both take turns.
"""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.figures import Figure, markdown
from bot.embedded import embedded_runner
from bot.jobs.spec import all_benchmarks, build_spec
from bot.leaderboards.task import load_task
from bot.settings import packaged_problems
from runner.capture import command
from runner_client.address import RunnerAddress
from runner_client.captures import CaptureOptions
from runner_client.client import RunnerClient
from runner_client.wire import BenchmarkStatus, Capturing, Ended, JobEvent, JobSpec, Mode, Preparing

PROBLEMS = ("nvidia/vectoradd", "linalg/qr_v2")
INDEX = 0
REPETITIONS = 3
SHARE, EXTRA_S = 0.05, 1.0
"""The runner may add this share of ncu's own wall time, and these seconds."""
NO_GPU = "overhead: no NVIDIA GPU with ncu here, nothing was measured"


@dataclass(frozen=True, slots=True)
class Bare:
    """One capture by hand: seconds of ncu with its program, and of that and the exports."""

    ncu_s: float
    total_s: float


def has_gpu() -> bool:
    """Return whether this machine can be measured."""
    return bool(shutil.which("ncu") and shutil.which("nvidia-smi"))


def measure(repetitions: int = REPETITIONS) -> list[Figure]:
    """Capture every problem on both sides in turn; nothing where there is no GPU."""
    return asyncio.run(_measure(repetitions)) if has_gpu() else []


async def _measure(repetitions: int) -> list[Figure]:
    os.environ["NCUBOT_RUNNER_SELF_TEST"] = "false"
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        runner = embedded_runner(Path(folder) / "runner", "local", Path(folder) / "runner.log")
        async with runner as address:
            return [await _figure(problem, address, repetitions) for problem in PROBLEMS]


async def _figure(problem: str, address: RunnerAddress, repetitions: int) -> Figure:
    bare: list[Bare] = []
    through: list[float] = []
    for _ in range(repetitions):
        spec = await asyncio.to_thread(_spec, problem, address.gpu)
        bare.append(await asyncio.to_thread(_by_hand, spec))
        through.append(await _by_runner(spec, address))
    ncu_s = statistics.median(one.ncu_s for one in bare)
    total_s = statistics.median(one.total_s for one in bare)
    return Figure(
        name=f"capture of {problem} {INDEX} by the runner",
        values=tuple(through),
        baseline=f"bare ncu ({ncu_s:.1f} s) and exports",
        baseline_values=tuple(one.total_s for one in bare),
        target=round(total_s + SHARE * ncu_s + EXTRA_S, 2),
    )


def _spec(problem: str, gpu: str) -> JobSpec:
    directory = packaged_problems() / problem
    task = load_task(directory, packaged_problems())
    return build_spec(
        id=uuid.uuid4().hex,
        requester="benchmark",
        leaderboard=directory.name,
        commit=None,
        gpu=gpu,
        task=task,
        submission=(directory / "submissions" / "starter.py").read_text(encoding="utf-8"),
        benchmarks=(all_benchmarks(task)[INDEX],),
        capture=CaptureOptions(),
    )


async def _by_runner(spec: JobSpec, address: RunnerAddress) -> float:
    async with RunnerClient(address) as client:
        await client.submit(spec)
        events: list[JobEvent] = []
        while not (events and isinstance(events[-1], Ended)):
            events += await client.events(spec.id, len(events), 20)
        result = (await client.status(spec.id)).result
    assert result is not None
    assert result.failure is None, result.failure
    (benchmark,) = result.benchmarks
    assert benchmark.status is BenchmarkStatus.SUCCEEDED, benchmark
    prepared = _first(events, Capturing) - _first(events, Preparing)
    return ((events[-1].at - events[0].at) - prepared).total_seconds()


def _first(events: list[JobEvent], kind: type[JobEvent]) -> datetime:
    return next(event.at for event in events if isinstance(event, kind))


def _by_hand(spec: JobSpec) -> Bare:
    with tempfile.TemporaryDirectory(prefix="ncubot-bare-") as name:
        folder = Path(name)
        for file in (*spec.files, spec.submission):
            (folder / file.name).write_text(file.content, encoding="utf-8")
        report, line = folder / "profile.ncu-rep", folder / "benchmark.txt"
        line.write_text(spec.benchmarks[0].spec, encoding="utf-8")
        program = command.evaluator(sys.executable, spec.evaluator, Mode.PROFILE, line)
        began = time.perf_counter()
        with _popcorn() as pipe:
            _run(command.profiled("ncu", spec.capture, report, program), folder, pipe)
        ncu_s = time.perf_counter() - began
        for kind, export in command.exports("ncu", report).items():
            _run(export, folder, None, folder / kind)
        return Bare(ncu_s, time.perf_counter() - began)


@contextmanager
def _popcorn() -> Iterator[int]:
    # The evaluator's log is far smaller than a pipe, so that nobody needs to read along.
    with ExitStack() as stack:
        read, write = os.pipe()
        stack.callback(os.close, read)
        stack.callback(os.close, write)
        yield write


def _run(argv: tuple[str, ...], folder: Path, pipe: int | None, out: Path | None = None) -> None:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    env = {
        name: os.environ[name] for name in ("PATH", "CUDA_VISIBLE_DEVICES") if name in os.environ
    }
    env |= {"HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"}
    if pipe is not None:
        env |= {"POPCORN_NCU": "1", "POPCORN_FD": str(pipe)}
    with (out or folder / "stdout.txt").open("wb") as file:
        inherited = () if pipe is None else (pipe,)
        subprocess.run(argv, cwd=folder, env=env, stdout=file, pass_fds=inherited, check=True)


def main() -> None:
    """Print the figures, or why there are none."""
    figures = measure(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
    print(markdown(figures) if figures else NO_GPU)


if __name__ == "__main__":
    main()
