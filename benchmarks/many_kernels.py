"""A capture of many kernels, made of a packaged recording whose rows are repeated."""

import csv
from collections.abc import Iterator
from pathlib import Path

DETAILS_HEAD = 1
RAW_HEAD = 2


def repeat(recording: Path, details: Path, raw: Path, kernels: int) -> None:
    """Write both exports of `recording` with that many kernels, each of another name."""
    _repeat(recording / "ncu-details.csv", details, DETAILS_HEAD, kernels)
    _repeat(recording / "ncu-raw.csv", raw, RAW_HEAD, kernels)


def _repeat(source: Path, target: Path, head: int, kernels: int) -> None:
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    name_at = rows[0].index("Kernel Name")
    ids = sorted({int(row[0]) for row in rows[head:]})
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(rows[:head])
        for number in range(kernels):
            taken = [row for row in rows[head:] if int(row[0]) == ids[number % len(ids)]]
            writer.writerows(_renamed(taken, name_at, number))


def _renamed(rows: list[list[str]], name_at: int, number: int) -> Iterator[list[str]]:
    for row in rows:
        name = row[name_at].replace("kernel", f"kernel_{number}", 1)
        yield [str(number), *row[1:name_at], name, *row[name_at + 1 :]]
