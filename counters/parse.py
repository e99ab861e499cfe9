"""`ncu --import REPORT --page details --csv` -> kernels. Streams; every byte is hostile."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from sys import intern

from counters.columns import coverage_of
from counters.errors import Lack, Scattered
from counters.launches import Summarizer, Summary, is_wanted, summarize
from counters.model import Kernel, KernelReport, Metric, Rule
from counters.names import short_name
from counters.source import END_ROW, Notes, Rows, find_header, is_cut, open_lines
from counters.units import base_unit, is_ambiguous, is_usual, number

_METRIC_FIELDS = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
_RULE_FIELDS = (
    "Rule Name",
    "Rule Type",
    "Rule Description",
    "Estimated Speedup Type",
    "Estimated Speedup",
)
_REQUIRED = frozenset({"ID", "Kernel Name", *_METRIC_FIELDS})
_BOTH_PAGES = frozenset({"ID", "Kernel Name"})
_SHAPE = re.compile(r"\(?\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*\)?")
_ID = re.compile(r"[0-9]{1,12}")
_EXCERPT = 40
_NO_ROW = "not a row of the table"
_CUT = "the file ends within this row"

# Most rows of a capture repeat a value of the same counter; sharing them saves time and memory.
_SHARED = 1_024
_LONGEST_SHARED = 256

_Key = tuple[str, ...]
_Cells = tuple[str, str, str, str]
_NO_KEY: _Key = ()

Wanted = Callable[[str], bool]
"""Whether metrics of a name or label are to be kept."""

_PASSED_OVER = Metric("", "", "", None, "")


class _Layout:
    """Where the fields stand in a row; columns are known by name only."""

    def __init__(self, header: list[str]) -> None:
        at = {name: index for index, name in reversed(list(enumerate(header)))}
        # An id is unique in one report; the rest keeps apart what files put together would merge.
        keys = [at[name] for name in ("ID", "Kernel Name", "Process ID") if name in at]
        metric = [at[name] for name in _METRIC_FIELDS]
        self.header = header
        self.key: Callable[[list[str]], _Key] = itemgetter(*keys)
        self.metric: Callable[[list[str]], _Cells] = itemgetter(*metric)
        self.shortest = 1 + max(keys + metric)
        self.rule = at.get("Rule Name", len(header))
        self.hot = self.key, self.metric, len(header), self.rule
        # A field that the header lacks is read from an empty cell behind the row.
        self.rule_fields = itemgetter(*(at.get(name, len(header)) for name in _RULE_FIELDS))


@dataclass(slots=True)
class _Draft:
    """A kernel whose rows are still coming in."""

    cells: dict[str, str]
    metrics: list[Metric] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    def extend(self, other: "_Draft") -> None:
        self.metrics += other.metrics
        self.rules += other.rules

    def slim(self) -> None:
        """Drop the metrics that were passed over."""
        self.metrics = [metric for metric in self.metrics if metric is not _PASSED_OVER]

    def done(self) -> Kernel:
        name = self.cells["Kernel Name"]
        return Kernel(
            id=int(self.cells["ID"]),
            name=name,
            short_name=short_name(name),
            grid=_shape(self.cells.get("Grid Size", "")),
            block=_shape(self.cells.get("Block Size", "")),
            device=self.cells.get("Device", ""),
            compute_capability=self.cells.get("CC", ""),
            metrics=tuple(self.metrics),
            rules=tuple(self.rules),
        )


class _Decoder:
    """Decodes rows; equal cells of metrics come out as the same value.

    Of a metric that is not wanted only its doubts are noted.
    """

    def __init__(self, notes: Notes, wanted: Wanted | None) -> None:
        self.known: dict[_Cells, Metric] = {}
        self._notes = notes
        self._wanted = wanted

    def metric(self, cells: _Cells, line: int) -> Metric:
        name, text = cells[1], cells[3]
        metric = _PASSED_OVER
        if self._wanted is None or self._wanted(name):
            section, name, base, power = _shared_cells(*cells[:3])
            metric = Metric(section, name, base, number(text, power), text)
        if metric.value is None and not is_usual(text) and self._is_doubtful(name, text, line):
            return metric
        if len(self.known) < _SHARED and sum(map(len, cells)) <= _LONGEST_SHARED:
            self.known[cells] = metric
        return metric

    def rule(self, row: list[str], layout: _Layout, line: int) -> Iterator[Rule]:
        """Yield the rule of a row; ncu writes such a row to the end, so a shorter one is cut."""
        if len(row) < len(layout.header):
            if not is_cut(row[-1]):
                self._notes.add(line, _NO_ROW)
            return
        name, kind, description, speedup_type, text = layout.rule_fields([*row, ""])
        speedup = number(text)
        if speedup is None:
            self._is_doubtful(name, text, line)
        yield Rule(intern(name), kind, description, speedup_type, speedup)

    def _is_doubtful(self, name: str, text: str, line: int) -> bool:
        doubtful = is_ambiguous(text)
        if doubtful:
            what = f"{name[:_EXCERPT]}: {text[:_EXCERPT]} may be read in two ways"
            self._notes.add(line, what)
        return doubtful


@lru_cache(maxsize=_SHARED)
def _shared_cells(section: str, name: str, unit: str) -> tuple[str, str, str, int]:
    return intern(section), intern(name), *base_unit(unit.strip())


def read_report(path: Path) -> KernelReport:
    """Read the export at `path` line by line; a kernel's rows need not stand together.

    Bytes that are not UTF-8 are replaced; the header must stand in the first 64 MiB. Raises
    NoTable where no row names the fields of the details page, and OSError where the file cannot
    be read. Keeps every metric: `read_summary` is for exports of any length.
    """
    with open_lines(path) as lines:
        return parse_lines(lines)


def parse_lines(lines: Iterable[str]) -> KernelReport:
    """Parse the lines (with their ends) of an export; whatever stands above its header is skipped.

    Raises NoTable.
    """
    notes = Notes()
    kernels = tuple(_merged(iter(lines), notes))
    coverage = coverage_of(kernels)
    return KernelReport(kernels, coverage.missing_share, coverage.degraded, notes.done())


def read_summary(path: Path) -> Summary:
    """Read of an export what tables, pages, pictures and comparisons show; as `read_report` does.

    Streams, unless the rows of a kernel stand apart: then the wanted metrics of all launches are
    held at once.
    """
    if path.is_file():
        with suppress(Scattered):
            return _streamed(path)
    notes = Notes()
    with open_lines(path) as lines:
        kernels = list(_merged(lines, notes, is_wanted))
    return summarize(kernels, notes.done())


def _streamed(path: Path) -> Summary:
    notes, summarizer = Notes(), Summarizer()
    for kernel in iter_launches(path, notes, is_wanted):
        summarizer.add(kernel)
    return summarizer.done(notes.done())


def iter_kernels(path: Path, notes: Notes | None = None) -> Iterator[Kernel]:
    """Yield the kernels of an export one by one, in constant memory.

    A kernel ends where another one's row stands, as ncu writes them; one that comes again is
    yielded again with its further rows. What cannot be read goes to `notes`. Raises as
    `read_report` does.
    """
    with open_lines(path) as lines:
        drafts = _drafts(lines, Notes() if notes is None else notes)
        yield from (draft.done() for _, draft in drafts if draft.cells)


def iter_launches(path: Path, notes: Notes, wanted: Wanted | None = None) -> Iterator[Kernel]:
    """Yield each launch of an export once, in some bytes a launch; with its `wanted` metrics only.

    Raises Scattered at a kernel that comes again, and as `read_report` does.
    """
    seen: set[int] = set()
    with open_lines(path) as lines:
        for key, draft in _drafts(lines, notes, wanted):
            draft.slim()
            if draft.cells:
                # Two keys of one hash only cost the other way to read.
                if hash(key) in seen:
                    raise Scattered
                seen.add(hash(key))
                yield draft.done()


def _merged(lines: Iterator[str], notes: Notes, wanted: Wanted | None = None) -> Iterator[Kernel]:
    drafts: dict[_Key, _Draft] = {}
    for key, draft in _drafts(lines, notes, wanted):
        draft.slim()
        if draft.cells and drafts.setdefault(key, draft) is not draft:
            drafts[key].extend(draft)
    return (draft.done() for draft in drafts.values())


def _drafts(
    source: Iterator[str], notes: Notes, wanted: Wanted | None = None
) -> Iterator[tuple[_Key, _Draft]]:
    """Yield what neighbouring rows of one kernel say; a draft without cells is of no kernel.

    The loop runs once a row; what is rare is left to _Turns.
    """
    header, above = find_header(source, _REQUIRED.issubset, _other_page)
    rows, decoder = Rows(source, above, notes), _Decoder(notes, wanted)
    turns = _Turns(_Layout(header), rows, notes)
    key_of, cells_of, width, rule_at = turns.layout.hot
    row, known, key, draft = END_ROW, decoder.known, _NO_KEY, _Draft({})
    for row in rows:
        try:
            row_key, cells = key_of(row), cells_of(row)
        except IndexError:
            turns.note_short(row)
            continue
        if row_key != key or len(row) > width:
            if not turns.begins_kernel(row, row_key):
                key_of, cells_of, width, rule_at = turns.layout.hot
                continue
            yield key, draft
            key, draft = row_key, _Draft(dict(zip(turns.layout.header, row, strict=False)))
        if cells[1]:
            draft.metrics.append(known.get(cells) or decoder.metric(cells, rows.line))
        if len(row) > rule_at and row[rule_at]:
            draft.rules.extend(decoder.rule(row, turns.layout, rows.line))
    turns.take_back(row, key, draft)
    yield key, draft


class _Turns:
    """Rows at which something changes, and rows that are none."""

    def __init__(self, layout: _Layout, rows: Rows, notes: Notes) -> None:
        self.layout = layout
        self._rows = rows
        self._notes = notes

    def begins_kernel(self, row: list[str], key: _Key) -> bool:
        """Whether a row with another key is a kernel's; a further header changes the layout."""
        if _REQUIRED.issubset(row):
            self.layout = _Layout(row)
            return False
        if len(row) > len(self.layout.header) or not _ID.fullmatch(key[0]):
            self._notes.add(self._rows.line, _NO_ROW)
            return False
        return True

    def note_short(self, row: list[str]) -> None:
        """Note a row that ends before its value."""
        if row and row != END_ROW:
            cut = is_cut(row[-1])
            self._notes.add(self._rows.line, _CUT if cut else _NO_ROW)

    def take_back(self, row: list[str], key: _Key, draft: _Draft) -> None:
        """Undo what the last row of the file says where the file ends within it."""
        layout = self.layout
        if not row or not is_cut(row[-1]) or len(row) < layout.shortest or layout.key(row) != key:
            return
        self._notes.add(self._rows.line, _CUT)
        metric = layout.metric(row)
        if metric[1] and any(map(is_cut, metric)):
            draft.metrics.pop()
        if len(row) == len(layout.header) and row[layout.rule]:
            draft.rules.pop()
        if not draft.metrics and not draft.rules:
            draft.cells.clear()


def _other_page(fields: list[str]) -> Lack | None:
    return Lack.RAW_PAGE if _REQUIRED.intersection(fields) == _BOTH_PAGES else None


def _shape(text: str) -> tuple[int, int, int] | None:
    match = _SHAPE.fullmatch(text.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
