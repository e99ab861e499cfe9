"""Repeated launches of one kernel as one group, the hottest group first."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TypeVar

from bot.reports.bound import Bound, bound_of
from bot.reports.labels import labels
from counters.columns import (
    COLUMNS,
    REGISTERS,
    Column,
    Row,
    accepted,
    counter_of,
    make_table,
    nanoseconds,
    value_of,
)
from counters.model import Kernel, KernelReport, Metric

LABEL_WIDTH = 48

Dim = tuple[int, int, int]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGroup:
    """All launches of one kernel: same name, same registers per thread.

    Registers are fixed when a kernel is compiled, so other registers under the same name are
    another variant of it (Triton names all of them alike).

    `label` is a name in at most LABEL_WIDTH columns that no other group of the report has. `grid`
    and `block` are None where launches differ in them or have none. Times are in ns; `total_ns`,
    `min_ns`, `median_ns` and `max_ns` are of the known durations, None without any; `share` (0..1)
    is of the known time of the report. `counters` has one entry for each of COLUMNS: of one launch
    what ncu printed, of more the median; None where the export lacks it.
    """

    name: str
    short_name: str
    label: str
    grid: Dim | None
    block: Dim | None
    kernels: tuple[Kernel, ...]
    total_ns: float | None
    share: float | None
    min_ns: float | None
    median_ns: float | None
    max_ns: float | None
    counters: tuple[Metric | None, ...]
    bound: Bound

    @property
    def launches(self) -> tuple[int, ...]:
        """Return the ids of the launches, in capture order."""
        return tuple(kernel.id for kernel in self.kernels)

    @property
    def count(self) -> int:
        """Return how many launches there are."""
        return len(self.kernels)

    def value(self, column: Column) -> float | None:
        """Return the median over the launches of any column, in its base unit."""
        return median_value(self.kernels, column)


def group(report: KernelReport) -> tuple[KernelGroup, ...]:
    """Group the launches of `report`; groups without a duration come last, in capture order."""
    return regroup(make_table(report.kernels).rows)


def regroup(rows: Sequence[Row]) -> tuple[KernelGroup, ...]:
    """Group rows of a table, whose shares are already worked out."""
    found: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        found.setdefault(_key(row.kernel), []).append(row)
    named = labels(list(found), LABEL_WIDTH)
    groups = (_group(rows, label) for rows, label in zip(found.values(), named, strict=True))
    return tuple(sorted(groups, key=_coldness))


def median_value(kernels: Sequence[Kernel], column: Column) -> float | None:
    """Return the median of a column over launches, or None where no launch has it."""
    values = [value for kernel in kernels if (value := value_of(kernel, column)) is not None]
    return statistics.median(values) if values else None


def _key(kernel: Kernel) -> tuple[str, float | None]:
    return kernel.name, value_of(kernel, REGISTERS)


def _coldness(group: KernelGroup) -> float:
    return 1.0 if group.total_ns is None else -group.total_ns


def _group(rows: list[Row], label: str) -> KernelGroup:
    kernels = tuple(row.kernel for row in rows)
    times = [time for row in rows if (time := nanoseconds(row.cells[0])) is not None]
    shares = [row.share for row in rows if row.share is not None]
    return KernelGroup(
        name=kernels[0].name,
        short_name=kernels[0].short_name,
        label=label,
        grid=_same([kernel.grid for kernel in kernels]),
        block=_same([kernel.block for kernel in kernels]),
        kernels=kernels,
        total_ns=sum(times) if times else None,
        share=fsum(shares) if shares else None,
        min_ns=min(times, default=None),
        median_ns=statistics.median(times) if times else None,
        max_ns=max(times, default=None),
        counters=tuple(_typical(kernels, column) for column in COLUMNS),
        bound=bound_of(partial(median_value, kernels)),
    )


def _same(values: list[_T | None]) -> _T | None:
    return values[0] if all(value == values[0] for value in values) else None


def _typical(kernels: Sequence[Kernel], column: Column) -> Metric | None:
    metrics = [metric for kernel in kernels if (metric := counter_of(kernel, column)) is not None]
    known = [metric for metric in metrics if accepted(column, metric) is not None]
    if len(kernels) == 1 or not known:
        return metrics[0] if metrics else None
    value = median_value(kernels, column)
    return replace(known[0], value=value, text="" if value is None else f"{value:g}")
