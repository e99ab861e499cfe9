"""What each capture mode costs and what it stands for. Needs a GPU, ncu, PyTorch and Triton.

`python -m benchmarks.captures [PART...] [--seconds N] [--out FOLDER]`; parts are qr, eigh, triton,
inert-qr and inert-eigh, all of them where none is named. On an H200 about 90, 230, 70, 150 and 150
seconds. No part is begun that N (540) has no room for, and that is said. Lines are printed as they
come; FOLDER (here) gets captures-PART.json.

qr, eigh, triton: a plain run, `hot` as a job makes it, a bare ncu run on the same kernels, and for
eigh `first` to the program's end. inert: the cudaProfiler range of the benchmark mode: timings
with and without it in turn, and the kernels that ncu records in it.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
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
BENCHMARK_S = 90.0
"""Wall limit of a benchmark mode run; under a profiler it is that times the replay factor."""
PLAIN_S = 150.0
TOTAL_S = 540.0
PAIRS = 5
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
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Call:
    """A submission and one of its problem's benchmark entries; `room_s` is what a part may take."""

    name: str
    directory: str
    index: int
    room_s: float
    source: str = ""
    to_the_end: bool = False
    timed: bool = False

    @property
    def submission(self) -> str:
        """Return the source, the sample that calls PyTorch's own solver where there is none."""
        sample = ROOT / self.directory / "template.py"
        return self.source or sample.read_text(encoding="utf-8")


QR, EIGH = "linalg/qr_v2", "linalg/eigh_py"
PARTS: Mapping[str, Call] = {
    "qr": Call("qr_v2 640x512", QR, 3, 110.0),
    "eigh": Call("eigh 640x512", EIGH, 3, 240.0, to_the_end=True),
    "triton": Call("Triton autotuning", "nvidia/vectoradd", 0, 90.0, TUNING),
    "inert-qr": Call("qr_v2 160x176", QR, 2, 150.0, timed=True),
    "inert-eigh": Call("eigh 40x64", EIGH, 1, 150.0, timed=True),
}


class Bench:
    """One GPU and one folder."""

    def __init__(self, settings: RunnerSettings, gpu: str) -> None:
        self._settings, self._gpu = settings, gpu
        self._engine, self._jail = LocalEngine(settings), Jail(settings)
        self._library = CensusLibrary(settings)

    async def measure(self, call: Call) -> Row:
        """Measure one part and print its lines."""
        say(f"{call.name}:")
        return await (self._timed(call) if call.timed else self._call(call))

    async def _call(self, call: Call) -> Row:
        spec = spec_of(call, CaptureOptions(mode=CaptureMode.HOT))
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            programs = self._programs(spec, work)
            failure = await self._engine.prepare(spec, work, programs.watch.cancel)
            if failure is not None:
                return said({"failure": f"{failure.kind}: {failure.detail}"})
            plain = await programs.start(Mode.PROFILE, Around(wall_s=PLAIN_S))
            row: Row = {"plain_s": round(plain.duration_s, 1), "plain_exit": plain.exit_code}
            say(f"  plain run {plain.duration_s:.1f} s, exit {plain.exit_code}")
            if plain.exit_code:
                return said(row | {"stderr": plain.stderr[-600:]})
            row |= await self._hot(programs, plain.duration_s)
            if call.to_the_end:
                row |= await self._first(spec, work, row)
            return row

    async def _hot(self, programs: Programs, plain_s: float) -> Row:
        found = await Capture(programs, self._library).run()
        kernels = await self._kernels(programs, found)
        row = hot_row(found, kernels)
        say(f"  hot {found.duration_s:.1f} s")
        said(row)
        count = await Capture(programs, self._library).count()
        choice = choose(count.census, 10) if isinstance(count, Count) else None
        if choice is None:
            return row | said({"bare": "no choice from a second census"})
        seen = await self._jail.places(programs.work)
        report = seen.out / report_file(programs.benchmark)
        argv = command.profiled(self._settings.ncu, programs.spec.capture, report, (), choice)
        bare = await programs.start(Mode.PROFILE, Around(wall_s=PLAIN_S, argv=argv))
        ratio = found.duration_s / (plain_s + bare.duration_s)
        told: Row = {
            "bare_s": round(bare.duration_s, 1),
            "hot_over_plain_and_bare": round(ratio, 2),
        }
        return row | said(told)

    async def _first(self, spec: JobSpec, work: Workspace, row: Row) -> Row:
        programs = self._programs(replace(spec, capture=CaptureOptions()), work)
        found = await Capture(programs, self._library).run()
        ratio = float(str(row["hot_s"])) / found.duration_s
        told: Row = {"first_10_to_the_end_s": round(found.duration_s, 1)}
        return said(told | {"stopped": str(found.stopped), "hot_over_first": round(ratio, 2)})

    async def _timed(self, call: Call) -> Row:
        """Time the benchmark mode with and without its range, and list what ncu records in it."""
        spec = spec_of(call, CaptureOptions(mode=CaptureMode.PROFILER_API, preset=Preset.QUICK))
        bare = replace(spec, files=tuple(without_range(file) for file in spec.files))
        times: dict[str, list[float]] = {"with": [], "without": []}
        for number in range(PAIRS):
            ways = (("with", spec), ("without", bare))
            for word, one in ways if number % 2 else reversed(ways):
                times[word].append(await self._mean(replace(one, mode=Mode.BENCHMARK)))
        row = said(timed_row(times))
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            programs = self._programs(spec, work)
            found = await Capture(programs, self._library).run()
            kernels = await self._kernels(programs, found)
        return row | said({"recorded": names(kernels), "stopped": str(found.stopped)})

    async def _mean(self, spec: JobSpec) -> float:
        """Return the evaluator's mean in ms."""
        with workspace(self._settings.folder, spec.id, self._gpu) as work:
            found = await Capture(self._programs(spec, work), self._library).run()
        if "benchmark.0.mean" not in found.log:
            say(f"  no mean: stopped {found.stopped}, exit {found.exit_code} {found.stderr[-300:]}")
        return float(found.log.get("benchmark.0.mean", "nan")) / 1e6

    def _programs(self, spec: JobSpec, work: Workspace) -> Programs:
        watch = Watch(asyncio.Event(), lambda _: None, Budget(time.monotonic() + TOTAL_S))
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


