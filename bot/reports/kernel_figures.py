"""Which figures one kernel's page shows, and how each is printed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.reports.groups import KernelGroup
from bot.reports.table import MISSING
from counters import facts
from counters.columns import DRAM, MEMORY, OCCUPANCY, REGISTERS, SM, Column

_FULL = 100.0
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"))

# What allows the fewest blocks on an SM limits occupancy.
_LIMITS = (
    (facts.LIMIT_REGISTERS, "registers"),
    (facts.LIMIT_SHARED, "shared memory"),
    (facts.LIMIT_WARPS, "warps"),
    (facts.LIMIT_BARRIERS, "barriers"),
    (facts.LIMIT_SM, "blocks of an SM"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure: `value` in its base unit, None where it was not measured."""

    label: str
    text: str
    value: float | None


def limiters(group: KernelGroup) -> tuple[str, ...]:
    """Return what keeps theoretical occupancy below 100 %: the smallest of the block limits."""
    theoretical = group.value(facts.THEORETICAL_OCCUPANCY)
    limits = [(value, name) for column, name in _LIMITS if (value := group.value(column))]
    if theoretical is None or theoretical >= _FULL or not limits:
        return ()
    least = min(value for value, _ in limits)
    return tuple(name for value, name in limits if value == least)


def _percent(value: float) -> str:
    return f"{value:.2f} %"


def _count(value: float) -> str:
    return f"{value:,.2f}".removesuffix(".00")


def _size(value: float, unit: str = "B") -> str:
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale:
            return f"{value / scale:.2f} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def _rate(value: float) -> str:
    return _size(value, "B/s")


def _blocks(value: float) -> str:
    return f"{value:.4g} blocks"


Wanted = tuple[str, Column, Callable[[float], str]]

SPEED_OF_LIGHT: tuple[Wanted, ...] = (
    ("SM", SM, _percent),
    ("memory", MEMORY, _percent),
    ("L1/TEX", facts.L1_THROUGHPUT, _percent),
    ("L2", facts.L2_THROUGHPUT, _percent),
    ("DRAM", DRAM, _percent),
    ("issue slots", facts.ELIGIBLE, _percent),
)
OCCUPANCY_FIGURES: tuple[Wanted, ...] = (
    ("achieved", OCCUPANCY, _percent),
    ("theoretical", facts.THEORETICAL_OCCUPANCY, _percent),
    ("registers allow", facts.LIMIT_REGISTERS, _blocks),
    ("shared memory", facts.LIMIT_SHARED, _blocks),
    ("warps allow", facts.LIMIT_WARPS, _blocks),
    ("barriers allow", facts.LIMIT_BARRIERS, _blocks),
)
MEMORY_FIGURES: tuple[Wanted, ...] = (
    ("DRAM traffic", facts.DRAM_RATE, _rate),
    ("memory busy", facts.MEMORY_BUSY, _percent),
    ("L1/TEX hits", facts.L1_HITS, _percent),
    ("memory pipes", facts.MEMORY_PIPES, _percent),
    ("L2 hits", facts.L2_HITS, _percent),
    ("register spills", facts.SPILLS, _count),
)
LAUNCH_FIGURES: tuple[Wanted, ...] = (
    ("registers/thread", REGISTERS, _count),
    ("waves per SM", facts.WAVES, _count),
    ("static shared", facts.STATIC_SHARED, _size),
    ("blocks", facts.GRID_BLOCKS, _count),
    ("dynamic shared", facts.DYNAMIC_SHARED, _size),
    ("SMs", facts.SM_COUNT, _count),
)


def figures(group: KernelGroup, wanted: Sequence[Wanted]) -> tuple[Fact, ...]:
    """Return the wanted figures of a group, n/a where they were not measured."""
    return tuple(_fact(label, group.value(column), form) for label, column, form in wanted)


def _fact(label: str, value: float | None, form: Callable[[float], str]) -> Fact:
    return Fact(label, MISSING if value is None else form(value), value)
