"""What a census costs inside the range, and whether ncu agrees with it. Needs a GPU, ncu, PyTorch.

`python -m benchmarks.census [PAIRS]`; about three minutes on an H200 with five pairs.

Cost: two processes make the same call in turn, one with the census library and one without; the
clock runs inside the range, from before the call to after its synchronisation. Agreement: some
PyTorch calls, counted once, and measured kernel by kernel by ncu (`gpu__time_duration.sum`), which
empties the caches before each kernel.
"""

import asyncio
import csv
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.overhead import has_gpu
from runner.census import build
from runner.census.choose import choose
from runner.census.environment import environment
from runner.census.model import Census, Library
from runner.census.reading import read
from runner.settings import RunnerSettings

PAIRS = 5
TARGET = 0.05
NO_GPU = "census: no NVIDIA GPU with ncu here, nothing was measured"
EIGH = "torch.linalg.eigh, batch 640, n 512"
GEQRF = "torch.geqrf, batch 640, n 512"
TINY = "100,000 launches of a tiny kernel"
_BATCH = "x = torch.randn(640, 512, 512, device='cuda'); call = "
CALLS = {
    GEQRF: _BATCH + "torch.geqrf",
    TINY: "x = torch.zeros(4, device='cuda'); call = lambda x: [x.add_(1) for _ in range(100_000)]",
    EIGH: _BATCH + "lambda x: torch.linalg.eigh(x + x.mT)",
}
TAKE_TURNS = """
import sys, time, torch
{make}
call(x[:2].clone())
torch.cuda.synchronize()
print("ready", flush=True)
for _ in sys.stdin:
    data = x.clone()
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("custom_kernel"):
        began = time.perf_counter()
        call(data)
        torch.cuda.synchronize()
        took = time.perf_counter() - began
    print(took, flush=True)
"""
MIX = """
import torch
x = torch.randn(4096, 4096, device="cuda")
def call():
    for _ in range(6):
        torch.softmax(x, 1), x @ x, x.cumsum(1), x.exp(), x.sum(0), x.sort(1)
call()
torch.cuda.synchronize()
with torch.cuda.nvtx.range("custom_kernel"):
    call()
    torch.cuda.synchronize()
"""
NCU = (
    *("ncu", "--metrics", "gpu__time_duration.sum", "--nvtx", "--nvtx-include", "custom_kernel/"),
    *("--target-processes", "all", "--clock-control", "none", "--page", "raw", "--csv"),
    *("--print-units", "base", "--print-kernel-base", "mangled", "--log-file"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of one call, pair by pair, and what the last census said."""

    name: str
    counted: tuple[float, ...]
    uncounted: tuple[float, ...]
    census: Census

    @property
    def shares(self) -> tuple[float, ...]:
        """Return what the census adds in each pair, as a share of the time without it."""
        return tuple(a / b - 1 for a, b in zip(self.counted, self.uncounted, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """GPU time by kernel name, in ns, the census's beside ncu's."""

    census: Counter[str]
    ncu: Counter[str]

    @property
    def names(self) -> list[str]:
        """Return the names by the census's time."""
        return [name for name, _ in self.census.most_common()]

    @property
    def swapped(self) -> float:
        """Return the largest difference of two shares whose kernels ncu orders the other way."""
        pairs = itertools.combinations(self.names, 2)
        return max(
            (
                _share(self.census, more) - _share(self.census, less)
                for more, less in pairs
                if self.ncu[more] < self.ncu[less]
            ),
            default=0.0,
        )

    @property
    def furthest(self) -> float:
        """Return the largest difference of a kernel's two shares (0 to 1)."""
        return max(abs(_share(self.census, name) - _share(self.ncu, name)) for name in self.names)

    @property
    def ratio(self) -> float:
        """Return ncu's time of all kernels over the census's."""
        return self.ncu.total() / self.census.total()


class Caller:
    """A process that makes one call each time that it is asked."""

    def __init__(self, name: str, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-c", TAKE_TURNS.format(make=CALLS[name])),
            env=os.environ | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def read(self) -> str:
        """Return the next line that it prints."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def time(self) -> float:
        """Let it make its call, and return the seconds."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return float(self.read())

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def taking_turns(name: str, library: Library, folder: Path) -> Iterator[tuple[Caller, Caller]]:
    """Start a counted and an uncounted process of a call."""
    folder.mkdir()
    callers = (Caller(name, environment(library, folder, sandboxed=False)), Caller(name, {}))
    try:
        yield callers
    finally:
        for caller in callers:
            caller.close()


def measure_cost(name: str, callers: tuple[Caller, Caller], pairs: int, folder: Path) -> Cost:
    """Time one call in pairs, the order of which changes, after one pair that wakes the GPU up."""
    assert [caller.read() for caller in callers] == ["ready", "ready"]
    counted, uncounted = callers
    times: list[tuple[float, float]] = []
    for number in range(1 + pairs):
        if number % 2:
            without = uncounted.time()
            times.append((counted.time(), without))
        else:
            times.append((counted.time(), uncounted.time()))
    return Cost(
        name=name,
        counted=tuple(each for each, _ in times[1:]),
        uncounted=tuple(each for _, each in times[1:]),
        census=read(folder),
    )


def measure_agreement(library: Library, folder: Path) -> Agreement:
    """Count some calls, and let ncu measure each of their kernels."""
    _python(MIX, library, folder)
    counted: Counter[str] = Counter()
    for one in read(folder).kernels:
        counted[one.name] += one.total_ns
    log = folder / "ncu.csv"
    subprocess.run((*NCU, log, sys.executable, "-c", MIX), check=True, capture_output=True)
    return Agreement(census=counted, ncu=durations(log.read_text(encoding="utf-8")))


def durations(text: str) -> Counter[str]:
    """Add up ncu's durations by kernel name, in ns; the second row of its CSV holds the units."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    found: Counter[str] = Counter()
    for row in list(csv.DictReader(lines))[1:]:
        found[row["Kernel Name"]] += int(float(row["gpu__time_duration.sum"].replace(",", "")))
    return found


def cost_row(cost: Cost) -> str:
    """Return one line of the table."""
    shares = sorted(cost.shares)
    choice = choose(cost.census, 10)
    return (
        f"| {cost.name} | {cost.census.launches // max(cost.census.ranges, 1):,} | "
        f"{statistics.median(cost.uncounted):.4f} | {statistics.median(cost.counted):.4f} | "
        f"{statistics.median(shares):+.1%} ({shares[0]:+.1%} to {shares[-1]:+.1%}) | "
        f"{TARGET:.0%} | {cost.census.dropped} | {choice.share if choice else 0:.1%} |"
    )


def agreement_text(told: Agreement) -> str:
    """Return the kernels with both shares."""
    rows = [
        f"| `{name[:60]}` | {_share(told.census, name):.2%} | {_share(told.ncu, name):.2%} | "
        f"{told.ncu[name] / told.census[name]:.3f} |"
        for name in told.names
    ]
    return (
        f"{len(told.names)} kernels, in the same order but for those whose shares differ by "
        f"{told.swapped:.2%} or less; the two shares of a kernel differ by at most "
        f"{told.furthest:.2%}, and ncu's time is {told.ratio:.3f} times the census's\n\n"
        "| kernel | share, census | share, ncu | ncu over census |\n| --- | --- | --- | --- |\n"
        + "\n".join(rows)
    )


def report_costs(library: Library, pairs: int, folder: Path) -> None:
    """Measure every call; all processes start at once, and then wait for their turn."""
    print("| call | launches | s without | s counted | cost | target | dropped | chosen |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with ExitStack() as stack:
        ready = [
            (
                name,
                folder / str(number),
                stack.enter_context(taking_turns(name, library, folder / str(number))),
            )
            for number, name in enumerate(CALLS)
        ]
        for name, place, callers in ready:
            print(cost_row(measure_cost(name, callers, pairs, place)), flush=True)


def main() -> None:
    """Print the figures, or why there are none."""
    if not has_gpu():
        print(NO_GPU)
        return
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    with tempfile.TemporaryDirectory() as folder:
        library = asyncio.run(build.library(RunnerSettings(data=Path(folder) / "data")))
        if not isinstance(library, Library):
            print(f"census: not available: {library.reason}")
            return
        print(agreement_text(measure_agreement(library, Path(folder) / "mix")) + "\n", flush=True)
        report_costs(library, pairs, Path(folder))


def _python(text: str, library: Library, folder: Path) -> None:
    folder.mkdir()
    env = os.environ | environment(library, folder, sandboxed=False)
    argv = (sys.executable, "-c", text)
    subprocess.run(argv, env=env, check=True)


def _share(times: Counter[str], name: str) -> float:
    return times[name] / times.total()


if __name__ == "__main__":
    main()
