"""What each capture mode costs and what it stands for. Needs a GPU, ncu, PyTorch and Triton.

`python -m benchmarks.captures [SECONDS]` begins no long step that SECONDS (540) have no room for;
each program has a limit of its own. Lines are printed as they come.

For each call: a plain run, `hot` as a job makes it, a bare ncu run on the same kernels, and for
eigh `first` to the program's end. Then the cudaProfiler range of the benchmark mode: timings with
and without it in turn, and the kernels that ncu records in it.
"""

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from benchmarks.overhead import has_gpu
from bot.jobs.spec import all_benchmarks, build_spec
from bot.leaderboards.task import load_task
from cli.runner_settings import runner_settings
from counters.launches import Summary
from runner.capture import command
from runner.capture.coverage import coverage_of
from runner.capture.modes import Capture, CensusLibrary, Count
from runner.capture.outcome import read_kernels
from runner.capture.programs import Around, Programs
from runner.capture.workspace import Workspace, report_file, workspace
from runner.census.choose import choose
from runner.engine import Evidence, Watch
from runner.isolation.jail import Jail
from runner.isolation.limits import Budget
from runner.local import LocalEngine
from runner.settings import RunnerSettings
from runner_client.captures import CaptureMode, CaptureOptions, Preset
from runner_client.wire import JobSpec, Mode, SourceFile

NO_GPU = "captures: no NVIDIA GPU with ncu here, nothing was measured"
ROOT = Path(__file__).resolve().parents[1] / "problems"
STEP_S = 150.0
TOTAL_S = 540.0
SHORTEST_S = 60.0
PAIRS = 3
TUNING = """
import torch, triton
import triton.language as tl

SHAPES = [(size, warps) for size in (256, 1024) for warps in (4, 8)]
CONFIGS = [triton.Config({"BLOCK": size}, num_warps=warps) for size, warps in SHAPES]

@triton.autotune(configs=CONFIGS, key=["size"])
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < size)
    y = tl.load(y_ptr + at, mask=at < size)
    tl.store(out_ptr + at, x + y, mask=at < size)

def custom_kernel(data):
    x, y = data
    out = torch.empty_like(x)
    add_kernel.cache.clear()
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out
"""
RANGE = "torch.cuda.profiler.profile()"


@dataclass(frozen=True, slots=True)
class Call:
    """A submission and one of its problem's benchmark entries."""

    name: str
    directory: str
    source: str
    index: int
    to_the_end: bool = False


def template(directory: str) -> str:
    """Return the sample that calls PyTorch's own solver."""
    return (ROOT / directory / "template.py").read_text(encoding="utf-8")


CALLS = (
    Call("qr_v2 640x512", "linalg/qr_v2", template("linalg/qr_v2"), 3),
    Call("eigh 640x512", "linalg/eigh_py", template("linalg/eigh_py"), 3, to_the_end=True),
    Call("Triton autotuning", "nvidia/vectoradd", TUNING, 0),
)
TIMED = (
    Call("qr_v2 40x176", "linalg/qr_v2", template("linalg/qr_v2"), 2),
    Call("eigh 40x176", "linalg/eigh_py", template("linalg/eigh_py"), 2),
)


