"""All launches of a kernel in slots: what the table, picker, pictures and comparison are made of.

A million rows of an export come to some kilobytes a kernel and some bytes a launch.
"""

import statistics
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from math import inf

from counters.columns import COLUMNS, DURATION, REGISTERS, Cells, Column, Coverage, Tally, accepted
from counters.facts import FACTS
from counters.model import Kernel, Metric, Rule
from counters.stalls import is_stall

MOST_KERNELS = 1_000
"""Of more than twice as many kernels, this many of the hottest are kept."""

_MOST_SHARED = 10_000

Dim = tuple[int, int, int]
Shape = tuple[Dim | None, Dim | None]
"""Grid and block of a launch."""

_ALL = (*COLUMNS, *FACTS)
_NAMES = frozenset(name for column in _ALL for name in column.labels + column.metrics)


def is_wanted(name: str) -> bool:
    """Whether Launches keep a metric of this name or label."""
    return name in _NAMES or (name.startswith("smsp__") and is_stall(name))


@dataclass(frozen=True, slots=True)
class Longest:
    """What is kept of a kernel's longest launch only."""

    id: int
    stalls: tuple[Metric, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """All launches of one kernel: same name, same registers per thread; in capture order.

    `ids`, `shapes` and each of `values` have one entry a launch. `values` go by the key of their
    column and are in its base unit, inf where one was not measured. `printed` has for each of
    COLUMNS what ncu printed first, with a number before without.
    """

    name: str
    short_name: str
    ids: Sequence[int]
    shapes: tuple[Shape, ...]
    values: Mapping[str, Sequence[float]]
    printed: Cells
    longest: Longest

    @property
    def times(self) -> list[float]:
        """Return the known durations, in ns."""
        return [value for value in self.measured(DURATION) if value >= 0]

    def measured(self, column: Column) -> list[float]:
        """Return the values of a column, of those launches that have one."""
        return [value for value in self.values.get(column.key, ()) if value != inf]

    def value(self, column: Column) -> float | None:
        """Return the median of a column over the launches, None where none has it."""
        values = self.measured(column)
        return statistics.median(values) if values else None

    def by_shape(self) -> "dict[Shape, Launches]":
        """Return the launches of each shape; `printed` and `longest` stay those of all."""
        places: dict[Shape, list[int]] = {}
        for at, shape in enumerate(self.shapes):
            places.setdefault(shape, []).append(at)
        return {shape: self._at(found) for shape, found in places.items()}

    def _at(self, places: Sequence[int]) -> "Launches":
        return Launches(
            name=self.name,
            short_name=self.short_name,
            ids=array("q", (self.ids[at] for at in places)),
            shapes=tuple(self.shapes[at] for at in places),
            values={
                key: array("d", (values[at] for at in places))
                for key, values in self.values.items()
            },
            printed=self.printed,
            longest=self.longest,
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Kernels that were too many to keep, and were not among the hottest; `total_ns` of them."""

    kernels: int = 0
    launches: int = 0
    total_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """All launches of one export, by kernel, in the order of their first launches.

    `coverage` is of all launches, those of `left_out` too. `chips` are the compute capabilities,
    `unread` names lines that could not be read, with their number.
    """

    kernels: tuple[Launches, ...]
    coverage: Coverage
    chips: tuple[str, ...]
    left_out: LeftOut = LeftOut()
    unread: tuple[str, ...] = ()

    @property
    def launches(self) -> int:
        """Return how many launches were captured."""
        return self.coverage.launches


_Key = tuple[str, float | None]


class Summarizer:
    """Takes kernels launch by launch; of each it keeps the slots alone."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._chips: set[str] = set()
        self._shapes: dict[Shape, Shape] = {}
        self._kept: dict[_Key, _Gathering] = {}
        self._dropped: set[int] = set()
        self._left_out = LeftOut()

    def add(self, kernel: Kernel) -> None:
        """Take one launch."""
        found = _picked(kernel.metrics)
        self._tally.add(tuple(found.get(column.key) for column in COLUMNS))
        self._chips.add(kernel.compute_capability or "unknown")
        key = kernel.name, accepted(REGISTERS, found.get(REGISTERS.key))
        gathering = self._kept.get(key)
        if gathering is None:
            gathering = _Gathering(kernel)
            if hash(key) in self._dropped:
                gathering.add(kernel, found, (None, None))
                self._leave_out(gathering)
                return
            self._kept[key] = gathering
        gathering.add(kernel, found, self._shared((kernel.grid, kernel.block)))
        if len(self._kept) > 2 * MOST_KERNELS:
            self._drop_the_coldest()

    def done(self, unread: Sequence[str] = ()) -> Summary:
        """Return what was taken."""
        return Summary(
            kernels=tuple(gathering.done() for gathering in self._kept.values()),
            coverage=self._tally.done(),
            chips=tuple(sorted(self._chips)),
            left_out=self._left_out,
            unread=tuple(unread),
        )

    def _shared(self, shape: Shape) -> Shape:
        if len(self._shapes) > _MOST_SHARED:
            self._shapes.clear()
        return self._shapes.setdefault(shape, shape)

    def _drop_the_coldest(self) -> None:
        by_time = sorted(self._kept.items(), key=lambda item: -item[1].total_ns)
        for key, gathering in by_time[MOST_KERNELS:]:
            del self._kept[key]
            self._dropped.add(hash(key))
            self._leave_out(gathering)

    def _leave_out(self, gathering: "_Gathering") -> None:
        left = self._left_out
        launches = left.launches + len(gathering.ids)
        total = left.total_ns + gathering.total_ns
        self._left_out = LeftOut(len(self._dropped), launches, total)


def summarize(kernels: Iterable[Kernel], unread: Sequence[str] = ()) -> Summary:
    """Summarize whole kernels."""
    summarizer = Summarizer()
    for kernel in kernels:
        summarizer.add(kernel)
    return summarizer.done(unread)


class _Gathering:
    """Launches of one kernel while more of them come."""

    def __init__(self, kernel: Kernel) -> None:
        self.ids = array("q")
        self.total_ns = 0.0
        self._names = kernel.name, kernel.short_name
        self._shapes: list[Shape] = []
        self._values: dict[str, array[float]] = {}
        self._printed: list[Metric | None] = [None] * len(COLUMNS)
        self._time = -inf
        self._longest = Longest(kernel.id, (), ())

    def add(self, kernel: Kernel, found: Mapping[str, Metric], shape: Shape) -> None:
        self._add_values(found)
        self.ids.append(kernel.id)
        self._shapes.append(shape)
        time = accepted(DURATION, found.get(DURATION.key)) or 0.0
        self.total_ns += max(time, 0.0)
        if time > self._time:
            stalls = tuple(metric for metric in kernel.metrics if is_stall(metric.name))
            self._time, self._longest = time, Longest(kernel.id, stalls, kernel.rules)

    def _add_values(self, found: Mapping[str, Metric]) -> None:
        before = len(self.ids)
        for key, metric in found.items():
            column = _BY_KEY[key]
            value = accepted(column, metric)
            self._print(column, metric, known=value is not None)
            if value is not None:
                series = self._values.get(key)
                if series is None:
                    series = self._values[key] = array("d")
                if len(series) < before:
                    series.extend(repeat(inf, before - len(series)))
                series.append(value)

    def _print(self, column: Column, metric: Metric, *, known: bool) -> None:
        at = _PLACES.get(column.key)
        if at is not None:
            first = self._printed[at] is None
            # What has no number gives way to the first that has one.
            if first or (known and column.key not in self._values):
                self._printed[at] = metric

    def done(self) -> Launches:
        name, short_name = self._names
        for series in self._values.values():
            series.extend(repeat(inf, len(self.ids) - len(series)))
        return Launches(
            name=name,
            short_name=short_name,
            ids=self.ids,
            shapes=tuple(self._shapes),
            values=self._values,
            printed=tuple(self._printed),
            longest=self._longest,
        )


_BY_KEY = {column.key: column for column in _ALL}
_PLACES = {column.key: at for at, column in enumerate(COLUMNS)}


def _picked(metrics: Iterable[Metric]) -> dict[str, Metric]:
    """Return a launch's metric of each column by its key: a finite one before one without value."""
    found: dict[str, Metric] = {}
    for metric in metrics:
        if metric.name not in _NAMES:
            continue
        for key in _keys(metric.section, metric.name):
            if key not in found or (found[key].value is None and metric.value is not None):
                found[key] = metric
    return found


@lru_cache(maxsize=1_024)
def _keys(section: str, name: str) -> tuple[str, ...]:
    metric = Metric(section, name, "", None, "")
    return tuple(column.key for column in _ALL if column.holds(metric))
