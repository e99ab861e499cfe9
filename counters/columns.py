"""The columns of the counter table, and how much of it is missing.

A label counts only in its own section: "Memory Throughput" is a percentage in the speed-of-light
section and byte/s in the memory section. A metric name means the same in every section.
"""

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel in the table: its counters in the order of COLUMNS, and its share of the time.

    A counter that the export lacks is None. `share` (0..1) is of the sum of all known durations;
    None where this kernel has none.
    """

    kernel: Kernel
    cells: tuple[Metric | None, ...]
    share: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """All rows in capture order; `total_ns` is the sum of the known durations, None without any."""

    rows: tuple[Row, ...]
    total_ns: float | None


def make_table(kernels: Sequence[Kernel]) -> Table:
    """Pick the table's counters out of the kernels."""
    found = [_cells(kernel) for kernel in kernels]
    durations = [nanoseconds(cells[0]) for cells in found]
    known = [duration for duration in durations if duration is not None]
    total = sum(known) if known and isfinite(sum(known)) else None
    rows = (
        Row(kernel, cells, _share(duration, total))
        for kernel, cells, duration in zip(kernels, found, durations, strict=True)
    )
    return Table(tuple(rows), total)


def missing_share(kernels: Sequence[Kernel]) -> float:
    """Return table cells without a finite value over all table cells.

    The cells of a kernel are its six counters and its share of the time; grid and block are not
    counted, because a range replay has none by design. No kernels: 1.0, nothing was measured.
    """
    cells = [cell for row in make_table(kernels).rows for cell in _values(row)]
    return cells.count(None) / len(cells) if cells else 1.0


@dataclass(frozen=True, slots=True)
class Missing:
    """A counter of the table that `launches` of the captured `of` lack; `label` as ncu calls it."""

    label: str
    launches: int
    of: int


def missing_counters(kernels: Sequence[Kernel]) -> tuple[Missing, ...]:
    """Return the table's counters that any launch lacks, those that most lack first."""
    cells = [row.cells for row in make_table(kernels).rows]
    lacking = [
        sum(cell is None or cell.value is None for cell in column)
        for column in zip(*cells, strict=True)
    ]
    found = (
        Missing(column.labels[0], count, len(cells))
        for column, count in zip(COLUMNS, lacking, strict=False)
        if count
    )
    return tuple(sorted(found, key=lambda missing: -missing.launches))


def missing_words(kernels: Sequence[Kernel]) -> str:
    """Name the missing counters: `Duration, DRAM Throughput (in 2 of 3)`."""
    return ", ".join(
        one.label if one.launches == one.of else f"{one.label} (in {one.launches} of {one.of})"
        for one in missing_counters(kernels)
    )


def counter_of(kernel: Kernel, column: Column) -> Metric | None:
    """Return the kernel's counter for `column`: a finite one before one without a number."""
    return _cell(column, kernel.metrics)


def value_of(kernel: Kernel, column: Column) -> float | None:
    """Return what `counter_of` says, or None where it is no number in one of the column's units."""
    return accepted(column, counter_of(kernel, column))


def accepted(column: Column, metric: Metric | None) -> float | None:
    """Return the value of `metric` where it is in one of the units that `column` may have."""
    return None if metric is None or metric.unit not in column.units else metric.value


def _cells(kernel: Kernel) -> tuple[Metric | None, ...]:
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


def _share(duration: float | None, total: float | None) -> float | None:
    if duration is None or not total:
        return None
    return duration / total


def _values(row: Row) -> list[float | None]:
    return [row.share, *(cell.value if cell else None for cell in row.cells)]
