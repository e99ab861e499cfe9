"""What bounds a kernel, in one word, by one rule.

The first line that applies decides:

1. unknown: SM or memory throughput was not measured, and the other is below 60 %.
2. compute or memory: the larger of SM and memory throughput is at least 60 % of its peak; memory
   where they are equal.
3. launch: the grid has fewer blocks than the GPU has SMs, or fills less than one wave.
4. occupancy: theoretical occupancy is below 50 %, or achieved is below 60 % of theoretical.
5. latency: none of these; warps wait for something else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from counters.columns import MEMORY, OCCUPANCY, SM, Column
from counters.facts import GRID_BLOCKS, SM_COUNT, THEORETICAL_OCCUPANCY, WAVES

BUSY_FROM = 60.0
ONE_WAVE = 1.0
LOW_THEORETICAL = 50.0
LOW_ACHIEVED = 0.6

Values = Callable[[Column], float | None]


class Word(StrEnum):
    """What to look at first."""

    MEMORY = "memory"
    COMPUTE = "compute"
    LATENCY = "latency"
    LAUNCH = "launch"
    OCCUPANCY = "occupancy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Bound:
    """The word, and the numbers that led to it, in one short clause."""

    word: Word
    reason: str


def bound_of(value: Values) -> Bound:
    """Apply the rule to a kernel's values (`value` returns None for what was not measured).

    Pass `KernelGroup.value`, or `partial(value_of, kernel)` for one launch.
    """
    sm, memory = value(SM), value(MEMORY)
    if max(sm or 0.0, memory or 0.0) >= BUSY_FROM:
        return _busy(sm, memory)
    if sm is None or memory is None:
        return Bound(Word.UNKNOWN, f"{_units(sm, memory)}: not both measured")
    found = _small_grid(value) or _few_warps(value)
    return found or Bound(Word.LATENCY, f"{_units(sm, memory)}: both below {BUSY_FROM:.0f}%")


def _busy(sm: float | None, memory: float | None) -> Bound:
    compute = (sm or 0.0) > (memory or 0.0)
    word = Word.COMPUTE if compute else Word.MEMORY
    unit = "SM" if compute else "memory"
    return Bound(word, f"{_units(sm, memory)}: {unit} is at {BUSY_FROM:.0f}% or more")


def _small_grid(value: Values) -> Bound | None:
    blocks, sms, waves = value(GRID_BLOCKS), value(SM_COUNT), value(WAVES)
    if blocks is not None and sms is not None and blocks < sms:
        grid = "1 block" if blocks == 1 else f"{blocks:.0f} blocks"
        return Bound(Word.LAUNCH, f"{grid} for {sms:.0f} SMs")
    if waves is not None and waves < ONE_WAVE:
        return Bound(Word.LAUNCH, f"{waves:.2f} waves of blocks: less than one")
    return None


def _few_warps(value: Values) -> Bound | None:
    theoretical, achieved = value(THEORETICAL_OCCUPANCY), value(OCCUPANCY)
    if theoretical is not None and theoretical < LOW_THEORETICAL:
        low = f"below {LOW_THEORETICAL:.0f}%"
        return Bound(Word.OCCUPANCY, f"theoretical occupancy {theoretical:.4g}%: {low}")
    if theoretical is None or achieved is None or achieved >= LOW_ACHIEVED * theoretical:
        return None
    return Bound(
        Word.OCCUPANCY,
        f"occupancy {achieved:.4g}% of possible {theoretical:.4g}%: below {LOW_ACHIEVED:.0%} of it",
    )


def _units(sm: float | None, memory: float | None) -> str:
    return f"SM {_percent(sm)}, memory {_percent(memory)}"


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}%"