class Bench:
    """One GPU, one folder, and a clock for all of it."""

    def __init__(self, settings: RunnerSettings, gpu: str, total_s: float) -> None:
        self._settings, self._gpu = settings, gpu
        self._engine, self._jail = LocalEngine(settings), Jail(settings)
        self._library = CensusLibrary(settings)
        self._until = time.monotonic() + total_s

    @property
    def left_s(self) -> float:
        """Return the seconds that are left for further steps."""
        return self._until - time.monotonic()

    async def call(self, call: Call) -> None:
        """Measure one call and print its lines."""
        spec = spec_of(call, CaptureOptions(mode=CaptureMode.HOT))
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            programs = self._programs(spec, work)
            await self._engine.prepare(spec, work, programs.watch.cancel)
            plain = await programs.start(Mode.PROFILE, Around(wall_s=STEP_S))
            say(f"{call.name}: plain run {plain.duration_s:.1f} s, exit {plain.exit_code}")
            if plain.exit_code:
                say(plain.stderr[-600:])
                return
            await self._hot(programs, plain.duration_s)
            if call.to_the_end and self.left_s > STEP_S:
                await self._first(spec, work)

    async def _hot(self, programs: Programs, plain_s: float) -> None:
        found = await Capture(programs, self._library).run()
        kernels = await self._kernels(programs, found)
        told = coverage_of(found, kernels)
        say(
            f"  hot {found.duration_s:.1f} s: {kernels.launches if kernels else 0} of "
            f"{found.census.launches if found.census else 0:,} launches, "
            f"share {told.share if told else None}, fallback '{found.fallback}', "
            f"stopped {found.stopped}"
        )
        for note in found.census.notes if found.census else ():
            say(f"    {note.sign.value}: {note.share:.1%} {note.launches} x {note.kernel[:80]}")
        count = await Capture(programs, self._library).count()
        choice = choose(count.census, 10) if isinstance(count, Count) else None
        if choice is None:
            say("    no choice from a second census")
            return
        seen = await self._jail.places(programs.work)
        report = seen.out / report_file(programs.benchmark)
        argv = command.profiled(self._settings.ncu, programs.spec.capture, report, (), choice)
        bare = await programs.start(Mode.PROFILE, Around(wall_s=STEP_S, argv=argv))
        ratio = found.duration_s / (plain_s + bare.duration_s)
        say(f"  bare ncu on them {bare.duration_s:.1f} s; hot / (plain + bare) = {ratio:.2f}")

    async def _first(self, spec: JobSpec, work: Workspace) -> None:
        programs = self._programs(replace(spec, capture=CaptureOptions()), work)
        found = await Capture(programs, self._library).run()
        say(f"  first 10 to the program's end {found.duration_s:.1f} s, stopped {found.stopped}")

    async def timed(self, call: Call) -> None:
        """Time the benchmark mode with and without its range, and list what ncu records in it."""
        spec = spec_of(call, CaptureOptions(mode=CaptureMode.PROFILER_API, preset=Preset.QUICK))
        bare = replace(spec, files=tuple(without_range(file) for file in spec.files))
        means: dict[str, list[float]] = {"with": [], "without": []}
        for _ in range(PAIRS):
            for word, one in (("with", spec), ("without", bare)):
                means[word].append(await self._mean(replace(one, mode=Mode.BENCHMARK)))
        for word, each in means.items():
            say(
                f"{call.name} {word} the range: median {statistics.median(each):.4f} ms "
                f"({min(each):.4f} to {max(each):.4f})"
            )
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            programs = self._programs(spec, work)
            found = await Capture(programs, self._library).run()
            kernels = await self._kernels(programs, found)
        for recorded in kernels.kernels if kernels else ():
            say(f"  recorded: {len(recorded.ids)} x {recorded.name[:100]}")

    async def _mean(self, spec: JobSpec) -> float:
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            found = await Capture(self._programs(spec, work), self._library).run()
        return float(found.log.get("benchmark.0.mean", "nan")) / 1e6

    def _programs(self, spec: JobSpec, work: Workspace) -> Programs:
        watch = Watch(asyncio.Event(), lambda _: None, Budget(time.monotonic() + STEP_S * 2))
        return Programs(self._settings, self._jail, spec, spec.benchmarks[0], work, watch)

    async def _kernels(self, programs: Programs, found: Evidence) -> Summary | None:
        if found.report is None or not await asyncio.to_thread(found.report.is_file):
            return None
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / found.report.name
            await asyncio.to_thread(shutil.copyfile, found.report, report)
            cancel = asyncio.Event()
            exports = await self._engine.export(found, 0, report, programs.work, cancel)
            return await asyncio.to_thread(read_kernels, exports.details_csv)


def spec_of(call: Call, capture: CaptureOptions) -> JobSpec:
    """Return the job of a call; ncu's wall limit is STEP_S."""
    task = load_task(ROOT / call.directory, ROOT)
    spec = build_spec(
        id=uuid.uuid4().hex,
        requester="benchmark",
        leaderboard=call.name,
        commit=None,
        gpu="local",
        task=task,
        submission=call.source,
        benchmarks=(all_benchmarks(task)[call.index],),
        capture=capture,
    )
    return replace(spec, timeout_s=STEP_S / 10)


def without_range(file: SourceFile) -> SourceFile:
    """Return an evaluator whose timed launches stand in no range."""
    nothing = "__import__('contextlib').nullcontext()"
    return replace(file, content=file.content.replace(RANGE, nothing))


def say(line: str) -> None:
    """Print at once: what follows may be cut off."""
    print(line, flush=True)


async def measure(total_s: float) -> None:
    """Measure everything that there is time for."""
    with tempfile.TemporaryDirectory(prefix="ncubot-captures-") as folder:
        settings = runner_settings(None, {"data": Path(folder)})
        gpus = await LocalEngine(settings).gpus()
        bench = Bench(settings, next(iter(gpus), ""), total_s)
        for call, measured in (
            *((call, bench.call) for call in CALLS),
            *((call, bench.timed) for call in TIMED),
        ):
            if bench.left_s > SHORTEST_S:
                await measured(call)
        say(f"{bench.left_s:.0f} s were left")


def main() -> None:
    """Measure and print."""
    if not has_gpu():
        sys.exit(NO_GPU)
    asyncio.run(measure(float(sys.argv[1]) if sys.argv[1:] else TOTAL_S))


if __name__ == "__main__":
    main()
