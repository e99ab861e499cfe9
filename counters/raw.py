"""`ncu --import REPORT --page raw --csv` -> the metrics that are asked for. Streams."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from sys import intern

from counters.errors import Lack
from counters.model import Metric
from counters.source import END_ROW, Notes, Rows, find_header, is_cut, open_lines
from counters.units import base_unit, number

Wanted = Callable[[str], bool]

_PAGE = frozenset({"ID", "Kernel Name"})


@dataclass(frozen=True, slots=True)
class RawKernel:
    """One launch on the raw page: its metrics by metric name, in base units."""

    id: int
    name: str
    metrics: Mapping[str, Metric]

    def value(self, name: str) -> float | None:
        """Return the value of a metric, or None where it is missing or no finite number."""
        metric = self.metrics.get(name)
        return None if metric is None else metric.value


def read_raw(path: Path, wanted: Wanted) -> tuple[RawKernel, ...]:
    """Return every launch with those metrics whose name is `wanted`.

    Raises NoTable where no row names the fields of the raw page, and OSError.
    """
    return tuple(iter_raw(path, wanted))


def iter_raw(path: Path, wanted: Wanted, notes: Notes | None = None) -> Iterator[RawKernel]:
    """Yield launch by launch in constant memory; what cannot be read goes to `notes`."""
    with open_lines(path) as lines:
        yield from parse_raw(lines, wanted, Notes() if notes is None else notes)


def parse_raw(lines: Iterable[str], wanted: Wanted, notes: Notes) -> Iterator[RawKernel]:
    """Parse the lines (with their ends) of an export: header, units, one row a launch."""
    source = iter(lines)
    header, above = find_header(source, _is_header, _other_page)
    rows = Rows(source, above, notes)
    units: list[str] = []
    picked = [(at, intern(name)) for at, name in enumerate(header) if wanted(name)]
    id_at, name_at = header.index("ID"), header.index("Kernel Name")
    for row in rows:
        if row in ([], END_ROW):
            continue
        if len(row) != len(header) or is_cut(row[-1]):
            notes.add(rows.line, "not a row of the table")
        elif not units and row[id_at] == "":
            units = row
        elif units and row[id_at].isascii() and row[id_at].isdecimal():
            metrics = {name: _metric(name, row[at], units[at]) for at, name in picked}
            yield RawKernel(int(row[id_at][:12]), row[name_at], metrics)
        else:
            notes.add(rows.line, "not a row of the table")


def _is_header(fields: list[str]) -> bool:
    return _PAGE.issubset(fields) and "Metric Value" not in fields


def _other_page(fields: list[str]) -> Lack | None:
    return Lack.NO_HEADER if _PAGE.issubset(fields) else None


def _metric(name: str, text: str, unit: str) -> Metric:
    base, power = base_unit(unit.strip())
    return Metric("", name, base, number(text, power), text)
