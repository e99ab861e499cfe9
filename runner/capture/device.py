"""The GPU that a report was made on, as its export names it, against the one that was asked for."""

import csv
import re
from itertools import islice
from pathlib import Path

from runner.health.system import competition_name
from runner.text import one_line
from runner_client.wire import Failure, FailureKind

COLUMN = "device__attribute_display_name"
MAX_LINE = 1_000_000
MAX_LINES = 100


def device_name(raw_csv: Path | None) -> str:
    """Return the first launch's device out of a raw page; empty where it is not told. Blocking.

    The line after the header holds units; programs may have printed before the header.
    """
    if raw_csv is None:
        return ""
    with raw_csv.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = iter(lambda: file.readline(MAX_LINE), "")
        return _find(list(islice(lines, MAX_LINES)))


def wrong_gpu(asked: str, device: str) -> Failure | None:
    """Compare names as competitions write them; a name without a model says nothing."""
    words = re.split(r"[^a-z0-9]+", asked.casefold())
    model = competition_name(device).casefold()
    if not re.search(r"\d", model) or not re.search(r"\d", asked) or model in words:
        return None
    detail = one_line(f"{device}, asked for {asked}", 200)
    return Failure(kind=FailureKind.WRONG_GPU, detail=detail)


def _find(lines: list[str]) -> str:
    for number, line in enumerate(lines):
        if COLUMN in line:
            return _cell(lines[number:])
    return ""


def _cell(lines: list[str]) -> str:
    try:
        header, _, first = islice(csv.reader(lines), 3)
        return first[header.index(COLUMN)]
    except (csv.Error, ValueError, IndexError):
        return ""
