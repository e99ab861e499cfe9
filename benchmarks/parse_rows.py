"""A details export of a million rows beside a bare pass of csv.reader over it.

`python -m benchmarks.parse_rows [ROWS]`. Measured are the summary that the bot and the runner read,
and `ncubot report` as a whole process. The file repeats a recorded export: every repetition has its
own ids and its own digits in whatever differs from launch to launch; what a launch is configured
with stays. Times are CPU time; memory is measured in processes of their own.
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
from counters.parse import read_summary

ROWS = 1_000_000
RUNS = 3
MAX_RATIO = 2.5
MAX_MEGABYTES = 100
_TAIL = 100
RECORDING = (
    Path(__file__).resolve().parents[1] / "runner/recordings/qr_v2-starter-0/ncu-details.csv"
)

_SETTINGS = ("Launch Statistics", "Occupancy", "PM Sampling")
_USED = (
    "; import resource; used = resource.getrusage(resource.RUSAGE_SELF); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
)
_PROGRAMS = {
    "csv module only": "import csv, sys; "
    "any(not row for row in csv.reader(open(sys.argv[1], newline='')))",
    "summary": "import sys; from pathlib import Path; from counters.parse import read_summary; "
    "read_summary(Path(sys.argv[1]))",
    "table": "import sys; from cli.report import command; "
    "command([sys.argv[1]], standalone_mode=False)",
    "json": "import sys; from cli.report import command; "
    "command([sys.argv[1], '--format', 'json'], standalone_mode=False)",
}


def measure(rows: int = ROWS, runs: int = RUNS) -> tuple[Figure, ...]:
    """Read a file of `rows` rows in every way, in turn, after an unmeasured run of each."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder:
        path = Path(folder) / "ncu-details.csv"
        write_export(path, rows)
        rounds = [(_seconds(read_summary, path), _seconds(_bare, path)) for _ in range(runs + 1)]
        whole = [[_process(name, path) for name in _PROGRAMS] for _ in range(runs + 1)]
    parsed, bare = zip(*rounds[1:], strict=True)
    peaks = {name: peak for name, (_, peak) in zip(_PROGRAMS, whole[0], strict=True)}
    alone, _, table, as_json = (
        tuple(seconds for seconds, _ in measured) for measured in zip(*whole[1:], strict=True)
    )
    return (
        _figure(f"{rows:,} rows summed up", peaks["summary"], parsed, "csv.reader pass", bare),
        _figure("ncubot report", peaks["table"], table, "python, csv module only", alone),
        _figure("... --format json", peaks["json"], as_json, "python, csv module only", alone),
    )


def _figure(
    name: str, peak: float, seconds: tuple[float, ...], baseline: str, bare: tuple[float, ...]
) -> Figure:
    return Figure(
        name=f"{name}, CPU, peak {peak:.0f} MB (target {MAX_MEGABYTES} MB)",
        values=seconds,
        baseline=baseline,
        baseline_values=bare,
        target=MAX_RATIO * sorted(bare)[len(bare) // 2],
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


def _process(name: str, path: Path) -> tuple[float, float]:
    """Return the CPU seconds and the peak resident MB of a process that reads `path`."""
    command = [sys.executable, "-c", _PROGRAMS[name] + _USED, str(path)]
    with tempfile.TemporaryFile() as out:
        subprocess.run(command, check=True, stdout=out, stderr=subprocess.DEVNULL)
        out.seek(max(out.tell() - _TAIL, 0))
        seconds, kilobytes = out.read().split()[-2:]
    return float(seconds), int(kilobytes) * 1024 / 1e6


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


def _seconds(work: Callable[[Path], object], path: Path) -> float:
    start = time.process_time()
    work(path)
    return time.process_time() - start


def _bare(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def main(arguments: list[str]) -> None:
    """Print the figure."""
    print(markdown(measure(int(arguments[0]) if arguments else ROWS)))


if __name__ == "__main__":
    main(sys.argv[1:])
