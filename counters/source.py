"""An export as lines and rows. Streams; every byte is hostile."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from counters.errors import Lack, NoTable

LONGEST_LINE = 16 * 1024 * 1024

_HEADER_WITHIN = 64 * 1024 * 1024
_NOTES = 20
_LONGEST_NUMBER = 100
_END = "\0end of the export"
# A line end, or a quoted number: whatever else a file ends with may go on.
_COMPLETE = re.compile(r'[\r\n]\Z|(?:\A|,)"-?[0-9][0-9.,]*"\Z')

# One limit for the whole process, so it is only ever raised: names of template-heavy kernels pass
# the default of 128 KiB.
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))


@dataclass(slots=True)
class Notes:
    """What could not be read, in at most 20 lines that begin with the line's number."""

    lines: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, line: int, what: str) -> None:
        """Note what is wrong with one line."""
        if len(self.lines) < _NOTES:
            self.lines.append(f"line {line}: {what}")
        else:
            self.more += 1

    def done(self) -> tuple[str, ...]:
        """Return the notes; a last one counts what found no room."""
        rest = [f"and {self.more} more lines"] if self.more else []
        return (*self.lines, *rest)


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open an export; bytes that are not UTF-8 are replaced. Raises OSError."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield iter(partial(file.readline, LONGEST_LINE), "")


def find_header(
    source: Iterator[str],
    is_header: Callable[[list[str]], bool],
    lack_of: Callable[[list[str]], Lack | None],
) -> tuple[list[str], int]:
    """Return the first row that `is_header`, and its line number; skips what stands above it.

    It must stand in the first 64 MiB. Raises NoTable: `lack_of` may know the fields of a line as
    another page's.
    """
    lack, size = Lack.EMPTY, 0
    for count, line in enumerate(source, start=1):
        size += len(line)
        if size > _HEADER_WITHIN:
            break
        fields = _header_fields(line)
        if is_header(fields):
            return fields, count
        lack = lack_of(fields) or _diagnosed(lack, line)
    raise NoTable(lack)


class Rows:
    """The rows of a CSV below its header, `above` lines from the top.

    A row that the file breaks off in ends with a cell that `is_cut`; the row after a whole last one
    is `END_ROW`.
    """

    def __init__(self, source: Iterable[str], above: int, notes: Notes) -> None:
        self._reader = csv.reader(self._ended(source))
        self._above = above
        self._notes = notes

    def _ended(self, source: Iterable[str]) -> Iterator[str]:
        """Yield the lines and the end, within the last line where that one may be cut."""
        lines = iter(source)
        held = next(lines, None)
        for line in lines:
            yield held or ""
            held = line
        if held is not None and not _COMPLETE.search(held, max(len(held) - _LONGEST_NUMBER, 0)):
            # The space tells a quote alone from the end.
            yield f"{held} {_END}"
            return
        if held is not None:
            yield held
        # The end takes a line that the file does not have.
        self._above -= 1
        yield _END

    @property
    def line(self) -> int:
        """Return the number of the line on which the row read last ends."""
        return self._above + self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        """Yield row by row; what is no CSV is noted and passed over."""
        while True:
            try:
                yield from self._reader
            except csv.Error as error:
                self._notes.add(self.line, str(error))
            else:
                return


END_ROW = [_END]


def is_cut(cell: str) -> bool:
    """Whether the file ended within this cell."""
    return cell.endswith(_END)


def _header_fields(line: str) -> list[str]:
    if "Kernel Name" not in line:
        return []
    try:
        row = next(csv.reader([line.lstrip("\ufeff \t")], skipinitialspace=True), [])
    except csv.Error:
        return []
    return [name.strip() for name in row]


def _diagnosed(lack: Lack, line: str) -> Lack:
    if "\0" in line and lack is not Lack.RAW_PAGE:
        return Lack.BINARY
    return Lack.NO_HEADER if lack is Lack.EMPTY and line.strip() else lack
