"""The columns of the counter table, and how much of it is missing.

A label counts only in its own section: "Memory Throughput" is a percentage in the speed-of-light
section and byte/s in the memory section. A metric name means the same in every section.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from counters.model import Kernel, Metric

DEGRADED_ABOVE = 0.25

_SPEED_OF_LIGHT = ("GPU Speed Of Light Throughput", "GPU Speed Of Light")


@dataclass(frozen=True, slots=True)
class Column:
    """One counter of the table: where its label stands, its metric names, the units it may have.

    `sections`, `labels` and `metrics` begin with the spelling of the newest ncu.
    """

    key: str
    sections: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    units: tuple[str, ...]

    def holds(self, metric: Metric) -> bool:
        """Whether `metric` is this column's counter."""
        by_label = metric.name in self.labels and metric.section in self.sections
        return by_label or metric.name in self.metrics


DURATION = Column("duration", _SPEED_OF_LIGHT, ("Duration",), ("gpu__time_duration.sum",), ("ns",))
SM = Column(
    "sm",
    _SPEED_OF_LIGHT,
    ("Compute (SM) Throughput", "SM [%]"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    ("%",),
)
MEMORY = Column(
    "memory",
    _SPEED_OF_LIGHT,
    ("Memory Throughput", "Memory [%]"),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",),
    ("%",),
)
DRAM = Column(
    "dram",
    _SPEED_OF_LIGHT,
    ("DRAM Throughput",),
    (
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    ("%",),
)
OCCUPANCY = Column(
    "occupancy",
    ("Occupancy",),
    ("Achieved Occupancy",),
    ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    ("%",),
)
REGISTERS = Column(
    "registers",
    ("Launch Statistics",),
    ("Registers Per Thread",),
    ("launch__registers_per_thread",),
    ("register/thread", ""),
)
COLUMNS = (DURATION, SM, MEMORY, DRAM, OCCUPANCY, REGISTERS)

Cells = tuple[Metric | None, ...]
"""What one launch has for each of COLUMNS."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A counter of the table that `launches` of the captured `of` lack; `label` as ncu calls it."""

    label: str
    launches: int
    of: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the table was measured.

    `lacking` counts for each of COLUMNS the launches without a finite value, `untimed` those
    without a duration; `total_ns` is the sum of the known durations, None without any.
    """

    launches: int
    lacking: tuple[int, ...]
    untimed: int
    total_ns: float | None

    @property
    def missing_share(self) -> float:
        """Return table cells without a finite value over all table cells.

        The cells of a launch are its six counters and its share of the time; grid and block are not
        counted, because a range replay has none by design. No launch: 1.0, nothing was measured.
        """
        without_share = self.untimed if self.total_ns else self.launches
        cells = self.launches * (len(self.lacking) + 1)
        return (sum(self.lacking) + without_share) / cells if cells else 1.0

    @property
    def degraded(self) -> bool:
        """Return whether too much is missing."""
        return self.missing_share > DEGRADED_ABOVE

    @property
    def missing(self) -> tuple[Missing, ...]:
        """Return the table's counters that any launch lacks, those that most lack first."""
        found = (
            Missing(column.labels[0], count, self.launches)
            for column, count in zip(COLUMNS, self.lacking, strict=True)
            if count
        )
        return tuple(sorted(found, key=lambda missing: -missing.launches))

    @property
    def missing_words(self) -> str:
        """Name the missing counters: `Duration, DRAM Throughput (in 2 of 3)`."""
        return ", ".join(
            one.label if one.launches == one.of else f"{one.label} (in {one.launches} of {one.of})"
            for one in self.missing
        )


class Tally:
    """Counts, launch by launch, what a Coverage says."""

    def __init__(self) -> None:
        self._launches = 0
        self._lacking = [0] * len(COLUMNS)
        self._timed = 0
        self._total_ns = 0.0

    def add(self, cells: Cells) -> None:
        """Count one launch."""
        self._launches += 1
        for at, cell in enumerate(cells):
            self._lacking[at] += cell is None or cell.value is None
        duration = nanoseconds(cells[0])
        if duration is not None:
            self._timed += 1
            self._total_ns += duration

    def done(self) -> Coverage:
        """Return what was counted."""
        total = self._total_ns if self._timed and isfinite(self._total_ns) else None
        untimed = self._launches - self._timed
        return Coverage(self._launches, tuple(self._lacking), untimed, total)


def coverage_of(kernels: Iterable[Kernel]) -> Coverage:
    """Return how much of the table was measured over all launches."""
    tally = Tally()
    for kernel in kernels:
        tally.add(cells_of(kernel))
    return tally.done()


def accepted(column: Column, metric: Metric | None) -> float | None:
    """Return the value of `metric` where it is in one of the units that `column` may have."""
    return None if metric is None or metric.unit not in column.units else metric.value


def cells_of(kernel: Kernel) -> Cells:
    """Return the table's counters of a kernel, in the order of COLUMNS; None for what it lacks."""
    wanted = [metric for metric in kernel.metrics if metric.name in _NAMES]
    return tuple(_cell(column, wanted) for column in COLUMNS)


_NAMES = frozenset(name for column in COLUMNS for name in column.labels + column.metrics)


def _cell(column: Column, metrics: Sequence[Metric]) -> Metric | None:
    held = [metric for metric in metrics if column.holds(metric)]
    finite = (metric for metric in held if metric.value is not None)
    return next(finite, held[0] if held else None)


def nanoseconds(metric: Metric | None) -> float | None:
    """Return a kernel's duration; None where it is missing, in another unit or negative."""
    value = accepted(DURATION, metric)
    return value if value is not None and value >= 0 else None