def hot_row(found: Evidence, kernels: Summary | None) -> Row:
    """Return what a capture of hot kernels came to."""
    told, census = coverage_of(found, kernels), found.census
    return {
        "hot_s": round(found.duration_s, 1),
        "captured": kernels.launches if kernels else 0,
        "launches": census.launches if census else 0,
        "share": told.share if told else None,
        "place": str(found.place),
        "mode": str(found.mode),
        "fallback": found.fallback,
        "stopped": str(found.stopped),
        "check": found.of_program.log.get("check"),
        "kernels": names(kernels),
        "notes": [
            f"{note.sign.value}: {note.share:.1%}, {note.launches} x {note.kernel[:80]}"
            for note in (census.notes if census else ())
        ],
    }


def timed_row(times: Mapping[str, list[float]]) -> Row:
    """Return both ways of timing: each one's spread, and how far their medians are apart."""
    row: Row = {f"{word}_ms": [round(one, 4) for one in each] for word, each in times.items()}
    medians = {word: statistics.median(each) for word, each in times.items()}
    apart = abs(medians["with"] - medians["without"])
    spread = min(max(each) - min(each) for each in times.values())
    row["medians_apart_ms"], row["least_spread_ms"] = round(apart, 5), round(spread, 5)
    return row | {"inert": apart < spread}


def names(kernels: Summary | None) -> list[str]:
    """Return captured kernels with the number of their launches."""
    return [f"{len(one.ids)} x {one.name[:100]}" for one in kernels.kernels] if kernels else []


def spec_of(call: Call, capture: CaptureOptions) -> JobSpec:
    """Return the job of a call."""
    task = load_task(ROOT / call.directory, ROOT)
    spec = build_spec(
        id=uuid.uuid4().hex,
        requester="benchmark",
        leaderboard=call.name,
        commit=None,
        gpu="local",
        task=task,
        submission=call.submission,
        benchmarks=(all_benchmarks(task)[call.index],),
        capture=capture,
    )
    return replace(spec, timeout_s=BENCHMARK_S)


def without_range(file: SourceFile) -> SourceFile:
    """Return an evaluator whose timed launches stand in no range."""
    nothing = "__import__('contextlib').nullcontext()"
    return replace(file, content=file.content.replace(RANGE, nothing))


def say(line: str) -> None:
    """Print at once: what follows may be cut off."""
    print(line, flush=True)


def said(row: Row) -> Row:
    """Print a row, one value a line, and return it."""
    for key, value in row.items():
        each = value if isinstance(value, list) else [value]
        say("\n".join(f"  {key}: {one}" for one in each) or f"  {key}: none")
    return row


async def measure(parts: list[str], total_s: float, out: Path) -> None:
    """Measure everything that there is time for, and keep each part when it is done."""
    until = time.monotonic() + total_s
    with tempfile.TemporaryDirectory(prefix="ncubot-captures-") as folder:
        settings = runner_settings(None, {"data": Path(folder)})
        gpus = await LocalEngine(settings).gpus()
        bench = Bench(settings, next(iter(gpus), ""))
        for part in parts:
            if until - time.monotonic() < PARTS[part].room_s:
                say(f"{part}: not begun, {until - time.monotonic():.0f} s are left")
                continue
            began = time.monotonic()
            row = await bench.measure(PARTS[part]) | {"took_s": round(time.monotonic() - began)}
            text = json.dumps({"part": part, "call": PARTS[part].name} | row, indent=1)
            await asyncio.to_thread((out / f"captures-{part}.json").write_text, text)
        say(f"{until - time.monotonic():.0f} s were left")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.captures")
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[[], *PARTS])
    parser.add_argument("--seconds", type=float, default=TOTAL_S)
    parser.add_argument("--out", type=Path, default=Path())
    asked = parser.parse_args()
    if not has_gpu():
        sys.exit(NO_GPU)
    asyncio.run(measure(asked.parts or list(PARTS), asked.seconds, asked.out))


if __name__ == "__main__":
    main()
