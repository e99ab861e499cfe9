"""A details export of a million rows, kernel by kernel, beside a bare pass of csv.reader over it.

`python -m benchmarks.parse_rows [ROWS]`. The file repeats a recorded export: every repetition has
its own ids and its own digits in whatever differs from launch to launch; what a launch is
configured with stays. Memory is measured in processes of their own.
"""

import csv
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.figures import Figure, markdown
from counters.parse import iter_kernels

ROWS = 1_000_000
RUNS = 3
MAX_RATIO = 2.5
MAX_MEGABYTES = 100
RECORDING = (
    Path(__file__).resolve().parents[1] / "runner/recordings/qr_v2-starter-0/ncu-details.csv"
)

_SETTINGS = ("Launch Statistics", "Occupancy", "PM Sampling")
_PEAK = (
    "import resource, sys; from pathlib import Path; from counters.parse import iter_kernels; "
    "kernels = sum(1 for _ in iter_kernels(Path(sys.argv[1]))); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def measure(rows: int = ROWS, runs: int = RUNS) -> tuple[Figure, ...]:
    """Parse a file of `rows` rows and read it bare, in turn, after an unmeasured run of each."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        path = Path(folder) / "ncu-details.csv"
        write_export(path, rows)
        rounds = [(_seconds(_parse, path), _seconds(_bare, path)) for _ in range(runs + 1)]
        peak = peak_megabytes(path)
    parsed, bare = zip(*rounds[1:], strict=True)
    return (
        Figure(
            name=f"{rows:,} rows to kernels, peak {peak:.0f} MB (target {MAX_MEGABYTES} MB)",
            seconds=parsed,
            baseline="bare csv.reader pass",
            baseline_seconds=bare,
            target_s=MAX_RATIO * sorted(bare)[len(bare) // 2],
        ),
    )


def write_export(path: Path, rows: int) -> None:
    """Write an export of `rows` rows below its header."""
    with RECORDING.open(encoding="utf-8", newline="") as file:
        header, *recorded = csv.reader(file)
    at = {name: index for index, name in enumerate(header)}
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(islice(_repeated(recorded, at), rows))


def peak_megabytes(path: Path) -> float:
    """Return the peak resident size, in MB, of a process that does nothing but parse `path`."""
    command = [sys.executable, "-c", _PEAK, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024 / 1e6


def _repeated(recorded: list[list[str]], at: dict[str, int]) -> Iterator[list[str]]:
    digits, first_id = random.Random(1), 0  # noqa: S311 - digits of a benchmark, no secret
    kernels = 1 + max(int(row[at["ID"]]) for row in recorded)
    while True:
        for row in recorded:
            copy = row.copy()
            copy[at["ID"]] = str(first_id + int(row[at["ID"]]))
            if row[at["Section Name"]] not in _SETTINGS:
                copy[at["Metric Value"]] = _other_digits(row[at["Metric Value"]], digits)
            yield copy
        first_id += kernels


def _other_digits(text: str, digits: random.Random) -> str:
    """Replace the digits of a number but the first; a single digit (0, a count) stays."""
    if text[1:].strip("0123456789.,"):
        return text
    made = (str(digits.randrange(10)) if c.isdigit() else c for c in text[1:])
    return text[:1] + "".join(made)


def _seconds(work: Callable[[Path], None], path: Path) -> float:
    start = time.perf_counter()
    work(path)
    return time.perf_counter() - start


def _parse(path: Path) -> None:
    for _ in iter_kernels(path):
        pass


def _bare(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def main(arguments: list[str]) -> None:
    """Print the figure."""
    print(markdown(measure(int(arguments[0]) if arguments else ROWS)))


if __name__ == "__main__":
    main(sys.argv[1:])
