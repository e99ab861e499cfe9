"""Repeated launches of one kernel as one group, the hottest group first."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.reports.bound import Bound, bound_of
from bot.reports.labels import labels
from counters.columns import COLUMNS, REGISTERS, Cells, Column
from counters.launches import Dim, Launches, Summary
from counters.model import Metric

LABEL_WIDTH = 48

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGroup:
    """All launches of one kernel: same name, same registers per thread.

    Registers are fixed when a kernel is compiled, so other registers under the same name are
    another variant of it (Triton names all of them alike).

    `label` is a name in at most LABEL_WIDTH columns that no other group of the report has. `grid`
    and `block` are None where launches differ in them or have none, `shapes` counts what they have.
    Times are in ns; `total_ns`, `min_ns`, `median_ns` and `max_ns` are of the known durations, None
    without any; `share` (0..1) is of the known time of the report. `counters` has one entry for
    each of COLUMNS: of one launch what ncu printed, of more the median; None where the export lacks
    it.
    """

    label: str
    every: Launches
    grid: Dim | None
    block: Dim | None
    shapes: int
    total_ns: float | None
    share: float | None
    min_ns: float | None
    median_ns: float | None
    max_ns: float | None
    counters: Cells
    bound: Bound

    @property
    def name(self) -> str:
        """Return the name as ncu prints it."""
        return self.every.name

    @property
    def short_name(self) -> str:
        """Return the name without return type, parameters and template arguments."""
        return self.every.short_name

    @property
    def launches(self) -> tuple[int, ...]:
        """Return the ids of the launches, in capture order."""
        return tuple(self.every.ids)

    @property
    def first(self) -> int:
        """Return the id of the first launch."""
        return self.every.ids[0]

    @property
    def count(self) -> int:
        """Return how many launches there are."""
        return len(self.every.ids)

    def value(self, column: Column) -> float | None:
        """Return the median over the launches of any column, in its base unit."""
        return self.every.value(column)


def group(summary: Summary) -> tuple[KernelGroup, ...]:
    """Group the launches of `summary`; groups without a duration come last, in capture order."""
    keys = [(kernel.name, kernel.value(REGISTERS)) for kernel in summary.kernels]
    named = labels(keys, LABEL_WIDTH)
    total = summary.coverage.total_ns
    groups = (
        group_of(kernel, label, total) for kernel, label in zip(summary.kernels, named, strict=True)
    )
    return tuple(sorted(groups, key=_coldness))


def group_of(kernel: Launches, label: str, captured_ns: float | None) -> KernelGroup:
    """Return the group of a kernel's launches, with its share of all `captured_ns`."""
    times = kernel.times
    total = sum(times) if times else None
    return KernelGroup(
        label=label,
        every=kernel,
        grid=_same([grid for grid, _ in kernel.shapes]),
        block=_same([block for _, block in kernel.shapes]),
        shapes=len(set(kernel.shapes)),
        total_ns=total,
        share=total / captured_ns if total is not None and captured_ns else None,
        min_ns=min(times, default=None),
        median_ns=statistics.median(times) if times else None,
        max_ns=max(times, default=None),
        counters=tuple(
            _typical(kernel, column, metric)
            for column, metric in zip(COLUMNS, kernel.printed, strict=True)
        ),
        bound=bound_of(kernel.value),
    )


def _coldness(group: KernelGroup) -> float:
    return 1.0 if group.total_ns is None else -group.total_ns


def _same(values: Sequence[_T | None]) -> _T | None:
    return values[0] if all(value == values[0] for value in values) else None


def _typical(kernel: Launches, column: Column, printed: Metric | None) -> Metric | None:
    value = kernel.value(column)
    if len(kernel.ids) == 1 or printed is None or value is None:
        return printed
    return replace(printed, value=value, text=f"{value:g}")
