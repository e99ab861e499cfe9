"""The bound rule, on hand-worked values and on recordings."""

from pathlib import Path

import pytest

from bot.reports.bound import Bound, Word, bound_of
from bot.reports.groups import group
from counters.columns import MEMORY, OCCUPANCY, SM, Column
from counters.facts import GRID_BLOCKS, SM_COUNT, THEORETICAL_OCCUPANCY, WAVES
from counters.parse import read_summary

FULL: dict[Column, float | None] = {
    SM: 30.0,
    MEMORY: 40.0,
    GRID_BLOCKS: 1024.0,
    SM_COUNT: 132.0,
    WAVES: 1.94,
    THEORETICAL_OCCUPANCY: 100.0,
    OCCUPANCY: 80.0,
}


def bound(*changes: tuple[Column, float | None]) -> Bound:
    return bound_of({**FULL, **dict(changes)}.get)


@pytest.mark.parametrize(
    ("changes", "word", "reason"),
    [
        ([], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        ([(MEMORY, 60.0)], Word.MEMORY, "SM 30%, memory 60%: memory is at 60% or more"),
        ([(MEMORY, 59.99)], Word.LATENCY, "SM 30%, memory 59.99%: both below 60%"),
        ([(SM, 81.5), (MEMORY, 60.0)], Word.COMPUTE, "SM 81.5%, memory 60%: SM is at 60% or more"),
        ([(SM, 70.0), (MEMORY, 70.0)], Word.MEMORY, "SM 70%, memory 70%: memory is at 60% or more"),
        ([(SM, None), (MEMORY, 90.0)], Word.MEMORY, "SM n/a, memory 90%: memory is at 60% or more"),
        ([(SM, 90.0), (MEMORY, None)], Word.COMPUTE, "SM 90%, memory n/a: SM is at 60% or more"),
        ([(SM, None)], Word.UNKNOWN, "SM n/a, memory 40%: not both measured"),
        ([(SM, None), (MEMORY, None)], Word.UNKNOWN, "SM n/a, memory n/a: not both measured"),
        ([(GRID_BLOCKS, 131.0)], Word.LAUNCH, "131 blocks for 132 SMs"),
        ([(GRID_BLOCKS, 1.0)], Word.LAUNCH, "1 block for 132 SMs"),
        ([(GRID_BLOCKS, 132.0)], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        ([(WAVES, 0.97)], Word.LAUNCH, "0.97 waves of blocks: less than one"),
        ([(WAVES, 1.0)], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        ([(WAVES, None), (GRID_BLOCKS, None)], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        (
            [(THEORETICAL_OCCUPANCY, 49.9), (OCCUPANCY, 49.0)],
            Word.OCCUPANCY,
            "theoretical occupancy 49.9%: below 50%",
        ),
        ([(OCCUPANCY, 59.9)], Word.OCCUPANCY, "occupancy 59.9% of possible 100%: below 60% of it"),
        ([(OCCUPANCY, 60.0)], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        ([(OCCUPANCY, None)], Word.LATENCY, "SM 30%, memory 40%: both below 60%"),
        (
            [(WAVES, 0.5), (OCCUPANCY, 10.0), (MEMORY, 84.24)],
            Word.MEMORY,
            "SM 30%, memory 84.24%: memory is at 60% or more",
        ),
    ],
)
def test_the_first_line_of_the_rule_that_applies_decides(
    changes: list[tuple[Column, float | None]], word: Word, reason: str
) -> None:
    assert bound(*changes) == Bound(word, reason)


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        # 84.24 % memory; 28.17 and 32.28 %, 7.76 waves; 0.48 waves: read off the exports by hand.
        ("ok-nvrtc-three-kernels", ["memory", "latency", "launch"]),
        # 16 or 32 blocks for 132 SMs.
        ("ok-hot-four-kernels", ["launch"] * 4),
        # 1024 blocks of 128 threads are 0.48 waves; 4096 are 1.94, at 58.44 % of memory.
        ("ok-triton-1024", ["launch"]),
        ("ok-triton-2048", ["latency"]),
    ],
)
def test_real_kernels(recordings: Path, folder: str, words: list[str]) -> None:
    report = read_summary(recordings / folder / "ncu-details.csv")
    assert [one.bound.word.value for one in group(report)] == words
