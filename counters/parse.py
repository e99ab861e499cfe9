"""`ncu --import REPORT --page details --csv` -> KernelReport. Streams; every byte is hostile."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from sys import intern

from counters.columns import DEGRADED_ABOVE, missing_share
from counters.errors import Lack, NoTable
from counters.model import Kernel, KernelReport, Metric, Rule
from counters.names import short_name
from counters.units import base_unit, is_ambiguous, number

_REQUIRED = frozenset(
    {"ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"}
)
_BOTH_PAGES = frozenset({"ID", "Kernel Name"})
_SHAPE = re.compile(r"\(?\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*\)?")
_ID = re.compile(r"[0-9]{1,12}")
_NOTES = 20
_EXCERPT = 40

_LONGEST_LINE = 16 * 1024 * 1024
_HEADER_WITHIN = 64 * 1024 * 1024

# One limit for the whole process, so it is only ever raised: names of template-heavy kernels pass
# the default of 128 KiB.
csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_LINE))

_Cells = dict[str, str]


@dataclass(slots=True)
class _Draft:
    """A kernel whose rows are still coming in."""

    id: int
    cells: _Cells
    metrics: list[Metric] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    def done(self) -> Kernel:
        name = self.cells["Kernel Name"]
        return Kernel(
            id=self.id,
            name=name,
            short_name=short_name(name),
            grid=_shape(self.cells.get("Grid Size", "")),
            block=_shape(self.cells.get("Block Size", "")),
            device=self.cells.get("Device", ""),
            compute_capability=self.cells.get("CC", ""),
            metrics=tuple(self.metrics),
            rules=tuple(self.rules),
        )


@dataclass(slots=True)
class _Notes:
    """What could not be read, in at most _NOTES lines."""

    lines: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, line: int, what: str) -> None:
        if len(self.lines) < _NOTES:
            self.lines.append(f"line {line}: {what}")
        else:
            self.more += 1

    def done(self) -> tuple[str, ...]:
        rest = [f"and {self.more} more lines"] if self.more else []
        return (*self.lines, *rest)


class _Table:
    """The table as far as it was read."""

    def __init__(self, header: list[str]) -> None:
        self.header = header
        self.notes = _Notes()
        self._drafts: dict[tuple[str, ...], _Draft] = {}

    def add(self, line: int, row: list[str]) -> None:
        if "Metric Value" in row and _REQUIRED.issubset(row):
            self.header = row
            return
        cells = dict(zip(self.header, row, strict=False))
        if not _REQUIRED.issubset(cells) or not _ID.fullmatch(cells["ID"]):
            self.notes.add(line, "not a row of the table")
            return
        draft = self._draft(cells)
        if cells["Metric Name"]:
            draft.metrics.append(self._metric(line, cells))
        if cells.get("Rule Name"):
            draft.rules.append(_rule(cells))

    def report(self) -> KernelReport:
        kernels = tuple(draft.done() for draft in self._drafts.values())
        missing = missing_share(kernels)
        return KernelReport(kernels, missing, missing > DEGRADED_ABOVE, self.notes.done())

    def _draft(self, cells: _Cells) -> _Draft:
        # An id is unique in one report; the rest keeps apart what files put together would merge.
        key = (cells["ID"], cells.get("Process ID", ""), cells["Kernel Name"])
        if key not in self._drafts:
            self._drafts[key] = _Draft(int(cells["ID"]), cells)
        return self._drafts[key]

    def _metric(self, line: int, cells: _Cells) -> Metric:
        name, text = intern(cells["Metric Name"]), cells["Metric Value"]
        unit, power = base_unit(cells["Metric Unit"].strip())
        if is_ambiguous(text):
            self.notes.add(line, f"{name[:_EXCERPT]}: {text[:_EXCERPT]} may be read in two ways")
        return Metric(intern(cells["Section Name"]), name, unit, number(text, power), text)


def read_report(path: Path) -> KernelReport:
    """Read the export at `path` line by line.

    Bytes that are not UTF-8 are replaced; the header must stand in the first 64 MiB. Raises
    NoTable where no row names the fields of the details page, and OSError where the file cannot
    be read.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return parse_lines(iter(partial(file.readline, _LONGEST_LINE), ""))


def parse_lines(lines: Iterable[str]) -> KernelReport:
    """Parse the lines (with their ends) of an export; whatever stands above its header is skipped.

    Raises NoTable.
    """
    source = iter(lines)
    header, above = _find_header(source)
    table = _Table(header)
    for line, row in _rows(source, above, table.notes):
        table.add(line, row)
    return table.report()


def _find_header(source: Iterator[str]) -> tuple[list[str], int]:
    lack, size = Lack.EMPTY, 0
    for count, line in enumerate(source, start=1):
        size += len(line)
        if size > _HEADER_WITHIN:
            break
        fields = _header_fields(line)
        if _REQUIRED.issubset(fields):
            return fields, count
        lack = _diagnosed(lack, line, fields)
    raise NoTable(lack)


def _header_fields(line: str) -> list[str]:
    if "Kernel Name" not in line:
        return []
    try:
        row = next(csv.reader([line.lstrip("\ufeff \t")], skipinitialspace=True), [])
    except csv.Error:
        return []
    return [name.strip() for name in row]


def _diagnosed(lack: Lack, line: str, fields: list[str]) -> Lack:
    if _REQUIRED.intersection(fields) == _BOTH_PAGES:
        return Lack.RAW_PAGE
    if "\0" in line and lack is not Lack.RAW_PAGE:
        return Lack.BINARY
    return Lack.NO_HEADER if lack is Lack.EMPTY and line.strip() else lack


def _rows(source: Iterator[str], above: int, notes: _Notes) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(source)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            notes.add(above + reader.line_num, str(error))
            continue
        if row is None:
            return
        if any(row):
            yield above + reader.line_num, row


def _rule(cells: _Cells) -> Rule:
    return Rule(
        name=intern(cells["Rule Name"]),
        type=cells.get("Rule Type", ""),
        description=cells.get("Rule Description", ""),
        speedup_type=cells.get("Estimated Speedup Type", ""),
        speedup=number(cells.get("Estimated Speedup", "")),
    )


def _shape(text: str) -> tuple[int, int, int] | None:
    match = _SHAPE.fullmatch(text.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
