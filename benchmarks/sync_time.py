"""How long a sync of 200 unchanged problems takes besides the fetch.

`python -m benchmarks.sync_time`. The problems are written for it: an evaluator that all share, and
a reference, a template and thirty cases each. Measured is everything after the files lie there:
reading, checking against the tables, and serving. The baseline reads the same YAML files by
PyYAML's safe_load and nothing more.
"""

import asyncio
import tempfile
import time
from pathlib import Path

import yaml

from benchmarks.figures import Figure, markdown
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.check.task import check_task
from bot.leaderboards.service import LeaderboardService
from bot.settings import BotSettings
from bot.storage.audit import Who
from bot.storage.database import open_database

PROBLEMS = 200
SETS = 4
RUNS = 5
TARGET_S = 2.0
WHO = Who(origin="command line")
TASK = """\
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: ../eval.py}
  - {name: reference.py, source: reference.py}
lang: py
config: {main: eval.py}
description: |
  Factorise a batch of square matrices.
test_timeout: 240
benchmark_timeout: 480
ranked_timeout: 900
ranking_by: geom
templates: {Python: template.py}
"""
CASE = "  - {{batch: {n}, n: {n}, cond: 1, kind: dense, seed: {n}}}\n"


def measure(problems: int = PROBLEMS, runs: int = RUNS) -> tuple[Figure, ...]:
    """Time the baseline and the sync in turn, after one unmeasured sync that makes everything."""
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "problems", problems)
        seconds, baseline = asyncio.run(_measured(root, Path(folder) / "data", runs))
    figure = Figure(
        name=f"sync of {problems} unchanged problems",
        values=seconds,
        baseline="yaml.safe_load of the same files",
        baseline_values=baseline,
        target=TARGET_S,
    )
    return (figure,)


async def _measured(
    root: Path, data: Path, runs: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    settings = BotSettings(data=data, problems=root)
    database = await open_database(settings.database)
    service = LeaderboardService(database, Catalogue(), settings, check_task)
    await service.sync_folder(root, WHO)
    seconds, baseline = [], []
    for _ in range(runs):
        baseline.append(_bare(root))
        start = time.perf_counter()
        report = await service.sync_folder(root, WHO)
        seconds.append(time.perf_counter() - start)
        assert not report.acts
    await database.close()
    return tuple(seconds), tuple(baseline)


def _bare(root: Path) -> float:
    start = time.perf_counter()
    for file in (*root.glob("*.yaml"), *root.glob("*/*/task.yml")):
        yaml.safe_load(file.read_text(encoding="utf-8"))
    return time.perf_counter() - start


def write(root: Path, problems: int) -> Path:
    """Write a repository of so many problems in four competitions and return it."""
    cases = "".join(CASE.format(n=32 * number) for number in range(1, 16))
    for number in range(problems):
        folder = root / f"set{number % SETS}" / f"p{number:03}"
        folder.mkdir(parents=True)
        (folder / "task.yml").write_text(f"{TASK}tests:\n{cases}benchmarks:\n{cases}")
        (folder / "reference.py").write_text(f"# {number}\n" * 100)
        (folder / "template.py").write_text("def custom_kernel(data): ...\n")
    for number in range(SETS):
        (root / f"set{number}" / "eval.py").write_text("print()\n" * 300)
        entries = "".join(
            f"  - {{directory: set{number}/p{n:03}, name: p{n:03}, gpus: [H200]}}\n"
            for n in range(number, problems, SETS)
        )
        head = f'name: Set {number}\ndeadline: "2030-01-31 7:00"\nproblems:\n'
        (root / f"set{number}.yaml").write_text(head + entries)
    return root


def main() -> tuple[Figure, ...]:
    """Measure, print a short table and return the values."""
    figures = measure()
    print(markdown(figures))
    return figures


if __name__ == "__main__":
    main()
