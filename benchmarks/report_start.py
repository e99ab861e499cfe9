"""How long `ncubot report` takes as a whole process, beside a bare interpreter that reads the file.

`python -m benchmarks.report_start [CSV]`; without CSV, the first recording in runner/recordings/.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure, markdown

RUNS = 10
TARGET_S = 0.5
RECORDINGS = Path(__file__).resolve().parents[1] / "runner" / "recordings"
_BASELINE = "import csv, sys; list(csv.reader(open(sys.argv[1], newline='')))"
_REPORT = "from cli.main import main; main()"


def measure(csv: Path | None = None, runs: int = RUNS) -> tuple[Figure, ...]:
    """Time the baseline and `ncubot report` in turn, after one unmeasured run of each.

    Exits where no CSV is given and none was recorded. Raises subprocess.CalledProcessError where a
    process fails.
    """
    path = str(csv or _first_recording())
    report = [sys.executable, "-c", _REPORT, "report", path]
    commands = ([sys.executable, "-c", _BASELINE, path], report, [*report, "--format", "json"])
    rounds = [[_seconds(command) for command in commands] for _ in range(runs + 1)]
    baseline, *measured = zip(*rounds[1:], strict=True)
    names = ("ncubot report", "ncubot report --format json")
    return tuple(
        Figure(
            name=name,
            values=seconds,
            baseline="python, csv module only",
            baseline_values=baseline,
            target=TARGET_S,
        )
        for name, seconds in zip(names, measured, strict=True)
    )


def main(arguments: Sequence[str] = ()) -> tuple[Figure, ...]:
    """Measure, print a short table and return the values."""
    figures = measure(Path(arguments[0]) if arguments else None)
    print(markdown(figures))
    return figures


def _first_recording() -> Path:
    found = sorted(RECORDINGS.glob("*/ncu-details.csv"))
    if not found:
        sys.exit("no CSV given, and none under runner/recordings/")
    return found[0]


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv[1:])
